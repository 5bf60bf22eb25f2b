/* SPDX-License-Identifier: Apache-2.0 */
/* A namespace of one's own brings capabilities back: every way of getting one. */
#include "d_attempt.h"

#include <sched.h>
#include <stdint.h>

#define NEW_TIME 0x80UL

static const struct {
    const char *name;
    unsigned long flag;
} kinds[] = {
    {"user", CLONE_NEWUSER},     {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},
    {"net", CLONE_NEWNET},       {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
    {"cgroup", CLONE_NEWCGROUP},
};

struct clone3_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* A clone that succeeds returns twice: the child leaves at once. */
static void try_clone(const char *what, long number, unsigned long first, unsigned long second)
{
    long result = syscall(number, first, second, 0, 0, 0);

    if (result == 0)
        _exit(0);
    say(what, result);
    if (result > 0)
        waitpid((pid_t)result, NULL, 0);
}

static void try_kind(const char *name, unsigned long flag)
{
    struct attempt unshare_it = {NULL, SYS_unshare, {flag}};
    char what[64];

    snprintf(what, sizeof(what), "unshare-%s", name);
    unshare_it.what = what;
    attempt_run(&unshare_it);

    snprintf(what, sizeof(what), "unshare-%s-high-bits", name);
    unshare_it.args[0] = flag | 1UL << 40;
    attempt_run(&unshare_it);

    fflush(stdout);
    snprintf(what, sizeof(what), "clone-%s", name);
    try_clone(what, SYS_clone, flag | SIGCHLD, 0);
    snprintf(what, sizeof(what), "clone-%s-and-user", name);
    try_clone(what, SYS_clone, flag | CLONE_NEWUSER | SIGCHLD, 0);
}

int main(void)
{
    struct clone3_args plain = {.exit_signal = SIGCHLD};
    struct clone3_args user = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    struct clone3_args time = {.flags = CLONE_NEWUSER | NEW_TIME, .exit_signal = SIGCHLD};
    struct attempt time_unshare = {"unshare-time", SYS_unshare, {NEW_TIME | CLONE_NEWUSER}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        try_kind(kinds[i].name, kinds[i].flag);
    attempt_run(&time_unshare);
    fflush(stdout);
    try_clone("clone3-plain", SYS_clone3, (unsigned long)&plain, sizeof(plain));
    try_clone("clone3-user", SYS_clone3, (unsigned long)&user, sizeof(user));
    try_clone("clone3-time", SYS_clone3, (unsigned long)&time, sizeof(time));
    /* The way that programs go on from there. */
    try_clone("clone-plain", SYS_clone, SIGCHLD, 0);
    return 0;
}
