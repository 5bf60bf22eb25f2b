/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup of a session's own: made, limited, measured, killed and removed. v2 and v1. */
#ifndef KERNEL_CGROUP_H
#define KERNEL_CGROUP_H

#include "kernel/facts.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUP_PATHS = 4, CGROUP_PATH_BYTES = 512 };

/* Directories are kept as descriptors; their paths serve removal by the keeper. */
struct cgroup {
    enum cgroup_kind kind; /* CGROUP_NONE: there is none */
    /* v2: [0]; v1: memory, pids, cpu, each present or -EBADF. */
    int fds[CGROUP_PATHS];
    char paths[CGROUP_PATHS][CGROUP_PATH_BYTES];
};

struct cgroup_limits {
    uint64_t pids, memory_high, memory, cpu_percent, io_weight; /* 0: none */
};

struct cgroup_metrics {
    uint64_t pids_current, pids_peak;
    uint64_t memory_current, memory_peak, memory_limit;
    uint64_t cpu_usec, throttled_usec, throttled_count;
    uint64_t oom_kills, pids_refused; /* times that a limit was hit */
};

/*
 * Makes a group named NAME below the nearest group, from our own upwards, in
 * which a new child gets memory and pids (the same rule as the probe), and sets
 * the limits. For CGROUP_V2_SYSTEMD asks the user's manager for a delegated scope.
 */
int cgroup_new(struct cgroup *group, enum cgroup_kind kind, const char *name,
               const struct cgroup_limits *limits, struct bawn_error *err);
/* The descriptor for CLONE_INTO_CGROUP, or -EBADF: then cgroup_join in the child. */
int cgroup_clone_fd(const struct cgroup *group);
/* Moves the calling process in (v1, or v2 without CLONE_INTO_CGROUP). */
int cgroup_join(const struct cgroup *group, struct bawn_error *err);
int cgroup_measure(const struct cgroup *group, struct cgroup_metrics *ret_metrics,
                   struct bawn_error *err);
/* Kills what is inside, and removes the directories. Bounded in time; may be called twice. */
int cgroup_remove(struct cgroup *group, struct bawn_error *err);
void cgroup_close(struct cgroup *group);
/* Removes groups of this user's that no living session owns: NAME is "bawn-PID-...". */
void cgroup_sweep(enum cgroup_kind kind);

#endif
