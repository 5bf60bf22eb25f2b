/* SPDX-License-Identifier: Apache-2.0 */
/* From the first instruction in the new namespaces to a confined pid 1. */
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/facts.h"
#include "kernel/rlimit.h"
#include "kernel/sys.h"
#include "launch/counts.h"
#include "launch/net.h"
#include "launch/own.h"
#include "launch/root.h"
#include "launch/uptime.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The launcher wrote the maps: now be the one that they name. */
static int become(const struct image *image, struct bawn_error *err)
{
    /* Those of an ordinary user are his inside, too. */
    if (image->caller_uid == 0 && setgroups(0, NULL) < 0)
        return error_errno(err, errno, "setgroups");
    if (setresgid(image->inside_gid, image->inside_gid, image->inside_gid) < 0)
        return error_errno(err, errno, "setresgid");
    if (setresuid(image->inside_uid, image->inside_uid, image->inside_uid) < 0)
        return error_errno(err, errno, "setresuid");
    /* The change took it away, and what helps us make the sandbox finds us by /proc or a pidfd.
     * Nobody else can, and confine takes it away for good. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return error_errno(err, errno, "set dumpable");
    return 0;
}

static int await(int sock, enum sync_point point, int fds[SYNC_FDS], struct bawn_error *err)
{
    struct sync_message message;
    int result = sync_receive(sock, &message, NULL, NULL, fds, err);

    if (result == 0 && message.point != point)
        result = error_set(err, EPROTO, "launch.protocol", "awaited '%s', got '%s'",
                           sync_word(point), sync_word(message.point));
    return result;
}

static int enter_namespaces(int flags, struct bawn_error *err)
{
    int errnum;

    if (!LAYER("pidns"))
        flags &= ~CLONE_NEWIPC;
    if (unshare(flags) == 0)
        return 0;
    errnum = errno;
    (void)error_errno(err, errnum, "make the namespaces of the sandbox");
    if (errnum == ENOSPC)
        error_hint(err, "the limit on namespaces is used up: as root, raise user/max_*_namespaces "
                        "in /proc/sys");
    return -errnum;
}

/* What is the root of the namespace is not seen inside: so the group is joined first. */
static int enter_group(bool is_in_ns, int sock, struct bawn_error *err)
{
    int doors[SYNC_FDS];
    int result = await(sock, SYNC_JOIN, doors, err);

    for (int i = 0; i < SYNC_FDS && doors[i] >= 0 && result == 0; i++)
        result = cgroup_enter(doors[i], err);
    return result == 0 && !is_in_ns ? enter_namespaces(CLONE_NEWCGROUP, err) : result;
}

static int enter_ids(const struct image *image, int sock, struct net_maker *maker,
                     int trees[SYNC_FDS], struct bawn_error *err)
{
    int result;

    if (!ids_are_from_outside(image)) {
        result = maker ? net_await_ids(maker) : ids_map_own(image);
        return result < 0 ? error_errno(err, -result, "map the ids of the sandbox") : 0;
    }
    result = await(sock, SYNC_MAPPED, trees, err);
    return result < 0 ? result : become(image, err);
}

static int limit_counts(const struct image *image, struct bawn_error *err)
{
    int result = counts_limit(&image->limits);

    return result < 0 ? error_errno(err, -result, "limit what the user may have") : 0;
}

static int limit_own(const struct image *image, struct bawn_error *err)
{
    const struct image_limits *limits = &image->limits;
    struct rlimit_values values = {.open_files = limits->open_files,
                                   .file_size = limits->file_size,
                                   .processes = limits->cgroup == CGROUP_NONE ? limits->pids : 0};

    return LAYER("cgroup") ? rlimit_apply(&values, err) : 0;
}

/*
 * SECURITY: the parent's end ends us, whenever it comes. Set after the last
 * change of ids, which clears it; and the parent may be gone before: then the
 * socket's other end is closed.
 */
static int die_with_parent(int sock, struct bawn_error *err)
{
    char byte;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return error_errno(err, errno, "set the parent death signal");
    if (recv(sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        return error_set(err, EPIPE, "launch.gone", "the launcher is gone");
    return 0;
}

static bool has_own_net(const struct image *image)
{
    return (image->flags & IMAGE_OWN_NET) && LAYER("netns");
}

/* KERNEL: nobody enters a user or a time namespace who shares memory, as with the maker of the
 * network. */
static bool has_to_be_alone(const struct image *image)
{
    return image->flags & (IMAGE_MAY_NEST | IMAGE_OWN_TIME);
}

/* What the set-up makes and keeps until it is confined. */
struct setup {
    struct net_maker net;
    int root_fd;   /* O_PATH of the new root */
    int spaces[2]; /* the user and the mount namespace, if the launcher is to have them */
    int time_ns;   /* with IMAGE_OWN_TIME */
};

/* While the /proc around us is still there. Later on nobody gets at them: pid 1 is not dumpable. */
static int open_spaces(const struct image *image, int spaces[2], struct bawn_error *err)
{
    if (!image_needs_spaces(image))
        return 0;
    spaces[0] = openat(AT_FDCWD, "/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    spaces[1] = openat(AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    return spaces[0] < 0 || spaces[1] < 0
               ? error_errno(err, errno, "open the namespaces of the sandbox")
               : 0;
}

static int prepare(const struct launch_request *request, int sock, int spare_fd,
                   struct setup *setup, struct bawn_error *err)
{
    const struct image *image = request->image;
    int trees[SYNC_FDS];
    bool may_nest = image->flags & IMAGE_MAY_NEST;
    /* To mount a cgroup file system takes the namespace before. */
    bool is_in_ns = !request->make_groups || may_nest;
    bool has_net = has_own_net(image);
    bool has_time = image->flags & IMAGE_OWN_TIME;
    mode_t mask = umask(0);
    /* First of all: it takes longest. */
    int result = has_net ? net_begin(&setup->net, image, spare_fd, err) : 0;

    if (result == 0)
        result =
            enter_namespaces(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
                                 (is_in_ns ? CLONE_NEWCGROUP : 0) | (has_time ? CLONE_NEWTIME : 0),
                             err);
    if (result == 0)
        result = open_spaces(image, setup->spaces, err);
    if (result == 0 && has_time)
        result = uptime_set(&setup->time_ns, err);
    /* While the launcher writes the maps. SECURITY: in a session of our own no terminal of the
     * host's can become ours, or a command's. */
    if (result == 0 && setsid() < 0)
        result = error_errno(err, errno, "start a session");
    if (result == 0)
        result = confine_bounds(image, err);
    if (result == 0 && sethostname("bawn", 4) < 0)
        result = error_errno(err, errno, "set the host name");
    if (result == 0)
        result = enter_ids(image, sock, has_net ? &setup->net : NULL, trees, err);
    if (result == 0)
        result = die_with_parent(sock, err);
    if (result == 0 && !has_net)
        result = limit_counts(image, err);
    if (!has_net)
        net_tell_spare(spare_fd);
    if (result == 0)
        result =
            root_make(request, ids_are_from_outside(image) ? trees : NULL, &setup->root_fd, err);
    if (result == 0 && has_net)
        result = net_join(&setup->net, err);
    if (result == 0 && request->make_groups)
        result = enter_group(is_in_ns, sock, err);
    if (result == 0 && has_net && has_to_be_alone(image))
        result = net_end(&setup->net, err);
    if (result == 0 && has_time)
        result = uptime_enter(setup->time_ns, err);
    if (result == 0 && may_nest)
        result = nest_enter(image, err);
    if (result == 0 && may_nest)
        result = die_with_parent(sock, err);
    if (result == 0 && request->is_delegated)
        result = cgroup_settle("/sys/fs/cgroup", err);
    (void)umask(mask);
    return result == 0 ? limit_own(image, err) : result;
}

_Noreturn void stage_fail(int sock, const struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_FAILED, .value = err->errnum};

    (void)sync_send(sock, &message, err, sizeof(*err), NULL, 0, NULL);
    _exit(125);
}

/* Beside the listeners: the root, two namespaces, what tells of sockets, and of calls. */
_Static_assert(5 + STEER_LISTENERS <= SYNC_FDS, "one message has all of them");

static int be_ready(const struct image *image, int sock, struct setup *setup,
                    struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_READY};
    bool has_spaces = image_needs_spaces(image);
    int fds[7 + STEER_LISTENERS] = {setup->root_fd, setup->spaces[0], setup->spaces[1]};
    size_t count = has_spaces ? 3 : 1;
    int notify_fd;
    int result = confine(image, &notify_fd, err);

    if (result == 0 && has_own_net(image) && !has_to_be_alone(image))
        result = net_end(&setup->net, err);
    if (result < 0)
        return result;
    if (has_own_net(image))
        message.further = setup->net.steer.count;
    for (unsigned i = 0; i < message.further; i++)
        fds[count++] = setup->net.steer.listeners[i];
    if (message.further > 0 && setup->net.steer.diag_fd >= 0) {
        message.value |= READY_DIAG;
        fds[count++] = setup->net.steer.diag_fd;
    }
    if (message.further > 0 && setup->net.steer.route_fd >= 0) {
        message.value |= READY_ROUTE;
        fds[count++] = setup->net.steer.route_fd;
    }
    if (message.further > 0 && setup->net.steer.rules_fd >= 0) {
        message.value |= READY_RULES;
        fds[count++] = setup->net.steer.rules_fd;
    }
    if (notify_fd >= 0)
        fds[count++] = notify_fd;
    result = sync_send(sock, &message, NULL, 0, fds, count, err);
    /* Everything but the streams and the socket: nothing of the set-up is left to be found. */
    if (result == 0 && LAYER("fds") &&
        (sock > 3 ? sys_close_range(3, (unsigned)sock - 1, 0) : 0) +
                sys_close_range((unsigned)sock + 1, ~0U, 0) <
            0)
        result = error_errno(err, errno, "close_range");
    return result;
}

/* SECURITY: anybody inside reads pid 1's command line; the launcher's names what the policy hides,
 * and may set variables. The strings of the first command came by the socket. */
static void forget_arguments(char **argv)
{
    static const char name[] = "bawn";

    for (size_t i = 0; argv && argv[i]; i++) {
        size_t length = strlen(argv[i]);

        memset(argv[i], 0, length);
        if (i == 0 && length >= sizeof(name) - 1)
            memcpy(argv[i], name, sizeof(name) - 1);
    }
}

_Noreturn void stage_setup(const struct launch_request *request, int sock, int spare_fd)
{
    struct bawn_error err = {0};
    struct setup setup;
    int result = prepare(request, sock, spare_fd, &setup, &err);

    if (result == 0)
        result = be_ready(request->image, sock, &setup, &err);
    if (result < 0)
        stage_fail(sock, &err);
    forget_arguments(request->own_argv);
    stage_init(sock, request->image);
}
