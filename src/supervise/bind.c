/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind(2) on behalf of the caller.
 *
 * How it works: the caller's socket is taken over as a second descriptor and bound
 * here. What it is bound to its owner reads back byte by byte, so a path is walked
 * as it was given: by a child that has the caller's root, directory, ids and umask,
 * and no capability. Where the path leads is judged before; where the socket came to
 * be is judged once more after, for meanwhile another sandbox may have moved a link.
 */
#include "base/cleanup.h"
#include "kernel/process.h"
#include "supervise/become.h"
#include "supervise/call.h"
#include "supervise/identity.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE 0x89e0
#endif
#ifndef SIOCGSKNS
#define SIOCGSKNS 0x894c
#endif

enum { RESERVED_PORTS = 1024, NETLINK_TRIES = 64, LOST = 255 };

static int address_family(const struct call *call)
{
    sa_family_t family;

    memcpy(&family, call->value, sizeof(family));
    return call->value_size >= sizeof(family) ? family : AF_UNSPEC;
}

/* Its first byte is behind the family; a name that begins with a zero is no path. */
bool bind_is_path(const struct call *call)
{
    return call->domain == AF_UNIX && address_family(call) == AF_UNIX &&
           call->value_size > offsetof(struct sockaddr_un, sun_path) &&
           call->value_size <= sizeof(struct sockaddr_un) &&
           call->value[offsetof(struct sockaddr_un, sun_path)];
}

int bind_prepare(struct call *call)
{
    int length = call_int(call, 2);
    socklen_t size = sizeof(call->domain);
    int r = caller_take_fd(call->caller, call_int(call, 0));

    if (r < 0)
        return r;
    call->socket = r;
    if (getsockopt(call->socket, SOL_SOCKET, SO_DOMAIN, &call->domain, &size) < 0)
        return -errno;
    if (length < 0 || (size_t)length > sizeof(struct sockaddr_storage))
        return -EINVAL;
    /* With a zero behind it: a path need not have one. */
    call->value = calloc(1, sizeof(struct sockaddr_storage) + 1);
    if (!call->value)
        return -ENOMEM;
    call->value_size = (size_t)length;
    if (length > 0)
        r = caller_read(call->caller, call->notif->data.args[1], call->value, (size_t)length);
    if (r < 0 || !bind_is_path(call))
        return r < 0 ? r : 0;
    r = caller_open_dir(call->caller, AT_FDCWD);
    if (r < 0)
        return r;
    call->starts[0] = r;
    return 0;
}

/* Whether nobody's rights are asked for. Those of the supervisor are more than the caller's: the
 * sandbox's namespaces are its own. */
static bool is_free(const struct call *call)
{
    struct sockaddr_storage address;
    unsigned port = 0;

    memcpy(&address, call->value, sizeof(address));
    switch (call->domain) {
    case AF_UNIX:
        return !bind_is_path(call);
    case AF_INET:
        port = ntohs(((struct sockaddr_in *)&address)->sin_port);
        return port == 0 || port >= RESERVED_PORTS;
    case AF_INET6:
        port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
        return port == 0 || port >= RESERVED_PORTS;
    case AF_NETLINK:
        return ((struct sockaddr_nl *)&address)->nl_groups == 0;
    default:
        return false;
    }
}

/* A descriptor that the socket gives of what it has, or a negative errno: only who owns the
 * socket's network may ask. */
static int ask_socket(const struct call *call, unsigned long request)
{
    int fd;
    int r;

    identity_leave(call->identity);
    fd = ioctl(call->socket, request, 0);
    if (fd < 0)
        fd = -errno;
    r = identity_enter(call->identity);
    if (r < 0 && fd >= 0) {
        (void)close(fd);
        fd = r;
    }
    return fd;
}

/* SECURITY: a connection that came in as a stream is of the host's network: a name that is no path
 * would be taken there. */
bool bind_is_of_other_net(const struct call *call)
{
    autoclose int net = ask_socket(call, SIOCGSKNS);

    return net < 0 ? !caller_shares_net(call->caller) : !caller_is_in_net(call->caller, net);
}

static bool is_unnamed(const struct call *call)
{
    struct sockaddr_nl address;

    memcpy(&address, call->value, sizeof(address));
    return call->value_size >= sizeof(address) && address.nl_family == AF_NETLINK &&
           address.nl_pid == 0 && address.nl_groups == 0;
}

/*
 * The kernel names a netlink socket after the process that binds it, or by a negative number. That
 * process is the caller; ours is nothing to be told inside.
 */
static int bind_netlink(const struct call *call)
{
    struct sockaddr_nl address;
    struct caller_ids ids;
    int r = caller_ids(call->caller, &ids);

    memcpy(&address, call->value, sizeof(address));
    for (unsigned i = 0; r == 0 && i < NETLINK_TRIES; i++) {
        address.nl_pid =
            i == 0 ? (unsigned)ids.tgid : 1U << 31 | (((unsigned)call->notif->id + i) & INT32_MAX);
        if (bind(call->socket, (struct sockaddr *)&address, sizeof(address)) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return -errno;
    }
    return r < 0 ? r : -EADDRINUSE;
}

/*
 * Holds:    the call, and all that the supervisor has open.
 * Must:     have no right that the caller has not, before it binds.
 * Mustn't:  open anything, or be known inside: it is none of the sandbox's processes.
 */
static _Noreturn void bind_as_caller(const struct call *call, int cwd)
{
    if (!become_caller(call, cwd))
        _exit(LOST);
    _exit(bind(call->socket, (const struct sockaddr *)call->value, (socklen_t)call->value_size) < 0
              ? errno
              : 0);
}

static int bind_elsewhere(const struct call *call, int cwd)
{
    pid_t pid = process_split(-EBADF, NULL);
    int status = 0;

    if (pid == 0)
        bind_as_caller(call, cwd);
    if (pid < 0)
        return -EAGAIN;
    if (waitpid(pid, &status, __WALL) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == LOST)
        return -EACCES;
    return -WEXITSTATUS(status);
}

static int judge_name(const struct call *call, int fd, const char *path, bool is_anchored)
{
    /* Below the name of a socket nothing can be, and so what a rule is about could not come. */
    return guard_has_below(call->guard, path)
               ? -EACCES
               : call_judge_object(call, fd, path, is_anchored, PATH_WRITE);
}

/* Takes away a socket that came to be where none may be. */
static void remove_landed(const struct call *call, int landed, const char *path)
{
    autolocation struct location at = LOCATION_NONE;
    struct locator locator = call->locator;
    autoclose int nowhere = -EBADF;
    autoclose int found = -EBADF;

    if (locate(&locator, &nowhere, path, &at) < 0)
        return;
    found = openat(at.dir, at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found >= 0 && locate_is_same(found, landed))
        (void)unlinkat(at.dir, at.name, 0);
}

static int judge_landing(const struct call *call, const struct location *at)
{
    /* It fails where the network is the host's. */
    autoclose int landed = ask_socket(call, SIOCUNIXFILE);
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    int r;

    if (landed < 0)
        return fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode)
                   ? 0
                   : call_refuse(call, at->path, EACCES);
    r = locate_path(&call->locator, landed, path);
    if (r == 0)
        r = judge_name(call, landed, path, false);
    if (r == 0)
        return 0;
    remove_landed(call, landed, path);
    return call_refuse(call, path, EACCES);
}

/*
 * A path through /proc/self leads elsewhere in another process. What it is meant to be is known:
 * the socket is made there by its last name, which is what its owner then reads back.
 */
static int bind_by_name(struct call *call, const struct location *at)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s%s", at->name,
                          at->has_slash ? "/" : "");

    if (length < 0 || (size_t)length >= sizeof(address.sun_path))
        return -ENOENT;
    memcpy(call->value, &address, sizeof(address));
    call->value_size = offsetof(struct sockaddr_un, sun_path) + (size_t)length + 1;
    return bind_elsewhere(call, at->dir);
}

static int bind_path(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    autoclose int start = fcntl(call->starts[0], F_DUPFD_CLOEXEC, 0);
    const char *path = (const char *)call->value + offsetof(struct sockaddr_un, sun_path);
    int r = start < 0 ? -errno : locate(&call->locator, &start, path, &at);

    if (r < 0)
        return r;
    if (strcmp(at.name, ".") == 0)
        return -EADDRINUSE;
    if (judge_name(call, at.dir, at.path, at.is_anchored) < 0) {
        r = call_refuse_new(call, &at);
        return r == -EEXIST ? -EADDRINUSE : r;
    }
    r = bind_elsewhere(call, call->starts[0]);
    if (r == -ENOENT)
        r = bind_by_name(call, &at);
    return r < 0 ? r : judge_landing(call, &at);
}

int bind_perform(struct call *call)
{
    if (bind_is_path(call))
        return bind_path(call);
    if (bind_is_of_other_net(call))
        return call_refuse(call, "(a socket from outside)", EACCES);
    if (call->domain == AF_NETLINK && is_unnamed(call))
        return bind_netlink(call);
    /* SECURITY: of a path no byte gets here: it would be the supervisor's own. */
    if (!is_free(call))
        return bind_elsewhere(call, -EBADF);
    return bind(call->socket, (const struct sockaddr *)call->value, (socklen_t)call->value_size) < 0
               ? -errno
               : 0;
}
