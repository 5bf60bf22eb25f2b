/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's side: namespaces, id maps, and the wait until pid 1 is confined. */
#include "launch/launch.h"

#include "backend/backend.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/sys.h"
#include "launch/own.h"
#include "wire/strings.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { POST_MS = 1000 };

/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes to it */
static long clone_into(const struct launch_request *request, int *ret_pidfd)
{
    /* The other namespaces it makes itself, while the network is being made beside it. */
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_NEWUSER | CLONE_NEWPID,
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = SIGCHLD,
    };

    if (!LAYER("pidns"))
        args.flags &= ~(__u64)CLONE_NEWPID;
    return sys_clone3(&args, request->cgroup_fd);
}

static int refuse_namespaces(int errnum, struct bawn_error *err)
{
    (void)error_errno(err, errnum, "make the namespaces of the sandbox");
    error_hint(err, "user namespaces are refused here; 'bawn doctor' says why and what to do");
    return -errnum;
}

static int await_ready(struct launch *launch, bool with_spaces, struct bawn_error *err)
{
    struct sync_message message;
    char bytes[sizeof(struct bawn_error)];
    size_t size = sizeof(bytes);
    int fds[SYNC_FDS];
    size_t next = 0;
    int result = sync_receive(launch->sock, &message, bytes, &size, fds, err);

    if (result < 0)
        return result;
    if (message.point == SYNC_FAILED)
        result = error_take(bytes, size, err);
    if (result < 0)
        return result;
    launch->root_fd = take_fd(&fds[next++]);
    if (with_spaces) {
        launch->user_ns = take_fd(&fds[next++]);
        launch->mount_ns = take_fd(&fds[next++]);
    }
    while (launch->listener_count < message.further && launch->listener_count < STEER_LISTENERS)
        launch->listeners[launch->listener_count++] = take_fd(&fds[next++]);
    if (message.value & READY_DIAG)
        launch->diag_fd = take_fd(&fds[next++]);
    if (message.value & READY_ROUTE)
        launch->route_fd = take_fd(&fds[next++]);
    if (message.value & READY_RULES)
        launch->rules_fd = take_fd(&fds[next++]);
    launch->notify_fd = take_fd(&fds[next]);
    packet_drop_fds(fds, SYNC_FDS);
    if (message.point != SYNC_READY || launch->root_fd < 0)
        return error_set(err, EPROTO, "launch.protocol", "awaited 'ready', got '%s'",
                         sync_word(message.point));
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -EBADF;
}

void launch_kill(const struct launch *launch)
{
    (void)sys_pidfd_send_signal(launch->pidfd, SIGKILL);
}

void launch_end(struct launch *launch)
{
    if (launch->pidfd >= 0) {
        launch_kill(launch);
        while (waitpid(launch->pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
    }
    /* SECURITY: while the rules about it are there. */
    if (launch->veth.index)
        veth_remove(launch->veth.index);
    launch->veth.index = 0;
}

void launch_close(struct launch *launch)
{
    close_one(&launch->pidfd);
    close_one(&launch->sock);
    close_one(&launch->notify_fd);
    close_one(&launch->root_fd);
    close_one(&launch->user_ns);
    close_one(&launch->mount_ns);
    while (launch->listener_count > 0)
        close_one(&launch->listeners[--launch->listener_count]);
    close_one(&launch->diag_fd);
    close_one(&launch->route_fd);
    close_one(&launch->rules_fd);
    close_one(&launch->veth.table_fd);
}

static int refuse_long(size_t size, unsigned count, struct bawn_error *err)
{
    (void)error_set(err, E2BIG, "run.too_long",
                    "the command's arguments and environment: %u with %zu bytes, more than %d "
                    "with %d",
                    count, size, STRINGS_MAX, SYNC_BYTES_MAX);
    error_hint(err, "pass them in a file, or on standard input");
    return -E2BIG;
}

/* SECURITY: a pid 1 that takes nothing must not hold up who watches over the limits.
 * KERNEL: POLLOUT means that half of the buffer is free, and then no message waits. */
static int post(struct launch *launch, const struct sync_message *message, const char *bytes,
                size_t size, const int *fds, size_t fd_count, struct bawn_error *err)
{
    struct pollfd room = {.fd = launch->sock, .events = POLLOUT};

    if (poll(&room, 1, launch->is_deaf ? 0 : POST_MS) > 0) {
        launch->is_deaf = false;
        return sync_send(launch->sock, message, bytes, size, fds, fd_count, err);
    }
    launch->is_deaf = true;
    (void)error_set(err, EAGAIN, "launch.deaf", "the sandbox's pid 1 does not listen");
    error_hint(err, "somebody may have stopped it; 'bawn stop' ends the session");
    return -EAGAIN;
}

int launch_exec(struct launch *launch, const struct launch_command *command, struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_EXEC,
                                   .job = command->job,
                                   .flags = command->flags,
                                   .state = command->state,
                                   .size = command->size};
    size_t size = strlen(command->cwd) + 1 + strings_measure(command->argv, &message.args) +
                  strings_measure(command->envp, &message.envs);
    char small[4096];
    autofree char *big = NULL;
    char *bytes = small;
    char *at;
    int fds[4 + LIMIT_FURTHER_FDS];
    size_t fd_count = 0;

    if (size > SYNC_BYTES_MAX || !strings_are_few(message.args, message.envs))
        return refuse_long(size, message.args + message.envs, err);
    if (size > sizeof(small)) {
        big = malloc(size);
        if (!big)
            return error_memory(err);
        bytes = big;
    }
    at = stpcpy(bytes, command->cwd) + 1;
    (void)strings_add(strings_add(at, command->argv), command->envp);
    for (; !(command->flags & EXEC_OWN) && fd_count < 3; fd_count++)
        fds[fd_count] = command->fds[fd_count];
    if (command->flags & EXEC_WITNESS)
        fds[fd_count++] = command->witness_fd;
    for (; message.further < command->further_count; message.further++) {
        fds[fd_count++] = command->further[message.further];
        message.numbers[message.further] = command->further[message.further];
    }
    return post(launch, &message, bytes, size, fds, fd_count, err);
}

int launch_signal(struct launch *launch, uint32_t job, int signal, struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_SIGNAL, .job = job, .value = signal};

    return post(launch, &message, NULL, 0, NULL, 0, err);
}

int launch_signal_front(struct launch *launch, enum in_front front, int signal)
{
    struct sync_message message = {.point = SYNC_SIGNAL, .value = signal, .flags = front};

    return post(launch, &message, NULL, 0, NULL, 0, NULL);
}

static int make_groups(const struct launch_request *request, const struct launch *launch,
                       struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_JOIN};
    int doors[CGROUP_PATHS];
    int count = request->make_groups(request->groups_context, doors, err);
    int result = count;

    if (count >= 0)
        result = sync_send(launch->sock, &message, NULL, 0, doors, (size_t)count, err);
    while (count > 0)
        (void)close(doors[--count]);
    return result;
}

/*
 * SECURITY: before pid 1 gets a command. Until then nobody but us is in the sandbox. It is done at
 * once, while the maker of the network is being born. Who writes the id maps is late for that: of
 * two cores pid 1 and the maker need both then, so it waits until one is free.
 */
static int see_that_it_holds(const struct launch_request *request, const struct launch *launch,
                             int spare_fd, struct bawn_error *err)
{
    struct pollfd awaited[] = {{.fd = spare_fd, .events = POLLIN},
                               {.fd = launch->sock, .events = POLLIN}};

    /* When pid 1 has failed: at once. */
    if (spare_fd >= 0)
        (void)poll(awaited, 2, -1);
    return request->holds(request->holds_context, err);
}

/* Pid 1 was gone when something was to be sent to it: what it said before tells why. */
static int take_last_word(struct launch *launch, int result, struct bawn_error *err)
{
    struct pollfd said = {.fd = launch->sock, .events = POLLIN};
    struct bawn_error last = {0};

    if ((result != -EPIPE && result != -ECONNRESET && result != -ESRCH) || poll(&said, 1, 0) <= 0 ||
        await_ready(launch, false, &last) >= 0 || last.errnum == EPIPE)
        return result;
    if (err)
        *err = last;
    return -last.errnum;
}

static int refuse_veth(const struct image *image, int errnum, const char *doing,
                       struct bawn_error *err)
{
    if (errnum == EADDRINUSE && image->network_subnet) {
        (void)error_set(err, errnum, "run.subnet",
                        "the network mode veth: this host has a route to sandbox.network.cidr");
        error_hint(err, "choose another one, or leave it out: bawn then takes a free one");
        return -errnum;
    }
    (void)error_errno(err, errnum, "make the network mode veth: %s", doing);
    error_hint(err, errnum == EADDRINUSE
                        ? "the host has routes to all private networks that bawn tries: give it "
                          "four addresses with sandbox.network.cidr, as in 10.9.8.4/30"
                        : "'bawn doctor' says what this kernel lacks; --net isolated does without");
    return -errnum;
}

static int make_veth(const struct image *image, struct launch *launch, struct bawn_error *err)
{
    int result = veth_forwards(AF_INET);

    launch->veth = (struct veth){.subnet = image->network_subnet,
                                 .mtu = image->network_mtu,
                                 .has_v6 = image->network_ipv6,
                                 .table_fd = -EBADF};
    if (result < 0)
        return error_errno(err, -result, "read net.ipv4.ip_forward");
    if (result == 0) {
        (void)error_set(err, ENETUNREACH, "run.no_forwarding",
                        "the network mode veth leads nowhere: this host does not forward packets");
        error_hint(err, "as root: sysctl -w net.ipv4.ip_forward=1; --net isolated does without");
        return -ENETUNREACH;
    }
    if (image->network_ipv6 && veth_forwards(AF_INET6) <= 0) {
        (void)error_set(err, ENETUNREACH, "run.no_forwarding",
                        "IPv6 in the network mode veth leads nowhere: this host does not forward "
                        "packets of it");
        error_hint(err, "sandbox.network.ipv6: false has IPv4 alone; sysctl -w "
                        "net.ipv6.conf.all.forwarding=1 makes the host a router, which takes no "
                        "route from other routers unless accept_ra is 2");
        return -ENETUNREACH;
    }
    result = veth_make(&launch->veth, launch->route_fd);
    close_one(&launch->route_fd);
    return result < 0 ? refuse_veth(image, -result, launch->veth.doing, err) : 0;
}

static int start_native(const struct launch_request *request, struct launch *ret_launch,
                        struct bawn_error *err)
{
    struct launch launch = LAUNCH_NONE;
    bool writes_ids = ids_are_from_outside(request->image);
    autoclose int spare_fd = request->holds && writes_ids ? eventfd(0, EFD_CLOEXEC) : -EBADF;
    int pair[2];
    int result = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, errno, "socketpair");
    launch.sock = pair[0];
    launch.pid = (pid_t)clone_into(request, &launch.pidfd);
    if (launch.pid == 0) {
        /* Or the launcher's end would never show. */
        (void)close(pair[0]);
        stage_setup(request, pair[1], spare_fd);
    }
    result = launch.pid < 0 ? refuse_namespaces(errno, err) : 0;
    (void)close(pair[1]);
    /* Of few cores the kernel gives it ours: it has more to do than we. */
    if (result == 0 && writes_ids)
        (void)sched_yield();
    if (result == 0 && writes_ids)
        result = ids_map(request, &launch, err);
    if (result == 0 && request->make_groups)
        result = make_groups(request, &launch, err);
    if (result == 0 && request->holds)
        result = see_that_it_holds(request, &launch, spare_fd, err);
    if (result == 0 && request->begins)
        result = request->begins(request->begins_context, err);
    if (result == 0 && request->first)
        result = launch_exec(&launch, request->first, err);
    if (result < 0)
        result = take_last_word(&launch, result, err);
    if (result == 0 && request->spares)
        request->spares(request->begins_context);
    if (result == 0)
        result = await_ready(&launch, image_needs_spaces(request->image), err);
    if (result == 0 && (request->image->flags & IMAGE_VETH))
        result = make_veth(request->image, &launch, err);
    if (result < 0) {
        launch_end(&launch);
        launch_close(&launch);
        return result;
    }
    *ret_launch = launch;
    return 0;
}

/* How each backend is started. Which those are the plan reads in its table (backend/backend.c). */
static int (*const starts[BACKEND_COUNT])(const struct launch_request *request,
                                          struct launch *ret_launch, struct bawn_error *err) = {
    [BACKEND_NATIVE] = start_native,
};

bool launch_can_start(enum backend_id id)
{
    return id < BACKEND_COUNT && starts[id];
}

int launch_start(const struct launch_request *request, struct launch *ret_launch,
                 struct bawn_error *err)
{
    enum backend_id id = request->image->backend;

    return launch_can_start(id) ? starts[id](request, ret_launch, err)
                                : error_set(err, ENOTSUP, "launch.backend",
                                            "bawn cannot start commands with the backend '%s'",
                                            backend_row(id)->name);
}
