/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sync.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const char *const words[SYNC_COUNT] = {
    [SYNC_MAPPED] = "mapped", [SYNC_JOIN] = "join",     [SYNC_READY] = "ready",
    [SYNC_FAILED] = "failed", [SYNC_EXEC] = "exec",     [SYNC_STARTED] = "started",
    [SYNC_NOEXEC] = "noexec", [SYNC_EXITED] = "exited", [SYNC_SIGNAL] = "signal",
    [SYNC_PROVE] = "prove",   [SYNC_PROVED] = "proved",
};

const char *sync_word(enum sync_point point)
{
    return point < SYNC_COUNT ? words[point] : "?";
}

union sync_control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * SYNC_FDS)];
};

int sync_send(int sock, const struct sync_message *message, const void *bytes, size_t size,
              const int *fds, size_t fd_count, struct bawn_error *err)
{
    union sync_control control = {0};
    struct iovec parts[] = {{(void *)(uintptr_t)message, sizeof(*message)},
                            {(void *)(uintptr_t)bytes, size}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = size ? 2 : 1};
    ssize_t sent;

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
    if (sent < 0)
        return error_errno(err, errno, "send '%s' to the sandbox's pid 1",
                           sync_word(message->point));
    return 0;
}

static void take_fds(struct msghdr *header, int fds[SYNC_FDS])
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
            memcpy(fds, CMSG_DATA(part), part->cmsg_len - CMSG_LEN(0));
    }
}

int sync_receive(int sock, struct sync_message *message, void *bytes, size_t *size,
                 int fds[SYNC_FDS], struct bawn_error *err)
{
    union sync_control control = {0};
    struct iovec parts[] = {{message, sizeof(*message)}, {bytes, bytes ? *size : 0}};
    struct msghdr header = {.msg_iov = parts,
                            .msg_iovlen = 2,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t got;

    for (int i = 0; i < SYNC_FDS; i++)
        fds[i] = -EBADF;
    /* ECONNRESET, once: the other side ended and left something unread. What it said is still
     * there. */
    do
        got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got < 0)
        return error_errno(err, errno, "receive from the sandbox");
    if (got == 0)
        return error_set(err, EPIPE, "launch.gone", "the sandbox's set-up ended without a word");
    take_fds(&header, fds);
    if ((size_t)got < sizeof(*message) || message->point >= SYNC_COUNT ||
        (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return error_set(err, EPROTO, "launch.protocol", "the sandbox sent a broken message");
    if (bytes)
        *size = (size_t)got - sizeof(*message);
    return 0;
}
