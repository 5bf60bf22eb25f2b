/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt in a child process that is bounded in time and always reaped. */
#ifndef KERNEL_PROBE_CHILD_H
#define KERNEL_PROBE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a child found. Far below PIPE_BUF: it goes through a pipe whole. */
struct probe_result {
    int errnum;    /* 0: it works */
    int value;     /* what was measured, e.g. the Landlock ABI */
    char step[32]; /* the call that failed */
};

struct probe_together;

/* What a child needs to know, made ready beforehand: it must not format or allocate. */
struct probe_env {
    char uid_map[32]; /* "UID UID 1\n" */
    char gid_map[32];
    const char *group[2];            /* cgroup attempts: the directories to make */
    const void *extra;               /* whatever else one attempt takes */
    struct probe_together *together; /* of try_together, shared with it */
};

struct probe_child {
    pid_t pid;   /* negative: there is none, or it was reaped */
    int pipe_fd; /* the result comes out here */
    int heard;   /* 1: a result; 0: it ended without one; -1: its time was up */
};

/*
 * The attempt itself. Runs with all signals blocked and only async-signal-safe
 * calls; the return value is for its own control flow, the result counts.
 */
#define PROBE_WORK(name) bool name(struct probe_result *result, const struct probe_env *env)

/* Records errno and the step, unless something was recorded already. Returns false. */
bool probe_fail(struct probe_result *result, const char *step);

/* The same with the errno given. */
bool probe_fail_with(struct probe_result *result, int errnum, const char *step);

/* These are safe inside a child too: attempts use them for children of their own.
 * start returns 0 or a negative errno; finish kills, reaps and always fills the result. */
int probe_child_start(struct probe_child *child, PROBE_WORK((*work)), const struct probe_env *env);
void probe_child_finish(struct probe_child *child, int timeout_ms, struct probe_result *ret_result);
/* Finish in two steps, for it takes the kernel a while to take namespaces down: hear waits for the
 * result, end reaps the child, and says why there is none. */
void probe_child_hear(struct probe_child *child, int timeout_ms, struct probe_result *ret_result);
void probe_child_end(struct probe_child *child, struct probe_result *ret_result);
int probe_child_run(PROBE_WORK((*work)), const struct probe_env *env, int timeout_ms,
                    struct probe_result *ret_result);

#endif
