/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of the session's own, beside the sandbox: how it begins, how its end
 * is known, and how it is ended.
 *
 * How it works: it is a copy of the launcher that keeps the descriptors it is
 * given, at the numbers 0, 1... in their order, behind them its end of the channel
 * for events, and nothing else: no stream, no end of a pipe that somebody waits
 * for. It leaves the terminal and its signals, and works. What its work fails with
 * is the last event that it tells. A program of its own is one whose work is an
 * exec: the descriptors stay.
 */
#ifndef SESSION_AIDE_H
#define SESSION_AIDE_H

#include "base/loop.h"
#include "kernel/cgroup.h"
#include "wire/event.h"

#include <sys/types.h>

enum { AIDE_FDS = 40 };

struct aide {
    pid_t pid; /* 0: there is none */
    int pidfd;
    struct loop *loop; /* that watches for its end, or NULL */
    struct loop_source source;
};

struct aide_work {
    enum event_who who;
    int fds[AIDE_FDS];
    unsigned count;
    const struct cgroup *group; /* where it lives; NULL: where we do */
    bool dies_with_us;          /* else it ends by itself, maybe after us */
    /* In the process. A negative errno: err says why. */
    int (*run)(void *context, struct event_sender *events, struct bawn_error *err);
    void *context;
};

/* channel: where it tells its events, or -EBADF. */
int aide_start(struct aide *aide, const struct aide_work *work, int channel,
               struct bawn_error *err);
/* Calls ended when it has; that reaps it. */
int aide_watch(struct aide *aide, struct loop *loop, loop_ready ended, void *context,
               struct bawn_error *err);
/* True: it has ended, with this wait status (may be NULL), or there was none. */
bool aide_reap(struct aide *aide, int *ret_status);
/* Waits for its end, and kills it when it takes longer; patience_ms -1: for as long as it takes. */
void aide_end(struct aide *aide, int patience_ms);

#endif
