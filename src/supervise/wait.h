/* SPDX-License-Identifier: Apache-2.0 */
/* Opens that wait for somebody else (the other end of a FIFO, a lease), and connections: each in a
 * process of its own, so that no caller can hold up the others. */
#ifndef SUPERVISE_WAIT_H
#define SUPERVISE_WAIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { WAITERS_MAX = 64 };

/* The kernel's own: the caller is interrupted, or its call made anew, as its handler has it. */
enum { WAIT_RESTART = 512 };

/* The result of a call whose caller has a pending signal: -EINTR or -WAIT_RESTART; 0: there is
 * none. *seen is this one's alone, and 0 at first. */
int wait_interruption(int status_fd, unsigned *seen);

struct waiters {
    pid_t pids[WAITERS_MAX];
    size_t count;
};

struct waiter {
    uint64_t id; /* of the notification */
    int object;  /* O_PATH of what is to be opened, or of the socket file to connect to */
    int status;  /* of the caller, in /proc */
    int flags;   /* as the caller gave them */
    int socket;  /* of the caller, to be connected; -EBADF: none, something is to be opened */
    const void *address; /* where to, if it is no file: NULL */
    socklen_t address_bytes;
};

/* Opens or connects, and answers the notification. -EAGAIN: too many wait. */
int waiters_add(struct waiters *waiters, int notify_fd, const struct waiter *waiter);
/* Takes note of those that are done. */
void waiters_reap(struct waiters *waiters);
void waiters_done(struct waiters *waiters);

#endif
