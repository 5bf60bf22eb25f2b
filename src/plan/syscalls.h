/* SPDX-License-Identifier: Apache-2.0 */
/* The syscalls that are refused, as a table that the filter is built from. */
#ifndef PLAN_SYSCALLS_H
#define PLAN_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

enum syscall_action {
    SYSCALL_EPERM,
    SYSCALL_ENOSYS,       /* libc falls back to an older call */
    SYSCALL_EAFNOSUPPORT, /* as if the kernel had no such family */
    SYSCALL_NOTIFY,       /* the supervisor decides */
};

/* When a rule is in the filter. */
enum syscall_when {
    WHEN_ALWAYS,
    WHEN_NOT_DEBUG,      /* unless sandbox.process.debug */
    WHEN_NOT_CONTAINERS, /* unless sandbox.process.containers */
    WHEN_PROTECTING,     /* where rules bind files that are created later */
    WHEN_ASKING,         /* where rules ask */
};

struct syscall_rule {
    const char *name;
    enum syscall_action action;
    enum syscall_when when;
    int arg;       /* which argument is looked at; -1: none */
    uint64_t mask; /* the rule holds when (arg & mask) == value, or != with is_not */
    uint64_t value;
    int is_not;
    const char *why;
};

extern const struct syscall_rule syscall_table[];
extern const size_t syscall_table_count;

#endif
