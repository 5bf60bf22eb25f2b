/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a rule asks about, and that wait for the answer (wire/ask.h).
 *
 * How it works: where a call is judged and the rule says ask, the question is told
 * and the call is parked: its notification is kept and nothing else. When the
 * answer comes the whole call is made from its beginning, with what the caller's memory
 * and the tree are by then; only if it comes to the same path again does the answer hold.
 * So nothing that was found before the wait is trusted after it. An answer for the session is
 * remembered. A caller that is killed or interrupted is let go, and its question taken back.
 */
#ifndef SUPERVISE_QUESTIONS_H
#define SUPERVISE_QUESTIONS_H

#include "base/answers.h"
#include "policy/decide.h"
#include "wire/ask.h"
#include "wire/event.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct call;
struct supervisor_options;

enum { QUESTIONS_MAX = 256 /* calls that wait; a further one is answered no */ };

/* What is asked about: what the rules know, and running, which is as reading to them. */
enum question_op { QUESTION_READ = PATH_READ, QUESTION_WRITE = PATH_WRITE, QUESTION_EXEC };

struct question {
    uint64_t number;             /* ours */
    struct seccomp_notif *notif; /* of the call; owned */
    enum question_op op;
    char *path; /* inside; owned */
    bool is_answered, is_allowed;
    int status_fd; /* the caller's, in /proc; owned */
    unsigned seen; /* of wait_interruption */
};

struct questions {
    int notify_fd, sock; /* borrowed; sock -EBADF: nobody can be asked */
    bool (*ask)(void *context, const struct event *event); /* false: nobody heard it */
    void (*report)(void *context, const struct event *event);
    void *context;
    struct question *items; /* QUESTIONS_MAX; NULL: none was put yet */
    struct answers kept;    /* for the session */
    size_t count;
    uint64_t last;
    int64_t ticked_ms;
};

void questions_init(struct questions *questions, const struct supervisor_options *options);
void questions_done(struct questions *questions);

/*
 * The rules say ask about this path. True: the answer was yes. False: it was no, or there is none
 * yet; then questions_holds tells that the call is not to be answered now.
 */
bool questions_put(const struct call *call, const char *path, enum question_op op,
                   const struct path_decision *decision);
bool questions_holds(const struct questions *questions, uint64_t call);
/* The call is answered: what was answered once is forgotten. */
void questions_forget(struct questions *questions, uint64_t call);

/* What to poll for, one at most, and for how long. */
size_t questions_await(const struct questions *questions, struct pollfd *ret_polled,
                       int *ret_timeout_ms);
/* Takes the answers that came, and lets go who must not wait. */
void questions_hear(struct questions *questions);
/* A call whose answer came, to be made anew; NULL: none. */
const struct seccomp_notif *questions_next(const struct questions *questions);

#endif
