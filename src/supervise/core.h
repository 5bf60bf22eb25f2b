/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which core callers and the supervisor run.
 *
 * How it works: to wake somebody on another core that is idle takes longer than all that a call
 * needs. So one caller and the supervisor take turns on the caller's core. KERNEL(6.6): the
 * listener does that for questions and answers, but not while the caller takes a descriptor;
 * for that moment both are bound to the core. With several callers at once it would bring all
 * of them to one core and keep them there: then the kernel decides.
 */
#ifndef SUPERVISE_CORE_H
#define SUPERVISE_CORE_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

enum { CORE_CALLS = 16 };

struct core {
    int notify_fd;
    bool is_shared;         /* one caller at a time: who is woken runs where the waker does */
    pid_t last[CORE_CALLS]; /* who made the last calls */
    unsigned next;
    cpu_set_t own; /* where the supervisor may run */
    bool can_bind;
};

void core_init(struct core *core, int notify_fd);
/* A thread's call has come. */
void core_note(struct core *core, pid_t tid);

/* A caller that is bound to this core for a moment. */
struct core_binding {
    bool is_bound;
    pid_t tid;
    cpu_set_t before;
};
void core_bind(const struct core *core, pid_t tid, struct core_binding *ret_binding);
/* First the caller, which is answered next; then the supervisor. */
void core_free_caller(const struct core_binding *binding);
void core_free_self(const struct core *core, const struct core_binding *binding);

#endif
