/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>

bool answer_is_wanted(int notify_fd, uint64_t id)
{
    return answer_request(notify_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void answer_value(int notify_fd, uint64_t id, int64_t result)
{
    struct seccomp_notif_resp response = {.id = id};

    if (result < 0)
        response.error = (int32_t)result;
    else
        response.val = result;
    while (answer_request(notify_fd, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 && errno == EINTR)
        continue;
}

void answer_fd(int notify_fd, uint64_t id, int fd, bool is_cloexec)
{
    struct seccomp_notif_addfd add = {
        .id = id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (uint32_t)fd,
        .newfd_flags = is_cloexec ? O_CLOEXEC : 0,
    };
    int r;

    do
        r = answer_request(notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    while (r < 0 && errno == EINTR);
    if (r >= 0 || errno == ENOENT)
        return;
    if (errno == EINVAL) { /* KERNEL(5.14): before, in two steps */
        add.flags = 0;
        r = answer_request(notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
        if (r >= 0) {
            answer_value(notify_fd, id, r);
            return;
        }
    }
    answer_value(notify_fd, id, -errno);
}
