/* SPDX-License-Identifier: Apache-2.0 */
/* Finding out what this host really grants: every mechanism is tried, none is guessed. */
#ifndef KERNEL_PROBE_H
#define KERNEL_PROBE_H

#include "kernel/facts.h"
#include "kernel/probe_child.h"

#include <bawn/error.h>

/*
 * How it works: each attempt runs in a child process of its own, which may give
 * up rights, enter namespaces and mount things, reports {errnum, step} through a
 * pipe, and is gone afterwards. The child calls only what is safe after a fork of
 * a program with threads, is killed at its time limit, and sends no SIGCHLD: the
 * handlers of the calling program see nothing of it.
 *
 * Fails only when no child can be started; a mechanism that is missing is a fact.
 */

/* The kernel's features, and who holds limits. No program is run; which backends work is found out
 * from them (backend/backend.h). */
int probe_kernel(struct host_facts *ret_facts, struct bawn_error *err);

/* The same in two steps: in between, a child tries while its parent does something else. All others
 * are that child's: the less memory the parent has when it begins, the less there is to copy. After
 * a begin that succeeded there must be an end. */
struct probing {
    struct probe_child child;
    struct probe_env env;
};
int probe_begin(struct probing *probing, struct bawn_error *err);
int probe_end(struct probing *probing, struct host_facts *ret_facts, struct bawn_error *err);

#endif
