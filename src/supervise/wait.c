/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/wait.h"

#include "kernel/process.h"
#include "supervise/answer.h"
#include "supervise/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTIFY_FD, OBJECT_FD, STATUS_FD, SOCKET_FD, KEPT_FDS, CHECK_USEC = 20 * 1000 };

static void on_alarm(int number)
{
    (void)number;
}

static void let_alarm(int how)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGALRM);
    (void)sigprocmask(how, &set, NULL);
}

/* Wakes the open up now and then: the caller may be gone or have a signal, and nothing else would
 * tell. */
static void start_alarm(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval every = {.it_interval = {.tv_usec = CHECK_USEC},
                              .it_value = {.tv_usec = CHECK_USEC}};

    (void)sigaction(SIGALRM, &action, NULL);
    let_alarm(SIG_UNBLOCK);
    (void)setitimer(ITIMER_REAL, &every, NULL);
}

/*
 * KERNEL(5.19): once a call is taken up, only a signal that kills wakes the caller.
 * So we look for pending signals from here. We may answer WAIT_RESTART only if the kernel
 * has marked this very thread (TIF_SIGPENDING): only then does it look at the result
 * on the way out. Otherwise the program would see the number. Nothing shows the mark.
 * For a signal to the whole process, complete_signal() marks the first thread unless
 * that one blocks the signal, else one of the threads that do not block it.
 * retarget_shared_pending() moves the mark when its thread blocks the signal or ends.
 * So the first thread has the mark, or the only one that does not block the signal.
 * Of several others any may have it: those get EINTR.
 */
int wait_interruption(int status_fd, unsigned *seen)
{
    struct caller_signals signals;

    if (caller_signals(status_fd, &signals) < 0 || !(signals.own | signals.shared)) {
        *seen = 0;
        return 0;
    }
    if (signals.own)
        return -WAIT_RESTART;
    /* Another thread may be about to take it. */
    if (++*seen < 2)
        return 0;
    return signals.group == signals.thread || caller_is_only_taker(&signals) ? -WAIT_RESTART
                                                                             : -EINTR;
}

/* What the descriptor stands for. */
static void name_object(char name[static 32])
{
    (void)snprintf(name, 32, "/proc/self/fd/%d", OBJECT_FD);
}

/* KERNEL: made again after a signal, it goes on where it was. */
static int connect_once(const struct waiter *waiter)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    name_object(address.sun_path);
    return connect(SOCKET_FD, waiter->address ? waiter->address : (const void *)&address,
                   waiter->address ? waiter->address_bytes : (socklen_t)sizeof(address)) < 0
               ? -errno
               : 0;
}

static int open_once(int flags, int *ret_fd)
{
    char path[32];

    name_object(path);
    *ret_fd = open(path, flags);
    return *ret_fd < 0 ? -errno : 0;
}

/*
 * Holds:    the notification, the thing to open or the caller's socket and where that is to be
 *           connected to, the caller's status in /proc.
 * Must:     end when the supervisor does, and when the caller is gone or interrupted.
 * Mustn't:  keep any other descriptor: their ends would not be noticed.
 */
static _Noreturn void waiter_main(pid_t parent, int notify_fd, const struct waiter *waiter)
{
    int flags = (waiter->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY;
    bool connects = waiter->socket >= 0;
    int fds[KEPT_FDS] = {[NOTIFY_FD] = notify_fd,
                         [OBJECT_FD] = waiter->object,
                         [STATUS_FD] = waiter->status,
                         [SOCKET_FD] = waiter->socket};
    uint64_t id = waiter->id;
    unsigned seen = 0;
    int fd = -EBADF;
    int r = -EINTR;

    if (!process_keep_fds(fds, connects ? KEPT_FDS : SOCKET_FD)) {
        answer_value(notify_fd, id, -EACCES);
        _exit(1);
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(1);
    start_alarm();
    while (r == -EINTR && answer_is_wanted(NOTIFY_FD, id)) {
        int interruption;

        r = connects ? connect_once(waiter) : open_once(flags, &fd);
        interruption = r == -EINTR ? wait_interruption(STATUS_FD, &seen) : 0;
        if (interruption) {
            r = interruption;
            break;
        }
    }
    let_alarm(SIG_BLOCK);
    if (fd >= 0)
        answer_fd(NOTIFY_FD, id, &fd, waiter->flags & O_CLOEXEC, NULL, 0);
    else
        answer_value(NOTIFY_FD, id, r);
    _exit(0);
}

int waiters_add(struct waiters *waiters, int notify_fd, const struct waiter *waiter)
{
    pid_t parent = getpid();
    pid_t pid;

    waiters_reap(waiters);
    if (waiters->count == WAITERS_MAX)
        return -EAGAIN;
    pid = process_split(-EBADF, NULL);
    if (pid < 0)
        return -errno;
    if (pid == 0)
        waiter_main(parent, notify_fd, waiter);
    waiters->pids[waiters->count++] = pid;
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
