/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which core callers and the supervisor run.
 *
 * How it works: to wake somebody on another core that is idle takes longer than all that a call
 * needs. So a caller that makes one call after another takes turns with the supervisor on one
 * core. KERNEL(6.6): the listener does that for questions and answers, but not while the caller
 * takes a descriptor. For that moment the caller is bound to the core. So is the supervisor, until
 * no call comes for a while: each binding costs as much as a small call.
 *
 * For all other callers the kernel decides. Several at once would be brought to one core and kept
 * there. And who calls now and then, as each compiler of a build does, would be brought to where
 * the supervisor last slept, to wait for whoever works there. KERNEL(6.12): a task that sleeps
 * while others wait stays on its core (delayed dequeue), wherever it is woken.
 */
#ifndef SUPERVISE_CORE_H
#define SUPERVISE_CORE_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

enum { CORE_CALLS = 16, CORE_BOUND_MS = 1, CORE_BOUND_CALLS = 64 };

struct core {
    int notify_fd;
    bool is_shared;         /* one caller alone: who is woken runs where the waker does */
    pid_t last[CORE_CALLS]; /* who made the last calls */
    unsigned next;
    cpu_set_t own; /* where the supervisor may run */
    bool can_bind;
    unsigned bound; /* for so many calls more it runs on this core alone; 0: anywhere */
};

void core_init(struct core *core, int notify_fd);
/* A thread's call has come. */
void core_note(struct core *core, pid_t tid);

/* How long to wait for the next call before core_rest is called; -1: for ever. */
int core_patience_ms(const struct core *core);
void core_rest(struct core *core);

/* A caller that is bound to this core for a moment. */
struct core_binding {
    bool is_bound;
    pid_t tid;
    cpu_set_t before;
};
void core_bind(struct core *core, pid_t tid, struct core_binding *ret_binding);
void core_free(const struct core_binding *binding);

#endif
