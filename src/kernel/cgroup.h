/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup of a session's own: made, limited, measured, killed and removed. v2 and v1. */
#ifndef KERNEL_CGROUP_H
#define KERNEL_CGROUP_H

#include "kernel/facts.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUP_PATHS = 4, CGROUP_PATH_BYTES = 512, CGROUP_NAME_BYTES = 48 };

/* Limits as bits, in the order of struct cgroup_limits and of the settings. */
enum cgroup_limit {
    CGROUP_PIDS = 1,
    CGROUP_MEMORY_HIGH = 2,
    CGROUP_MEMORY = 4,
    CGROUP_CPU = 8,
    CGROUP_IO_WEIGHT = 16,
    CGROUP_IO_READ_BYTES = 32,
    CGROUP_IO_WRITE_BYTES = 64,
    CGROUP_IO_READ_OPS = 128,
    CGROUP_IO_WRITE_OPS = 256,
};

/* Directories are kept as descriptors; their paths serve removal by the keeper. */
struct cgroup {
    enum cgroup_kind kind; /* CGROUP_NONE: there is none */
    unsigned held;         /* enum cgroup_limit: those that were asked for and are in force */
    /* v2: [0]; v1: memory, pids, cpu, blkio, each present or -EBADF. */
    int fds[CGROUP_PATHS];
    char paths[CGROUP_PATHS][CGROUP_PATH_BYTES];
    int inside; /* v2: the group below that was handed in, or -EBADF; see cgroup_delegate */
};

struct cgroup_limits {
    uint64_t pids, memory_high, memory, cpu_percent, io_weight; /* 0: none */
    /* Of the disk, per second; none where no disk was found. */
    uint64_t io_read_bytes, io_write_bytes, io_read_ops, io_write_ops;
    struct disk disk;
};

struct cgroup_metrics {
    uint64_t pids_current, pids_peak;
    uint64_t memory_current, memory_peak, memory_limit; /* limit 0: none */
    uint64_t cpu_usec, throttled_usec, throttled_count;
    uint64_t oom_kills, pids_refused; /* times that a limit was hit */
};

/* "bawn-PID-START" of the calling process: START tells it from a later one with the same pid. */
int cgroup_name(char name[CGROUP_NAME_BYTES], struct bawn_error *err);

/*
 * Makes a group named NAME below the nearest group, from our own upwards, in
 * which a new child gets memory and pids (the same rule as the probe), and sets
 * the limits. For CGROUP_V2_SYSTEMD asks the user's manager for a delegated scope,
 * and moves the calling process into it. No other group that exists is changed.
 * Fails when memory or pids are asked for and cannot be had; the other limits are
 * in held, or are not in force: v1 slows nobody down at memory_high and has no
 * io_weight, and slows down direct writes only, and v2 has what the group above hands out.
 * group is filled either way: cgroup_remove may always be called.
 */
int cgroup_new(struct cgroup *group, enum cgroup_kind kind, const char *name,
               const struct cgroup_limits *limits, struct bawn_error *err);
/*
 * Makes a group in a v2 group for a contained program to arrange as it likes: to
 * limit what is in it, and make groups in it. Its limits are below ours, which are not to be
 * seen where it is the root. uid and gid own it. Processes are born in it, and have
 * to leave it for a group inside, with cgroup_settle. Nothing where the kind is another.
 */
int cgroup_delegate(struct cgroup *group, uid_t uid, gid_t gid, struct bawn_error *err);
/* The calling process, in such a group that is mounted at path, goes into one below, and the
 * controllers are there for others. Safe between clone and exec. */
int cgroup_settle(const char *path, struct bawn_error *err);
/* The descriptor for CLONE_INTO_CGROUP, or -EBADF: then there are doors. */
int cgroup_clone_fd(const struct cgroup *group);
/*
 * Opens what a process of one thread needs to come in by itself, with
 * cgroup_enter on each; returns how many. v1, or v2 without CLONE_INTO_CGROUP.
 * KERNEL: whoever moves another one waits for an RCU grace period, up to 11 ms;
 * a thread that moves itself in v1 does not: 20 us.
 */
int cgroup_open_doors(const struct cgroup *group, int doors[CGROUP_PATHS], struct bawn_error *err);
/* Safe between clone and exec. */
int cgroup_enter(int door, struct bawn_error *err);
/* What the kernel does not tell is 0: peaks before 5.19 and 6.1x, CPU time in v1. */
int cgroup_measure(const struct cgroup *group, struct cgroup_metrics *ret_metrics,
                   struct bawn_error *err);
/* Kills what is inside, and removes the directories with those that were made in them. Bounded
 * in time; may be called twice. */
int cgroup_remove(struct cgroup *group, struct bawn_error *err);
void cgroup_close(struct cgroup *group);
/* Removes groups of this user's that no living session owns: their name is cgroup_name of a
 * process that is gone, and nobody is in them. */
void cgroup_sweep(enum cgroup_kind kind);

#endif
