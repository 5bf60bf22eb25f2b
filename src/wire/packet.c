/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/packet.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union packet_control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * PACKET_FDS_MAX)];
};

int packet_send(int sock, const struct iovec parts[static 2], const int *fds, size_t fd_count)
{
    union packet_control control = {0};
    struct msghdr header = {.msg_iov = (struct iovec *)(uintptr_t)parts,
                            .msg_iovlen = parts[1].iov_len ? 2 : 1};
    ssize_t sent;

    if (fd_count > PACKET_FDS_MAX)
        return -E2BIG;
    if (fd_count > 0) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
    }
    do
        sent = sendmsg(sock, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

void packet_drop_fds(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            (void)close(take_fd(&fds[i]));
    }
}

/* The kernel rounds the room up: one descriptor more than asked for may come. */
static bool take_fds(struct msghdr *header, int *fds, size_t fd_room)
{
    const char *end = (const char *)header->msg_control + header->msg_controllen;
    size_t count = 0;
    bool fits = true;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        const char *at = (const char *)CMSG_DATA(part);
        const char *last = (const char *)part + part->cmsg_len;

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (; at + sizeof(int) <= last && at + sizeof(int) <= end; at += sizeof(int)) {
            int fd;

            memcpy(&fd, at, sizeof(fd));
            fits = fits && count < fd_room;
            if (fits)
                fds[count++] = fd;
            else
                (void)close(fd);
        }
    }
    return fits;
}

ssize_t packet_receive(int sock, struct iovec parts[static 2], int *fds, size_t fd_room)
{
    union packet_control control = {0};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = &control};
    ssize_t got;

    for (size_t i = 0; i < fd_room; i++)
        fds[i] = -EBADF;
    if (fd_room > PACKET_FDS_MAX)
        return -E2BIG;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fd_room);
    /* ECONNRESET, once: the other side ended and left something unread. What it said is still
     * there. */
    do
        got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got <= 0)
        return got < 0 ? -errno : -EPIPE;
    if (!take_fds(&header, fds, fd_room) || (size_t)got < parts[0].iov_len ||
        (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        packet_drop_fds(fds, fd_room);
        return -EPROTO;
    }
    return got - (ssize_t)parts[0].iov_len;
}
