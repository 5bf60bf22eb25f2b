/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect(2) and listen(2) of TCP sockets on behalf of the caller, where sockets of the host's are
 * handed in.
 *
 * SECURITY: the caller's socket is taken over as a second descriptor, and what is done is done to
 * that, so that nothing put in its place meanwhile counts. Sockets of other kinds are
 * left to the caller: they carry its identity (SO_PEERCRED). Should it have put a socket of
 * TCP there by then, Landlock holds connect(2); listen(2) and disconnecting lead nowhere,
 * for a socket of the host's hears nobody but its server (supervise/handed.h).
 */
#include "base/cleanup.h"
#include "supervise/call.h"
#include "supervise/dials.h"
#include "supervise/handed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN "(a socket from outside)"

/* Takes the socket over. A call on what is none of TCP's is left to the caller. */
static int take_socket(struct call *call)
{
    int r = caller_take_fd(call->caller, call_int(call, 0));

    if (r < 0)
        return r;
    call->socket = r;
    call->is_ours = true;
    call->is_continued = !handed_is_tcp(call->socket);
    return 0;
}

static bool is_inside(const struct call *call)
{
    return handed_net(call->socket) == call->dials->net;
}

int connect_prepare(struct call *call)
{
    int length = call_int(call, 2);
    int r = take_socket(call);

    if (r < 0 || call->is_continued)
        return r;
    if (length < 0 || (size_t)length > sizeof(struct sockaddr_storage))
        return -EINVAL;
    /* One more than is read, as bind has it. */
    call->value = calloc(1, sizeof(struct sockaddr_storage) + 1);
    if (!call->value)
        return -ENOMEM;
    call->value_size = (size_t)length;
    return length
               ? caller_read(call->caller, call->notif->data.args[1], call->value, (size_t)length)
               : 0;
}

int connect_perform(struct call *call)
{
    struct dial dial = {.call = call->notif->id,
                        .tid = (pid_t)call->notif->pid,
                        .at = call_int(call, 0),
                        .inside = -EBADF,
                        .host = -EBADF,
                        .status_fd = -EBADF,
                        .to_bytes = (socklen_t)call->value_size};
    int r;

    if (call->is_continued)
        return 0;
    memcpy(&dial.to, call->value, sizeof(dial.to));
    if (!is_inside(call) && dial.to.ss_family == AF_UNSPEC)
        return call_refuse(call, FOREIGN, EACCES);
    dial.waits = !(fcntl(call->socket, F_GETFL) & O_NONBLOCK);
    dial.inside = call->socket;
    r = is_inside(call) ? dials_connect(call->dials, &dial, &call->is_kept)
                        : dials_wait(call->dials, &dial, &call->is_kept);
    call->socket = dial.inside;
    return r;
}

int listen_prepare(struct call *call)
{
    return take_socket(call);
}

int listen_perform(struct call *call)
{
    if (call->is_continued)
        return 0;
    if (!is_inside(call))
        return call_refuse(call, FOREIGN, EACCES);
    return listen(call->socket, call_int(call, 1)) < 0 ? -errno : 0;
}

/* Whether it asks for interfaces, addresses or routes: of the network that the socket is of. */
static bool is_about_network(const struct call *call)
{
    return (call->notif->data.args[1] & 0xffffff00U) == 0x8900;
}

int ioctl_prepare(struct call *call)
{
    int r;

    if (!is_about_network(call))
        return change_prepare_flags(call);
    r = caller_take_fd(call->caller, call_int(call, 0));
    if (r < 0)
        return r;
    call->socket = r;
    call->is_ours = call->is_continued = true;
    return 0;
}

int ioctl_perform(struct call *call)
{
    uint64_t net;

    if (!is_about_network(call))
        return change_flags(call);
    net = handed_net(call->socket);
    if (net == 0 || net == call->dials->net)
        return 0;
    call->is_continued = false;
    return call_refuse(call, FOREIGN, EPERM);
}
