/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one client of a session's control socket, behind <bawn/session.h>. It is in the library and
 * in the program bawn, whose verbs see nothing else of it.
 *
 * How it works: what a session says about jobs comes when it comes. Whoever waits for one thing
 * notes all that comes before it, until somebody asks.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/vec.h"
#include "session/kept.h"
#include "session/registry.h"
#include "wire/control.h"
#include "wire/event.h"

#include <bawn/session.h>

/* A job that has ended, and nobody has asked. */
struct client_ended {
    uint32_t job;
    int32_t value; /* a wait status */
    bool is_told;
    struct bawn_error *error; /* why it could not be run; NULL: it was */
};

/* The terminal of a job, until it is given away. */
struct client_shown {
    uint32_t job;
    int fd; /* -EBADF: it was not heard of yet */
    bool is_told;
};

struct bawn_session {
    int sock;
    pid_t launcher;      /* 0: not ours */
    char sid[SID_BYTES]; /* "": not known, for it is ours */
    uint32_t last_job;
    bool awaits_end; /* it will tell of the end of job 0 */
    bool is_attached;
    int64_t heard_ms; /* when its launcher was last known to run; 0: never */
    VEC(struct client_ended) ended;
    VEC(struct client_shown) shown;
    /* Behind the last message that was heard. */
    union {
        struct bawn_error error;
        struct bawn_metrics metrics;
        struct control_host hosts[CONTROL_HOSTS_MAX];
        char event[EVENT_BYTES];
    } behind;
};

/* One message. */
struct client_heard {
    struct control_message message;
    int fd;                      /* that came with it, or -EBADF; the reader's */
    struct bawn_error error;     /* CONTROL_FAILED */
    struct bawn_metrics metrics; /* CONTROL_METRICS */
    int host_count;              /* CONTROL_HOSTS; they are in behind, until more is heard */
    struct event event;          /* CONTROL_ASKED; the same of its texts */
};

/* Takes the socket. launcher: who is to be waited for at the end, or 0. */
int client_new(int *sock, pid_t launcher, const char *sid, struct bawn_session **ret_session,
               struct bawn_error *err);

/* Sends a message; bytes and fds may be NULL. */
int client_tell(const struct bawn_session *session, struct control_message *message,
                const char *bytes, size_t size, const int *fds, struct bawn_error *err);
/* Sends a question, and waits for an answer of the kind wanted. */
int client_ask(struct bawn_session *session, struct control_message *message,
               enum control_kind wanted, struct client_heard *ret_heard, struct bawn_error *err);
/* Waits for the next message. What makes no sense is an error. */
int client_hear(struct bawn_session *session, struct client_heard *ret_heard,
                struct bawn_error *err);

/* Who is meant: one that runs, with a connection to it; or else one that is kept. kept is opened
 * where there is such a place. */
int client_find(const char *word, struct bawn_session **ret_session, struct kept_place *kept,
                char sid[SID_BYTES], struct bawn_error *err);

/* What it uses, and in message.flags its state. */
int client_measure(struct bawn_session *session, struct client_heard *ret_heard,
                   struct bawn_error *err);

/* The session ended without a word: -EPIPE. What it says is no answer: -EPROTO. */
int client_refuse_gone(const struct bawn_session *session, struct bawn_error *err);
int client_refuse_answer(const struct bawn_session *session, struct bawn_error *err);

/* The streams of a command, with none for those that are not there. */
int client_fill_streams(const struct bawn_command *command, int none, int fds[CONTROL_FDS],
                        struct bawn_error *err);

#endif
