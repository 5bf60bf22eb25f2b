/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/answer.h"

#include "base/cleanup.h"
#include "supervise/core.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      _IOW('!', 4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif

/* KERNEL: each request takes a lock that a signal ends the wait for; nothing was done then. */
static int request_surely(int notify_fd, unsigned long number, void *argument)
{
    int r;

    do
        r = answer_request(notify_fd, number, argument);
    while (r < 0 && errno == EINTR);
    return r;
}

bool answer_is_wanted(int notify_fd, uint64_t id)
{
    return request_surely(notify_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void answer_value(int notify_fd, uint64_t id, int64_t result)
{
    struct seccomp_notif_resp response = {.id = id};

    if (result < 0)
        response.error = (int32_t)result;
    else
        response.val = result;
    (void)request_surely(notify_fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static int add_fd(int notify_fd, struct seccomp_notif_addfd *add)
{
    int fd = answer_request(notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, add);

    return fd < 0 ? -errno : fd;
}

void answer_continue(int notify_fd, uint64_t id)
{
    struct seccomp_notif_resp response = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    (void)request_surely(notify_fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int answer_put_fd(int notify_fd, uint64_t id, int fd, int at, bool is_cloexec)
{
    struct seccomp_notif_addfd add = {.id = id,
                                      .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                      .srcfd = (uint32_t)fd,
                                      .newfd = (uint32_t)at,
                                      .newfd_flags = is_cloexec ? O_CLOEXEC : 0};
    int added = add_fd(notify_fd, &add);

    return added < 0 ? added : 0;
}

/*
 * KERNEL(6.6): "here" means that who is woken by a question or its answer runs
 * on the waker's core. Others wake another core, and slowly.
 */
void answer_here(int notify_fd, bool is_here)
{
    (void)request_surely(notify_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                         (void *)(is_here ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0UL));
}

/*
 * In two steps, though the kernel could do both at once: the caller must not go
 * on while the file is open here too. A program that was just written could not
 * be run then (ETXTBSY).
 */
void answer_fd(int notify_fd, uint64_t id, int *fd, bool is_cloexec, struct core *core, pid_t tid)
{
    struct seccomp_notif_addfd add = {
        .id = id,
        .srcfd = (uint32_t)*fd,
        .newfd_flags = is_cloexec ? O_CLOEXEC : 0,
    };
    struct core_binding binding = {.is_bound = false};
    int added;

    if (core)
        core_bind(core, tid, &binding);
    added = add_fd(notify_fd, &add);
    core_free(&binding);
    (void)close(take_fd(fd));
    if (added != -ENOENT)
        answer_value(notify_fd, id, added);
}
