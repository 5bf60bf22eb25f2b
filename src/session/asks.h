/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session's processes ask, and what people answer (wire/ask.h).
 *
 * How it works: a question waits until the first answer comes, from the terminal or
 * from a client that said CONTROL_ASKS; for as long as the policy says; while somebody
 * waits for it. The same question of several processes of one program is one. An answer for the
 * session is remembered here and by the asker, and one for later sessions is handed to 'bawn policy
 * save'. Where nobody can be asked the answer is no, at once.
 */
#ifndef SESSION_ASKS_H
#define SESSION_ASKS_H

#include "base/answers.h"
#include "base/loop.h"
#include "session/aide.h"
#include "wire/ask.h"
#include "wire/event.h"

#include <bawn/save.h>

struct session;
struct client;

enum {
    ASKS_WAITING = 64,     /* different questions that wait; further ones are answered no */
    ASKS_ASKERS = 64,      /* of the same question; the same of further ones */
    ASKS_SAVERS = 4,       /* rules that are being saved */
    ASKS_UNASKED = 64,     /* answers to nothing that each have a record */
    ASKS_ORPHAN_MS = 1000, /* a question stays: a call that a signal interrupts is made again */
};

struct asker {
    enum event_who who;
    uint64_t number;
};

/* A question that waits. */
struct ask {
    uint32_t id; /* 0: a free slot */
    struct asker askers[ASKS_ASKERS];
    unsigned asker_count;
    char *bytes; /* the event, packed; owned */
    size_t size;
    struct event event; /* its texts are in bytes */
    int64_t until_ms;
    int64_t orphan_ms; /* since when nobody waits; 0: somebody does */
};

struct saver {
    struct aide aide; /* of pid 0: free */
    struct session *session;
    int said_fd; /* what bawn-policy said */
};

struct asks {
    struct ask items[ASKS_WAITING];
    uint32_t last;
    struct answers kept; /* for the session */
    struct saver savers[ASKS_SAVERS];
    struct loop_timer timer;
    uint32_t unasked;   /* answers to what does not wait */
    int64_t expects_ms; /* until when somebody may still come; 0: nobody is expected */
    /* Of the terminal: some question came or went. NULL: nobody can be asked there. */
    void (*changed)(struct session *session);
    /* Whether somebody is there now; NULL: always. */
    bool (*is_there)(const struct session *session);
};

/* Makes room for them, if there is none yet. */
int asks_open(struct session *session);

/* EVENT_ASKED and EVENT_GIVEN_UP. */
void asks_take(struct session *session, const struct event *event);
void asks_give_up(struct session *session, const struct event *event);

/* The one that waits longest, or NULL; and that of a number. */
const struct ask *asks_first(const struct session *session);
const struct ask *asks_find(const struct session *session, uint32_t id);

struct ask_answer {
    bool is_allowed;
    enum ask_scope scope;
    int saved; /* one more than enum bawn_scope; 0: for this session alone */
    enum ask_end by;
    int pid; /* of the client; 0: none */
};
/* -ENOENT: it does not wait any more. */
int asks_answer(struct session *session, uint32_t id, const struct ask_answer *answer);

/* All that wait, to a client that wants to be asked; and when one is gone. */
void asks_tell(struct client *client);
void asks_client_gone(struct session *session);
/* The process is gone: nobody waits for what it asked. */
void asks_asker_gone(struct session *session, enum event_who who);
void asks_done(struct session *session);

/* session/asks_expect.c: nobody can be asked yet, but somebody answers for all sessions. */
bool asks_expect(struct session *session);

/* session/asks_save.c: the rule that would allow it, or deny it, for later sessions. Failures are
 * said. */
void asks_save(struct session *session, const struct ask *ask, const struct ask_answer *answer);
void asks_end_savers(struct session *session);

#endif
