/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef APPROVALS_OWN_H
#define APPROVALS_OWN_H

#include "approvals/approvals.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <bawn/approve.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* With these the loop has room for all of them (LOOP_SOURCES). */
enum {
    SERVED_SESSIONS = 36, /* of the sessions that run; further ones wait for room */
    SERVED_CLIENTS = 16,
    SERVED_SAVES = 4,
    SERVED_QUESTIONS = 64,    /* of one session: more do not wait there */
    SERVED_SID_BYTES = 16,    /* a session's name */
    SERVED_ID_BYTES = 32,     /* SESSION:NUMBER */
    SERVED_TOLD = 1024,       /* questions that one client knows of */
    SERVED_LINE = 64 * 1024,  /* the longest that a client may say */
    SERVED_READ = 16 * 1024,  /* of one client, before others have their turn */
    SERVED_ENOUGH = 64 * 1024 /* who has so much to read is told no more, and not heard */
};

/* A question that waits for somebody here. */
struct question {
    uint64_t serial; /* in the order in which they came, from 1 */
    unsigned id;
    bool is_net;
    bool has_grant;
    bool has_tree;
    bool is_stale; /* the connection broke: it has not been told anew */
    char *line;    /* the event; owned */
    size_t length;
};

struct approvals;

/* A session that is connected to. */
struct served {
    struct approvals *approvals;
    uint32_t generation; /* of this use of the slot; 0: a free one */
    char sid[SERVED_SID_BYTES];
    struct bawn_approver *approver;
    struct loop_source source;
    bool is_fresh; /* nothing was heard since it was connected to */
    char *line;    /* event.session; owned */
    char *workspace;
    VEC(struct question) questions;
};

/* What a client was told and has not yet heard the end of. */
struct told {
    uint64_t serial;
    char id[SERVED_ID_BYTES];
    bool is_settled;
    bool is_allowed;
    uint32_t scope; /* enum bawn_answer_scope */
    const char *by;
};

struct peer {
    struct approvals *approvals;
    uint64_t number; /* of all that ever came; 0: a free slot */
    int in_fd, out_fd;
    struct loop_source in, out;
    bool is_greeted;
    bool is_ending; /* closed when all is read */
    int64_t greets_until_ms;
    char *line; /* what of a line has come */
    size_t length;
    struct strbuf said; /* what waits to be read, from said_at on */
    size_t said_at;
    uint64_t serial; /* all questions up to this one were told, or are over */
    VEC(struct told) told;
    struct {
        uint32_t generation; /* 0: none */
        char sid[SERVED_SID_BYTES];
    } known[SERVED_SESSIONS];
};

/* A rule that is being saved. */
struct save {
    struct approvals *approvals;
    pid_t pid; /* 0: a free slot */
    int fd;    /* what bawn-policy prints */
    struct loop_source source;
    struct strbuf printed;
    uint64_t peer; /* who wants it */
    char *to;      /* its name for the command, as JSON; owned */
};

struct rules;

/* The socket, and the directory of sessions. */
struct place {
    int sessions_fd; /* O_PATH */
    char sessions[1024];
    int dir_fd; /* of the socket */
    char name[108];
    char *path; /* for people; owned */
    struct stat status;
    int listen_fd;
    int mark_fd; /* while questions of all sessions are answered here */
};

struct approvals {
    const struct approvals_request *request;
    struct loop loop;
    struct place place;
    struct stat own_ns;
    char sid[SERVED_SID_BYTES]; /* "": all */
    struct loop_source listen_source, signal_source, watch_source;
    int signal_fd, watch_fd;
    struct loop_timer tick;
    bool attends;
    bool misses; /* a session could not be connected to */
    bool said_full;
    uint32_t last_generation;
    uint64_t last_serial, last_peer;
    struct served sessions[SERVED_SESSIONS];
    struct peer peers[SERVED_CLIENTS];
    struct save saves[SERVED_SAVES];
    struct rules *rules;
    int failed; /* a negative errno: what was to be written could not be */
};

/* serve.c: says a line on standard output: text, or a JSON object. */
void approvals_say(struct approvals *approvals, struct strbuf *line);
/* Something that is no answer, on standard error. */
void approvals_complain(const struct approvals *approvals, const struct bawn_error *error);
/* Whether somebody can answer has changed, perhaps. */
void approvals_attend(struct approvals *approvals);

/* place.c */
int place_open(struct place *place, struct bawn_error *err);
int place_listen(struct place *place, const char *path, struct bawn_error *err);
/* That all sessions are answered here, for those that have nobody else: wire/ask.h. */
int place_mark(struct place *place, struct bawn_error *err);
void place_unmark(struct place *place);
void place_done(struct place *place);

/* sessions.c */
void sessions_look(struct approvals *approvals);
void sessions_leave(struct approvals *approvals);
struct served *sessions_find(struct approvals *approvals, const char *sid);
/* By SESSION:NUMBER; NULL: it does not wait (any more). */
struct question *sessions_question(struct approvals *approvals, const char *id,
                                   struct served **ret_session);

/* peers.c */
int peers_add(struct approvals *approvals, int in_fd, int out_fd, struct bawn_error *err);
void peers_drop(struct peer *peer);
void peers_done(struct approvals *approvals);
struct peer *peers_find(struct approvals *approvals, uint64_t number);
bool peers_any(const struct approvals *approvals);
/* There may be something to tell. */
void peers_tell(struct approvals *approvals);
void peers_settled(struct approvals *approvals, const struct question *question,
                   const struct told *end);
/* Those that do not say hello in time go. */
void peers_tick(struct approvals *approvals);
/* One line is said to it. */
void peer_say(struct peer *peer, const struct strbuf *line);

/* command.c: one line of a client's. */
void command_take(struct peer *peer, const char *line, size_t length);
/* {"type": "reply", "to": ..., and what is still to come. */
void command_reply(struct strbuf *out, const char *to);
void command_fail(struct peer *peer, const char *to, const struct bawn_error *error);

/* save.c */
struct save_request {
    const char *scope, *word, *text;
    const char *workspace; /* NULL: where this process is */
};
int save_start(struct peer *peer, const char *to, const struct save_request *request,
               struct bawn_error *err);
void save_done(struct approvals *approvals);

/* tell.c: events as JSON, each with its end of line. */
bool tell_is_net(const struct bawn_notice *notice);
void tell_question(struct strbuf *out, const char *id, const struct bawn_notice *notice);
void tell_settled(struct strbuf *out, const struct told *told);
void tell_session(struct strbuf *out, const char *sid, const struct bawn_status *status);

/* answer.c: what the rules say. True: it is answered. */
bool answer_by_rules(struct approvals *approvals, struct served *session, const char *id,
                     const struct bawn_notice *notice);
int answer_load(struct approvals *approvals, struct bawn_error *err);
void answer_done(struct approvals *approvals);

#endif
