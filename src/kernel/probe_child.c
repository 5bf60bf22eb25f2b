/* SPDX-License-Identifier: Apache-2.0 */
/* Children that try one thing: started by a bare clone, read through a pipe, killed, reaped. */
#include "kernel/probe_child.h"

#include "base/clock.h"
#include "kernel/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REAP_LIMIT_MS = 1000, REAP_PAUSE_MS = 1 };

bool probe_fail_with(struct probe_result *result, int errnum, const char *step)
{
    if (result->errnum)
        return false;
    result->errnum = errnum > 0 ? errnum : EIO;
    for (size_t i = 0; i + 1 < sizeof(result->step) && step[i]; i++)
        result->step[i] = step[i];
    return false;
}

bool probe_fail(struct probe_result *result, const char *step)
{
    return probe_fail_with(result, errno, step);
}

static _Noreturn void child_main(pid_t parent, int result_fd, PROBE_WORK((*work)),
                                 const struct probe_env *env)
{
    struct probe_result result = {0};
    ssize_t put;

    /* Whoever started this may be killed: nobody would end us then. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* It may have been killed before that. In a pid namespace of our own nobody is seen above us.
     */
    if (getppid() != parent && getppid() != 0)
        _exit(0);
    (void)work(&result, env);
    do
        put = write(result_fd, &result, sizeof(result));
    while (put < 0 && errno == EINTR);
    _exit(0);
}

int probe_child_start(struct probe_child *child, PROBE_WORK((*work)), const struct probe_env *env)
{
    sigset_t all, before;
    pid_t parent = getpid();
    int fds[2];
    int r = 0;

    child->pid = -1;
    child->pipe_fd = -EBADF;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    /* A handler of the calling program must not run in the copy: Ctrl-C reaches both. */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    child->pid = process_split(-EBADF, NULL);
    if (child->pid == 0)
        child_main(parent, fds[1], work, env);
    if (child->pid < 0)
        r = -errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(fds[1]);
    if (r < 0)
        (void)close(fds[0]);
    else
        child->pipe_fd = fds[0];
    return r;
}

/* 1: read whole; 0: the child ended without a word; -1: time is up. */
static int result_read(int fd, int timeout_ms, struct probe_result *result)
{
    int64_t until = clock_ms() + timeout_ms;

    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int64_t left = until - clock_ms();
        ssize_t got;
        int r = poll(&ready, 1, left > 0 ? (int)left : 0);

        if (r == 0)
            return -1;
        if (r < 0 && errno == EINTR)
            continue;
        got = read(fd, result, sizeof(*result));
        if (got < 0 && errno == EINTR)
            continue;
        return got == (ssize_t)sizeof(*result) ? 1 : 0;
    }
}

/* Waits for a process that SIGKILL is on its way to. One stuck in the kernel is given up. */
static int reap(pid_t pid)
{
    int64_t until = clock_ms() + REAP_LIMIT_MS;
    int status = 0;

    for (;;) {
        pid_t r = waitpid(pid, &status, __WALL | WNOHANG);

        if (r == pid)
            return status;
        if ((r < 0 && errno != EINTR) || clock_ms() > until)
            return 0;
        (void)poll(NULL, 0, REAP_PAUSE_MS);
    }
}

/* The same without a limit, for a child that has done its work and is ending. */
static int reap_ended(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, __WALL) < 0)
        if (errno != EINTR)
            return 0;
    return status;
}

void probe_child_hear(struct probe_child *child, int timeout_ms, struct probe_result *ret_result)
{
    child->heard = result_read(child->pipe_fd, timeout_ms, ret_result);
    /* It has nothing left to do but to end; not reaped yet, so the pid is still its own. */
    if (child->heard != 0)
        (void)kill(child->pid, SIGKILL);
}

void probe_child_end(struct probe_child *child, struct probe_result *ret_result)
{
    int status = child->heard < 0 ? reap(child->pid) : reap_ended(child->pid);

    child->pid = -1;
    (void)close(child->pipe_fd);
    if (child->heard > 0)
        return;
    memset(ret_result, 0, sizeof(*ret_result));
    if (child->heard < 0)
        (void)probe_fail_with(ret_result, ETIMEDOUT, "time limit");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        (void)probe_fail_with(ret_result, ENOSYS, "killed by a seccomp filter");
    else
        (void)probe_fail_with(ret_result, EIO, "the child died");
}

void probe_child_finish(struct probe_child *child, int timeout_ms, struct probe_result *ret_result)
{
    probe_child_hear(child, timeout_ms, ret_result);
    probe_child_end(child, ret_result);
}

int probe_child_run(PROBE_WORK((*work)), const struct probe_env *env, int timeout_ms,
                    struct probe_result *ret_result)
{
    struct probe_child child;
    int r = probe_child_start(&child, work, env);

    if (r == 0)
        probe_child_finish(&child, timeout_ms, ret_result);
    return r;
}
