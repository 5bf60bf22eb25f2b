/* SPDX-License-Identifier: Apache-2.0 */
/* peek PID...: every way to look into another process. */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static pid_t victim;

static int by_attach(void *context)
{
    (void)context;
    if (ptrace(PTRACE_ATTACH, victim, NULL, NULL) < 0)
        return errno;
    /* Where nothing stands in the way, the victim goes on afterwards. */
    waitpid(victim, NULL, __WALL);
    ptrace(PTRACE_DETACH, victim, NULL, NULL);
    kill(victim, SIGCONT);
    return 0;
}

static int by_seize(void *context)
{
    (void)context;
    return verdict_of(ptrace(PTRACE_SEIZE, victim, NULL, NULL));
}

static int by_vm(void *context)
{
    char byte = 0;
    struct iovec mine = {&byte, 1}, theirs = {(void *)0x400000, 1};

    return verdict_of(syscall((long)context, victim, &mine, 1, &theirs, 1, 0));
}

static int by_file(void *context)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", victim, (const char *)context);
    return verdict_of(open(path, O_RDONLY));
}

static int by_getfd(void *context)
{
    int pidfd = (int)syscall(SYS_pidfd_open, victim, 0);

    (void)context;
    return pidfd < 0 ? errno : verdict_of(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int by_kcmp(void *context)
{
    (void)context;
    return verdict_of(syscall(SYS_kcmp, getpid(), victim, 0, 0, 0));
}

static int by_madvise(void *context)
{
    int pidfd = (int)syscall(SYS_pidfd_open, victim, 0);
    struct iovec theirs = {(void *)0x400000, 4096};

    (void)context;
    return pidfd < 0 ? errno : verdict_of(syscall(SYS_process_madvise, pidfd, &theirs, 1, 20, 0));
}

static const struct {
    const char *name;
    int (*attempt)(void *);
    void *context;
} ways[] = {
    {"ptrace-attach", by_attach, NULL},
    {"ptrace-seize", by_seize, NULL},
    {"process_vm_readv", by_vm, (void *)SYS_process_vm_readv},
    {"process_vm_writev", by_vm, (void *)SYS_process_vm_writev},
    {"mem", by_file, "mem"},
    {"environ", by_file, "environ"},
    {"maps", by_file, "maps"},
    {"auxv", by_file, "auxv"},
    {"pidfd_getfd", by_getfd, NULL},
    {"kcmp", by_kcmp, NULL},
    {"process_madvise", by_madvise, NULL},
};

int main(int argc, char **argv)
{
    char word[32], what[64];

    for (int i = 1; i < argc; i++) {
        victim = (pid_t)atol(argv[i]);
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            verdict_apart(ways[j].attempt, ways[j].context, word, sizeof word);
            snprintf(what, sizeof what, "%s %s", ways[j].name, argv[i]);
            verdict_say(word, what);
        }
    }
    return 0;
}
