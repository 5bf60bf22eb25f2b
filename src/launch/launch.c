/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's side: namespaces, id maps, and the wait until pid 1 is confined. */
#include "launch/launch.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/sys.h"
#include "launch/own.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

bool image_maps_from_outside(const struct image *image)
{
    return image->host_uid != image->caller_uid || (image->flags & IMAGE_MAY_NEST);
}

static long clone_into(const struct launch_request *request, int *ret_pidfd)
{
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                 CLONE_NEWUTS,
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = SIGCHLD,
    };

    if ((request->image->flags & IMAGE_OWN_NET) && LAYER("netns"))
        args.flags |= CLONE_NEWNET;
    if (!LAYER("pidns"))
        args.flags &= ~(__u64)(CLONE_NEWPID | CLONE_NEWIPC);
    if (request->cgroup_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (__u64)request->cgroup_fd;
    }
    return sys_clone3(&args);
}

static int refuse_namespaces(int errnum, struct bawn_error *err)
{
    (void)error_errno(err, errnum, "make the namespaces of the sandbox");
    error_hint(err, "user namespaces are refused here; 'bawn doctor' says why and what to do");
    return -errnum;
}

static int write_map(int proc_fd, const char *name, const char *map, struct bawn_error *err)
{
    size_t length = strlen(map);
    autoclose int fd = openat(proc_fd, name, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, map, length) != (ssize_t)length)
        return error_errno(err, errno, "write the sandbox's %s", name);
    return 0;
}

/* SECURITY: opened once, while the child cannot have been reaped: the number is still its. */
static int open_proc(const struct launch *launch, struct bawn_error *err)
{
    char path[32];
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)launch->pid);
    fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error_errno(err, errno, "open %s", path) : fd;
}

/* The trees whose files are to belong to the command: only root can give them its ids. */
static int map_trees(const struct launch_request *request, int userns_fd, int trees[SYNC_FDS],
                     size_t *ret_count, struct bawn_error *err)
{
    const struct image *image = request->image;

    *ret_count = 0;
    if (request->skeleton) {
        trees[0] = root_clone_skeleton(request->skeleton, err);
        if (trees[0] < 0)
            return trees[0];
        *ret_count = 1;
    }
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        int tree;

        if (!(step->flags & STEP_IDMAP))
            continue;
        if (*ret_count == SYNC_FDS)
            return error_set(err, E2BIG, "launch.trees", "more than %d writable trees", SYNC_FDS);
        tree = root_clone_mapped(image, step, userns_fd, err);
        if (tree < 0)
            return tree;
        trees[(*ret_count)++] = tree;
    }
    return 0;
}

static int map_ids(const struct launch_request *request, const struct launch *launch,
                   struct bawn_error *err)
{
    const struct image *image = request->image;
    struct sync_message message = {.point = SYNC_MAPPED};
    autoclose int proc_fd = open_proc(launch, err);
    autoclose int userns_fd = -EBADF;
    int trees[SYNC_FDS];
    size_t count = 0;
    char map[64];
    int result;

    if (proc_fd < 0)
        return proc_fd;
    (void)snprintf(map, sizeof(map), "%u %u 1", image->inside_uid, image->host_uid);
    result = write_map(proc_fd, "uid_map", map, err);
    (void)snprintf(map, sizeof(map), "%u %u 1", image->inside_gid, image->host_gid);
    if (result == 0)
        result = write_map(proc_fd, "gid_map", map, err);
    if (result < 0)
        return result;
    userns_fd = openat(proc_fd, "ns/user", O_RDONLY | O_CLOEXEC);
    if (userns_fd < 0)
        return error_errno(err, errno, "open the sandbox's user namespace");
    result = map_trees(request, userns_fd, trees, &count, err);
    if (result == 0)
        result = sync_send(launch->sock, &message, NULL, 0, trees, count, err);
    for (size_t i = 0; i < count; i++)
        (void)close(trees[i]);
    return result;
}

static int await_ready(struct launch *launch, struct bawn_error *err)
{
    struct sync_message message;
    struct bawn_error inner = {0};
    size_t size = sizeof(inner);
    int fds[SYNC_FDS];
    int result = sync_receive(launch->sock, &message, &inner, &size, fds, err);

    if (result < 0)
        return result;
    if (message.point == SYNC_FAILED && size == sizeof(inner) && inner.errnum > 0) {
        if (err)
            *err = inner;
        return -inner.errnum;
    }
    if (message.point != SYNC_READY || fds[0] < 0)
        return error_set(err, EPROTO, "launch.protocol", "awaited 'ready', got '%s'",
                         sync_word(message.point));
    launch->root_fd = fds[0];
    launch->notify_fd = fds[1];
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -EBADF;
}

void launch_end(struct launch *launch)
{
    if (launch->pidfd >= 0) {
        (void)sys_pidfd_send_signal(launch->pidfd, SIGKILL);
        while (waitpid(launch->pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
    }
    close_one(&launch->pidfd);
    close_one(&launch->sock);
    close_one(&launch->notify_fd);
    close_one(&launch->root_fd);
}

static size_t strings_size(char *const *strings, uint32_t *ret_count)
{
    size_t size = 0;

    for (*ret_count = 0; *strings; strings++, ++*ret_count)
        size += strlen(*strings) + 1;
    return size;
}

static char *add_strings(char *at, char *const *strings)
{
    for (; *strings; strings++)
        at = stpcpy(at, *strings) + 1;
    return at;
}

int launch_exec(const struct launch *launch, const struct launch_command *command,
                struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_EXEC,
                                   .job = command->job,
                                   .flags = command->flags,
                                   .state = command->state,
                                   .size = command->size};
    size_t size = strlen(command->cwd) + 1 + strings_size(command->argv, &message.args) +
                  strings_size(command->envp, &message.envs);
    char small[4096];
    autofree char *big = NULL;
    char *bytes = small;
    char *at;

    if (size > SYNC_BYTES_MAX)
        return error_set(err, E2BIG, "run.too_long",
                         "the command's arguments and environment: %zu bytes, more than %d", size,
                         SYNC_BYTES_MAX);
    if (size > sizeof(small) && !(bytes = big = malloc(size)))
        return error_memory(err);
    at = stpcpy(bytes, command->cwd) + 1;
    (void)add_strings(add_strings(at, command->argv), command->envp);
    return sync_send(launch->sock, &message, bytes, size, command->fds,
                     command->flags & EXEC_OWN ? 0 : 3, err);
}

int launch_signal(const struct launch *launch, uint32_t job, int signal, struct bawn_error *err)
{
    struct sync_message message = {.point = SYNC_SIGNAL, .job = job, .value = signal};

    return sync_send(launch->sock, &message, NULL, 0, NULL, 0, err);
}

int launch_start(const struct launch_request *request, struct launch *ret_launch,
                 struct bawn_error *err)
{
    struct launch launch = {.pidfd = -EBADF, .notify_fd = -EBADF, .root_fd = -EBADF};
    int pair[2];
    int result = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, errno, "socketpair");
    launch.sock = pair[0];
    launch.pid = (pid_t)clone_into(request, &launch.pidfd);
    if (launch.pid == 0) {
        /* Or the launcher's end would never show. */
        (void)close(pair[0]);
        stage_setup(request, pair[1]);
    }
    result = launch.pid < 0 ? refuse_namespaces(errno, err) : 0;
    (void)close(pair[1]);
    if (result == 0 && image_maps_from_outside(request->image))
        result = map_ids(request, &launch, err);
    if (result == 0 && request->first)
        result = launch_exec(&launch, request->first, err);
    if (result == 0)
        result = await_ready(&launch, err);
    if (result < 0) {
        launch_end(&launch);
        return result;
    }
    *ret_launch = launch;
    return 0;
}
