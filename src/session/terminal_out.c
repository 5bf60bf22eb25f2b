/* SPDX-License-Identifier: Apache-2.0 */
#include "session/terminal_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { PIECE_BYTES = 4096, MOMENT_US = 5000 };

int terminal_open_anew(int fd, int mode)
{
    char path[32];
    int opened;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    opened = openat(AT_FDCWD, path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return opened >= 0 ? opened : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static bool is_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && flags & O_NONBLOCK;
}

static void on_alarm(int number)
{
    (void)number;
}

static void hear_alarm(void)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART: it interrupts */
    sigset_t set;

    (void)sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void terminal_prepare_writes(struct terminal *terminal)
{
    terminal->does_write_wait = !is_nonblocking(terminal->write_fd);
    if (terminal->does_write_wait)
        hear_alarm();
}

/* A write that may wait, but not for long. The timer rings again and again: once may be before the
 * write. Returns as write does; what was taken before it was interrupted counts. */
static ssize_t write_for_a_moment(int fd, const char *bytes, size_t length)
{
    static const struct itimerval often = {.it_value.tv_usec = MOMENT_US,
                                           .it_interval.tv_usec = MOMENT_US};
    static const struct itimerval never;
    ssize_t count;
    int errnum;

    (void)setitimer(ITIMER_REAL, &often, NULL);
    count = write(fd, bytes, length < PIECE_BYTES ? length : PIECE_BYTES);
    errnum = errno == EINTR ? EAGAIN : errno;
    (void)setitimer(ITIMER_REAL, &never, NULL);
    errno = errnum;
    return count;
}

ssize_t terminal_write(const struct terminal *terminal, const char *bytes, size_t length)
{
    struct pollfd out = {.fd = terminal->write_fd, .events = POLLOUT};
    size_t written = 0;

    while (written < length) {
        ssize_t count;

        /* KERNEL: POLLOUT promises room for one byte, no more. */
        if (terminal->does_write_wait && poll(&out, 1, 0) <= 0)
            break;
        count = terminal->does_write_wait
                    ? write_for_a_moment(terminal->write_fd, bytes + written, length - written)
                    : write(terminal->write_fd, bytes + written, length - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && (errno != EAGAIN || written == 0))
            return -errno;
        if (count < 0)
            break;
        written += (size_t)count;
    }
    return written ? (ssize_t)written : -EAGAIN;
}

bool terminal_write_patiently(const struct terminal *terminal, const char *bytes, size_t length,
                              int patience_ms)
{
    struct pollfd out = {.fd = terminal->write_fd, .events = POLLOUT};

    while (length) {
        ssize_t written = terminal_write(terminal, bytes, length);

        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (written != -EAGAIN || poll(&out, 1, patience_ms) == 0) {
            return false;
        }
    }
    return true;
}
