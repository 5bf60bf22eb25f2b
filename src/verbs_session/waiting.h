/* SPDX-License-Identifier: Apache-2.0 */
/* What waits for an answer in the sessions of this user, as it comes and goes. */
#ifndef VERBS_SESSION_WAITING_H
#define VERBS_SESSION_WAITING_H

#include "base/loop.h"
#include "base/places.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <bawn/approve.h>

enum { WAITING_SESSIONS = 64 };

struct waiting;

/* A session that asks us. */
struct waiting_session {
    struct waiting *waiting;
    struct bawn_approver *approver; /* NULL: a free slot */
    struct loop_source source;
    bool is_all; /* it has told what waited before us */
};

/* A question, in memory of our own. */
struct waiting_question {
    struct bawn_approver *approver;
    struct bawn_notice notice;
    char id[32]; /* SESSION:NUMBER */
    int64_t until_ms;
};

struct waiting {
    struct loop *loop; /* NULL: none; waiting_read is called */
    bool attends;
    int place_fd, mark_fd; /* then */
    char place[PLACES_SESSIONS_BYTES];
    struct waiting_session sessions[WAITING_SESSIONS];
    VEC(struct waiting_question *) questions; /* the oldest first */
    /* One came; or went, and is freed afterwards: settled says how, NULL: with its session. */
    void (*came)(void *context, const struct waiting_question *question);
    void (*went)(void *context, const struct waiting_question *question,
                 const struct bawn_notice *settled);
    void *context;
};

/* Connects to one; NULL: the only one. */
int waiting_open(struct waiting *waiting, const char *sid, struct bawn_error *err);
/* For all sessions that there are or will be: until waiting_done a question of a new one waits for
 * us, for a moment. */
int waiting_attend(struct waiting *waiting, struct bawn_error *err);
/* Connects to those that are new. One that does not let us is left out. */
int waiting_look(struct waiting *waiting, struct bawn_error *err);
unsigned waiting_sessions(const struct waiting *waiting);
/* Until each has told what waited before us; so long at most. */
void waiting_settle(struct waiting *waiting, int timeout_ms);
/* What came by now. */
void waiting_read(struct waiting *waiting);
void waiting_done(struct waiting *waiting);

/* As question_show wants it: with the time that is left. */
const struct bawn_notice *waiting_notice(struct waiting_question *question);

/* "allowed once", "denied: nobody answered in time" */
void waiting_add_end(struct strbuf *out, const struct bawn_notice *settled);

#endif
