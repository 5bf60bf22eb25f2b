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
 *
 * Where what a rule asks about is shown, sockets of files lie there as well, and no mount keeps
 * anybody from connecting to one. So there every connection is made here: one that is left to the
 * caller could become another by then. A socket file is taken hold of, judged, and connected to by
 * that; datagrams, which need no connection, the filter refuses.
 */
#include "base/cleanup.h"
#include "supervise/call.h"
#include "supervise/dials.h"
#include "supervise/handed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

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

static bool is_handed_over(const struct call *call)
{
    return (call->options->image->flags & IMAGE_HANDS_OVER) && handed_is_tcp(call->socket);
}

static bool is_inside(const struct call *call)
{
    return handed_net(call->socket) == call->dials->net;
}

static bool judges_files(const struct call *call)
{
    uint32_t wanted = IMAGE_ASKS | IMAGE_HOLDS_READS;

    return (call->options->image->flags & wanted) == wanted;
}

/* Where its path starts, and the path. */
static int take_file(struct call *call)
{
    int r = caller_open_dir(call->caller, AT_FDCWD);

    if (r < 0)
        return r;
    call->starts[0] = r;
    (void)snprintf(call->paths[0], sizeof(call->paths[0]), "%s",
                   (const char *)call->value + offsetof(struct sockaddr_un, sun_path));
    return 0;
}

int connect_prepare(struct call *call)
{
    int length = call_int(call, 2);
    socklen_t size = sizeof(call->domain);
    int r = take_socket(call);

    if (r < 0 || (call->is_continued && !judges_files(call)))
        return r;
    if (getsockopt(call->socket, SOL_SOCKET, SO_DOMAIN, &call->domain, &size) < 0)
        return -errno;
    if (length < 0 || (size_t)length > sizeof(struct sockaddr_storage))
        return -EINVAL;
    /* One more than is read, as bind has it. */
    call->value = calloc(1, sizeof(struct sockaddr_storage) + 1);
    if (!call->value)
        return -ENOMEM;
    call->value_size = (size_t)length;
    if (length)
        r = caller_read(call->caller, call->notif->data.args[1], call->value, (size_t)length);
    if (r < 0 || !judges_files(call) || is_handed_over(call))
        return r;
    call->is_ours = call->is_continued = false;
    return bind_is_path(call) ? take_file(call) : 0;
}

/* SECURITY: as Landlock has it for the caller, and not for us. */
static bool is_barred(const struct call *call)
{
    const struct image *image = call->options->image;

    switch (call->domain) {
    case AF_UNIX:
        return image->landlock_scoped && !(image->flags & IMAGE_OWN_NET);
    case AF_INET:
    case AF_INET6:
        return image->landlock_net && handed_is_tcp(call->socket);
    default:
        return true; /* with more rights than the caller's */
    }
}

static int judge_file(const struct call *call, const struct followed *found)
{
    const char *path = found->at.path;
    char buffer[GUARD_PATH_BYTES];
    struct path_decision decision;

    if (decide_socket(&call->guard->policy, guard_outside(call->guard, path, buffer), &decision) <
            0 ||
        (!found->at.is_anchored && !locate_is_inside(&call->locator, found->object)))
        return -EACCES;
    if (decision.access < ACCESS_ASK)
        return 0;
    return decision.access == ACCESS_ASK && questions_put(call, path, QUESTION_WRITE, &decision)
               ? 0
               : -EACCES;
}

static int connect_file(struct call *call)
{
    autofollowed struct followed found = FOLLOWED_NONE;
    int r = call_follow(call, true, &found);

    if (r < 0)
        return r;
    if (judge_file(call, &found) < 0)
        return call_refuse(call, found.at.path, EACCES);
    call->fd = take_fd(&found.object);
    call->must_wait = true;
    return 0;
}

/* What is no TCP that is handed over. */
static int connect_here(struct call *call)
{
    if (bind_is_path(call))
        return connect_file(call);
    if (bind_is_of_other_net(call))
        return call_refuse(call, FOREIGN, EACCES);
    if (is_barred(call))
        return call_refuse(call, "(a socket that is no file)", EPERM);
    call->must_wait = true;
    return 0;
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
    if (!call->is_ours)
        return connect_here(call);
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
