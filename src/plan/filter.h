/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's syscall rules as a seccomp program. */
#ifndef PLAN_FILTER_H
#define PLAN_FILTER_H

#include "plan/plan.h"

#include <linux/filter.h>

enum filter_arch {
    FILTER_X86_64,
    FILTER_AARCH64,
    FILTER_ARCH_COUNT,
};

/*
 * The program for the machine this is built for; *ret_program is the caller's
 * to free. Nothing (NULL and 0) when the plan has no rules, which is so where
 * the host has no seccomp.
 */
int filter_compile(const struct plan *plan, struct sock_filter **ret_program, size_t *ret_count,
                   struct bawn_error *err);

/* The same for any machine that is known. */
int filter_compile_for(const struct plan *plan, enum filter_arch arch,
                       struct sock_filter **ret_program, size_t *ret_count, struct bawn_error *err);

/* The number of a call, -ENOENT where the machine has no such call, -EINVAL when nobody knows the
 * name. */
int filter_number(enum filter_arch arch, const char *name);

#endif
