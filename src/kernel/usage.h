/* SPDX-License-Identifier: Apache-2.0 */
/* What a tree of processes uses, read from /proc: for hosts without a control group of our own. */
#ifndef KERNEL_USAGE_H
#define KERNEL_USAGE_H

#include <bawn/error.h>
#include <stdint.h>
#include <sys/types.h>

struct usage {
    uint64_t processes, threads;
    /* Memory that is theirs: anonymous, shared and swapped out. Files that they map are not
     * counted; memory that two of them share is counted twice. */
    uint64_t memory_bytes;
    /* Of those that live, and of their children that were waited for. 0 without USAGE_CPU. */
    uint64_t cpu_usec;
};

enum usage_what { USAGE_MEMORY = 0, USAGE_CPU = 1 };

/*
 * The process and all below it, as they are one after another: who comes or goes
 * meanwhile may be missed. For pid 1 of a pid namespace that is the whole namespace.
 * The caller is its parent or holds a pidfd of it, so that the pid is not another's.
 * -ESRCH: it is gone.
 */
int usage_measure(pid_t pid, enum usage_what what, struct usage *ret_usage, struct bawn_error *err);

/* Calls found with the directory in /proc of each of them, of some more than once. */
int usage_each(pid_t pid, void (*found)(void *context, int dir_fd), void *context);

#endif
