/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets inside, for connections from outside.
 *
 * How it works: whoever owns a user namespace may enter it. A process of its own enters the
 * sandbox's network, where it makes a socket for each who asks. It opens nothing and reads
 * nothing else. KERNEL: a socket stays in the namespace that it was made in, whoever connects it.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "session/own.h"
#include "wire/packet.h"

#include <errno.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { ASKED_FD, USER_FD, NET_FD, KEPT_FDS };

static int answer(struct net_door *door)
{
    autoclose int sock = -EBADF;
    struct iovec parts[2] = {{.iov_base = door, .iov_len = sizeof(*door)}};

    if (door->family == AF_INET || door->family == AF_INET6)
        sock = socket(door->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    else
        errno = EAFNOSUPPORT;
    door->errnum = sock < 0 ? errno : 0;
    return packet_send(ASKED_FD, parts, &sock, sock >= 0);
}

/*
 * Holds:    the socket to bawn-net, all capabilities over the sandbox's network.
 * Must:     end with bawn-net and with the launcher.
 * Mustn't:  hold anything of the host's.
 */
static int serve(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct net_door door;
    int result = 0;

    (void)context;
    (void)events;
    if (setns(USER_FD, CLONE_NEWUSER) < 0 || setns(NET_FD, CLONE_NEWNET) < 0)
        return error_errno(err, errno, "enter the sandbox's network");
    (void)close(USER_FD);
    (void)close(NET_FD);
    while (result == 0) {
        struct iovec parts[2] = {{.iov_base = &door, .iov_len = sizeof(door)}};

        result = (int)packet_receive(ASKED_FD, parts, NULL, 0);
        if (result == 0)
            result = answer(&door);
    }
    return result == -EPIPE ? 0 : error_errno(err, -result, "let a connection in");
}

static int on_ended(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    return aide_reap(&session->net.door, &status) ? session_lost(session, WHO_DOOR, status) : 0;
}

int door_start(struct session *session, int *ret_fd, struct bawn_error *err)
{
    autoclose int net_fd = ioctl(session->launch.listeners[0], SIOCGSKNS);
    autoclose int user_fd = net_fd < 0 ? -EBADF : ioctl(net_fd, NS_GET_USERNS);
    autoclose int near_end = -EBADF, far_end = -EBADF;
    struct aide_work work = {.who = WHO_DOOR,
                             .fds = {[USER_FD] = user_fd, [NET_FD] = net_fd},
                             .count = KEPT_FDS,
                             .dies_with_us = true,
                             .run = serve};
    int channel = session_channel(session, err);
    int ends[2];
    int result;

    if (channel < 0)
        return channel;
    if (user_fd < 0)
        return error_errno(err, errno, "find the sandbox's network");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "make a socket for published ports");
    near_end = ends[0];
    far_end = ends[1];
    work.fds[ASKED_FD] = far_end;
    /* That of a bawn-net which is gone. */
    aide_end(&session->net.door, 0);
    result = aide_start(&session->net.door, &work, channel, err);
    if (result == 0)
        result = aide_watch(&session->net.door, &session->loop, on_ended, session, err);
    if (result == 0)
        *ret_fd = take_fd(&near_end);
    return result;
}
