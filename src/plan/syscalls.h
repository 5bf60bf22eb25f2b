/* SPDX-License-Identifier: Apache-2.0 */
/* The syscalls that are refused, as a table that the filter is built from. */
#ifndef PLAN_SYSCALLS_H
#define PLAN_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum syscall_action {
    SYSCALL_EPERM,
    SYSCALL_EACCES,       /* as the kernel says to who does not own the file */
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
    WHEN_TRACE_TOLD,     /* the same, unless sandbox.process.debug */
    WHEN_BINDING,        /* the same, where a socket can be bound on behalf of its owner */
    WHEN_HANDING_OVER,   /* where sockets of the host's are handed in */
    WHEN_HOLDING,        /* with sandbox.late: held, where a hidden name may appear */
    WHEN_ASKING,         /* where what a rule asks about is shown */
    WHEN_CONNECTING,     /* the same, where a socket can be connected on behalf of its owner */
    WHEN_EXPLAINING,     /* with sandbox.process.explain */
};

/*
 * Holds when (arg & mask) == value, or != with is_not; left empty it always
 * holds. Only the low 32 bits of an argument are looked at: all that are tested
 * are ints to the kernel, which drops the rest of the register.
 */
struct syscall_test {
    int arg;
    uint32_t mask;
    uint32_t value;
    int is_not;
};

enum { SYSCALL_ALSO = 3 };

/* Of the rules for one call the first that holds counts. */
struct syscall_rule {
    const char *name;
    enum syscall_action action;
    enum syscall_when when;
    int arg; /* which argument is looked at; -1: none, the rule always holds */
    uint32_t mask;
    uint32_t value;
    int is_not;
    struct syscall_test also[SYSCALL_ALSO]; /* must hold too */
    const char *why;
};

extern const struct syscall_rule syscall_table[];
extern const size_t syscall_table_count;

/* A call that libseccomp may be too old to know. */
struct syscall_number {
    const char *name;
    int number;
    bool only_x86;
};

extern const struct syscall_number syscall_new[];
extern const size_t syscall_new_count;

/* The last number that was looked at when the table was written: what comes after is ENOSYS. */
enum { SYSCALL_LAST = 469 };

#endif
