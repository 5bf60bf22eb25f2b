/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/wait.h"

#include "supervise/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTIFY_FD = 3, OBJECT_FD = 4, CHECK_USEC = 50 * 1000 };

static void on_alarm(int number)
{
    (void)number;
}

/* Wakes the open up now and then: the caller may be gone, and nothing else would tell. */
static void start_alarm(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval every = {.it_interval = {.tv_usec = CHECK_USEC},
                              .it_value = {.tv_usec = CHECK_USEC}};
    sigset_t set;

    (void)sigaction(SIGALRM, &action, NULL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)setitimer(ITIMER_REAL, &every, NULL);
}

/*
 * Holds:    the notification, the thing to open.
 * Must:     end when the supervisor does, and when the caller is gone.
 * Mustn't:  keep any other descriptor: their ends would not be noticed.
 */
static _Noreturn void waiter_main(pid_t parent, int notify_fd, uint64_t id, int object, int flags)
{
    char path[32];
    int fd = -1;
    /* Away from the two numbers first: either may be the other's. */
    int notify_high = fcntl(notify_fd, F_DUPFD, OBJECT_FD + 1);
    int object_high = fcntl(object, F_DUPFD, OBJECT_FD + 1);

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
        dup2(notify_high, NOTIFY_FD) < 0 || dup2(object_high, OBJECT_FD) < 0 ||
        syscall(SYS_close_range, OBJECT_FD + 1, ~0U, 0) < 0)
        _exit(1);
    start_alarm();
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", OBJECT_FD);
    while (answer_is_wanted(NOTIFY_FD, id)) {
        fd = open(path, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0 || errno != EINTR)
            break;
    }
    if (fd >= 0)
        answer_fd(NOTIFY_FD, id, fd, flags & O_CLOEXEC);
    else
        answer_value(NOTIFY_FD, id, -errno);
    _exit(0);
}

int waiters_add(struct waiters *waiters, int notify_fd, uint64_t id, int object, int flags)
{
    pid_t parent = getpid();
    long pid;

    waiters_reap(waiters);
    if (waiters->count == WAITERS_MAX)
        return -EAGAIN;
    /* No signal when it ends: whoever waits for children of the program need not know of it. */
    pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (pid < 0)
        return -errno;
    if (pid == 0)
        waiter_main(parent, notify_fd, id, object, flags);
    waiters->pids[waiters->count++] = (pid_t)pid;
    return 0;
}

void waiters_reap(struct waiters *waiters)
{
    for (size_t i = 0; i < waiters->count;) {
        if (waitpid(waiters->pids[i], NULL, __WALL | WNOHANG) == 0)
            i++;
        else
            waiters->pids[i] = waiters->pids[--waiters->count];
    }
}

void waiters_done(struct waiters *waiters)
{
    for (size_t i = 0; i < waiters->count; i++) {
        (void)kill(waiters->pids[i], SIGKILL);
        (void)waitpid(waiters->pids[i], NULL, __WALL);
    }
    waiters->count = 0;
}
