/* SPDX-License-Identifier: Apache-2.0 */
/* Which limit a session ran into, and the words for it. */
#ifndef SESSION_BREACH_H
#define SESSION_BREACH_H

#include "kernel/cgroup.h"
#include "wire/image.h"

enum breach {
    BREACH_NONE,
    BREACH_MEMORY, /* something was killed for it */
    BREACH_PIDS,   /* a fork was refused */
    BREACH_CPU,    /* it had to wait: no harm but time */
};

/* The gravest that happened between the two; before may be NULL: from the beginning. */
enum breach breach_find(const struct cgroup_metrics *before, const struct cgroup_metrics *after);

/*
 * The same where no control group counts: memory that was measured above its limit, or as many
 * threads as there may be. Refused forks of RLIMIT_NPROC are counted nowhere: who asked for one
 * thread too many and ended at once, with all that it had started, is not seen.
 */
enum breach breach_find_measured(uint64_t memory_bytes, uint64_t threads,
                                 const struct cgroup_limits *limits);

/* The private places were full. */
void breach_explain_full(const struct image *image, struct bawn_error *err);

/* What a session changed, and takes more than it may. */
struct breach_layers {
    const char *session;
    uint64_t limit, held;
    bool is_share; /* the limit is a share of the disk */
    bool is_deep;  /* it holds more where nobody can look */
};
void breach_explain_layers(const struct breach_layers *layers, struct bawn_error *err);
/* The same when it is to go on all the same. Always -EDQUOT. */
int breach_refuse_layers(const struct breach_layers *layers, struct bawn_error *err);

/* Fills err with the sentence and, as its hint, the way to raise the limit. limits has the one
 * that was hit. Not for BREACH_NONE. */
void breach_explain(enum breach breach, const struct cgroup_limits *limits, struct bawn_error *err);

#endif
