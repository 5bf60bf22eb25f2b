/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sync.h"

#include "base/error.h"
#include "wire/packet.h"

#include <errno.h>

static const char *const words[SYNC_COUNT] = {
    [SYNC_MAPPED] = "mapped",   [SYNC_JOIN] = "join",     [SYNC_READY] = "ready",
    [SYNC_FAILED] = "failed",   [SYNC_EXEC] = "exec",     [SYNC_STARTED] = "started",
    [SYNC_NOEXEC] = "noexec",   [SYNC_EXITED] = "exited", [SYNC_SIGNAL] = "signal",
    [SYNC_PROVE] = "prove",     [SYNC_PROVED] = "proved", [SYNC_SIGNALLED] = "signalled",
    [SYNC_STOPPED] = "stopped",
};

const char *sync_word(enum sync_point point)
{
    return point < SYNC_COUNT ? words[point] : "?";
}

int sync_send(int sock, const struct sync_message *message, const void *bytes, size_t size,
              const int *fds, size_t fd_count, struct bawn_error *err)
{
    const struct iovec parts[] = {{(void *)(uintptr_t)message, sizeof(*message)},
                                  {(void *)(uintptr_t)bytes, size}};
    int result = packet_send(sock, parts, fds, fd_count);

    if (result < 0)
        return error_errno(err, -result, "send '%s' to the sandbox's pid 1",
                           sync_word(message->point));
    return 0;
}

int sync_receive(int sock, struct sync_message *message, void *bytes, size_t *size,
                 int fds[SYNC_FDS], struct bawn_error *err)
{
    struct iovec parts[] = {{message, sizeof(*message)}, {bytes, bytes ? *size : 0}};
    ssize_t behind = packet_receive(sock, parts, fds, SYNC_FDS);

    if (behind == -EPIPE)
        return error_set(err, EPIPE, "launch.gone", "the sandbox's set-up ended without a word");
    if (behind >= 0 && message->point >= SYNC_COUNT) {
        packet_drop_fds(fds, SYNC_FDS);
        behind = -EPROTO;
    }
    if (behind == -EPROTO)
        return error_set(err, EPROTO, "launch.protocol", "the sandbox sent a broken message");
    if (behind < 0)
        return error_errno(err, (int)-behind, "receive from the sandbox");
    if (bytes)
        *size = (size_t)behind;
    return 0;
}
