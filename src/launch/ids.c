/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's part in who the command is: id maps, and trees whose files get other owners. */
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/sys.h"
#include "launch/copy.h"
#include "launch/overlay.h"
#include "launch/own.h"
#include "launch/root.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

bool ids_are_from_outside(const struct image *image)
{
    return image->host_uid != image->caller_uid || (image->flags & IMAGE_MAY_NEST);
}

static int write_own(const char *path, const char *text)
{
    long length = (long)strlen(text);
    long fd = sys_bare(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0);
    long written = fd < 0 ? fd : sys_bare(SYS_write, fd, (long)text, length, 0);

    return written < 0 ? (int)written : written == length ? 0 : -EIO;
}

int ids_map_own(const struct image *image)
{
    char map[64];
    int result = write_own("/proc/self/setgroups", "deny");

    (void)snprintf(map, sizeof(map), "%u %u 1", image->inside_uid, image->host_uid);
    if (result == 0)
        result = write_own("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "%u %u 1", image->inside_gid, image->host_gid);
    return result == 0 ? write_own("/proc/self/gid_map", map) : result;
}

static int write_map(int proc_fd, const char *name, const char *map, struct bawn_error *err)
{
    size_t length = strlen(map);
    autoclose int fd = openat(proc_fd, name, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, map, length) != (ssize_t)length)
        return error_errno(err, errno, "write the sandbox's %s", name);
    return 0;
}

/* One id each and, where containers run inside, those behind it: 1 and more are the first and more
 * of the range. */
static int write_maps(int proc_fd, const struct image *image, bool has_range,
                      struct bawn_error *err)
{
    char more[64] = "";
    char map[128];
    int result;

    if (has_range)
        (void)snprintf(more, sizeof(more), "\n1 %u %u", image->sub_uid, image->sub_count);
    (void)snprintf(map, sizeof(map), "%u %u 1%s", image->inside_uid, image->host_uid, more);
    result = write_map(proc_fd, "uid_map", map, err);
    if (has_range)
        (void)snprintf(more, sizeof(more), "\n1 %u %u", image->sub_gid, image->sub_count);
    (void)snprintf(map, sizeof(map), "%u %u 1%s", image->inside_gid, image->host_gid, more);
    return result < 0 ? result : write_map(proc_fd, "gid_map", map, err);
}

/* SECURITY: opened once, while the child cannot have been reaped: the number is still its. */
static int open_proc(pid_t pid, struct bawn_error *err)
{
    char path[32];
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error_errno(err, errno, "open %s", path) : fd;
}

/*
 * Ids that are not the caller's own are his by /etc/subuid alone, and only this
 * setuid program may map them. SECURITY: found in one place, with an
 * environment of its own: nothing of the caller's leads to another.
 */
static int run_mapper(const char *program, pid_t pid, uint32_t own, uint32_t first, uint32_t count,
                      struct bawn_error *err)
{
    char numbers[4][16];
    char *argv[] = {(char *)(uintptr_t)program,
                    numbers[0],
                    (char[]){"0"},
                    numbers[1],
                    (char[]){"1"},
                    (char[]){"1"},
                    numbers[2],
                    numbers[3],
                    NULL};
    char *envp[] = {NULL};
    int status = 0;
    pid_t child;

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%d", (int)pid);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", own);
    (void)snprintf(numbers[2], sizeof(numbers[2]), "%u", first);
    (void)snprintf(numbers[3], sizeof(numbers[3]), "%u", count);
    child = fork();
    if (child == 0) {
        (void)execve(program, argv, envp);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    (void)error_set(err, EPERM, "launch.subids", "%s did not map the ids that containers need",
                    program);
    error_hint(err,
               "install it (package uidmap), and give this user %u ids from %u on in /etc/subuid "
               "and /etc/subgid",
               count, first);
    return -EPERM;
}

/* A user namespace with one id. SECURITY: trees of root's are mapped by it and not by that of the
 * sandbox: a user of a container would leave files there that belong to another user of the host.
 */
static int make_mapping(const struct image *image, int *ret_fd, struct bawn_error *err)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    autoclose int proc_fd = -EBADF;
    pid_t own = getpid();
    pid_t child = (pid_t)sys_clone3(&args, -EBADF);
    int result;

    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        while (getppid() == own)
            (void)pause();
        _exit(0);
    }
    if (child < 0)
        return error_errno(err, errno, "make a user namespace for the trees");
    proc_fd = open_proc(child, err);
    result = proc_fd < 0 ? proc_fd : write_maps(proc_fd, image, false, err);
    if (result == 0) {
        *ret_fd = openat(proc_fd, "ns/user", O_RDONLY | O_CLOEXEC);
        if (*ret_fd < 0)
            result = error_errno(err, errno, "open the user namespace of the trees");
    }
    (void)kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return result;
}

/* The child of clone_mounted: leaves what it opens at tree. */
static _Noreturn void mount_and_clone(int mount_fd, const char *name, int tree)
{
    int fd = -EBADF;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        sys_move_mount(mount_fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) == 0)
        fd = sys_open_tree(mount_fd, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0 || dup3(fd, tree, O_CLOEXEC) < 0)
        _exit(errno);
    (void)close(fd);
    _exit(0);
}

/* KERNEL(6.15): before it only what is mounted somewhere can be cloned. So a child that shares our
 * descriptors mounts it, in a namespace that ends with the child. */
static int clone_mounted(int mount_fd, const char *name)
{
    struct clone_args args = {.flags = CLONE_FILES | CLONE_NEWNS, .exit_signal = SIGCHLD};
    autoclose int tree = fcntl(mount_fd, F_DUPFD_CLOEXEC, 0);
    pid_t child = tree < 0 ? -1 : (pid_t)sys_clone3(&args, -EBADF);
    int status = 0;

    if (child == 0)
        mount_and_clone(mount_fd, name, tree);
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0) {
        errno = WEXITSTATUS(status) ? WEXITSTATUS(status) : EIO;
        return -1;
    }
    return take_fd(&tree);
}

/* A device of the caller's that is to be the command's: its twin in a file system of its own. */
static int clone_node(const struct image *image, const struct image_mount *step,
                      struct bawn_error *err)
{
    const char *source = image_string(image, step->source);
    autoclose int fd = openat(AT_FDCWD, source, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    autoclose int fs = -EBADF;
    autoclose int mount = -EBADF;
    struct stat status;
    int tree;

    if (fd < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "look at %s", source);
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
        return error_errno(err, ENODEV, "make a device like %s", source);
    fs = (int)syscall(SYS_fsopen, "tmpfs", 1 /* FSOPEN_CLOEXEC */);
    if (fs >= 0 && syscall(SYS_fsconfig, fs, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, SYS_MOUNT_NOSUID);
    if (mount < 0 || mknodat(mount, "node", status.st_mode, status.st_rdev) < 0 ||
        fchownat(mount, "node", image->host_uid, image->host_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchmodat(mount, "node", status.st_mode & 07777, 0) < 0)
        return error_errno(err, errno, "make a device like %s", source);
    tree = sys_open_tree(mount, "node", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 && errno == EINVAL)
        tree = clone_mounted(mount, "node");
    return tree < 0 ? error_errno(err, errno, "open_tree of a device like %s", source) : tree;
}

static int refuse_many(struct bawn_error *err)
{
    return error_set(err, E2BIG, "launch.trees", "more than %d writable trees", SYNC_FDS);
}

/* The trees whose files are to belong to the command: only root can give them its ids. */
static int map_trees(const struct launch_request *request, int userns_fd, int trees[SYNC_FDS],
                     size_t *ret_count, struct bawn_error *err)
{
    const struct image *image = request->image;
    const struct launch_layer *layer = request->layers;

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
            return refuse_many(err);
        tree = step->step == STEP_NODE   ? clone_node(image, step, err)
               : step->step == STEP_COPY ? copy_open_for(image_string(image, step->source), err)
                                         : root_clone_mapped(image, step, userns_fd, err);
        if (tree < 0)
            return tree;
        trees[(*ret_count)++] = tree;
        if (step->step != STEP_OVERLAY || !layer)
            continue;
        if (*ret_count == SYNC_FDS)
            return refuse_many(err);
        tree = overlay_clone_layer(layer++, userns_fd, err);
        if (tree < 0)
            return tree;
        trees[(*ret_count)++] = tree;
    }
    return 0;
}

static int map_process(const struct image *image, pid_t pid, int proc_fd, struct bawn_error *err)
{
    bool nests = image->flags & IMAGE_MAY_NEST;
    int result;

    if (!nests || image->caller_uid == 0)
        return write_maps(proc_fd, image, nests && image->sub_count > 0, err);
    result = run_mapper("/usr/bin/newuidmap", pid, image->host_uid, image->sub_uid,
                        image->sub_count, err);
    return result < 0 ? result
                      : run_mapper("/usr/bin/newgidmap", pid, image->host_gid, image->sub_gid,
                                   image->sub_count, err);
}

int ids_map(const struct launch_request *request, const struct launch *launch,
            struct bawn_error *err)
{
    const struct image *image = request->image;
    struct sync_message message = {.point = SYNC_MAPPED};
    autoclose int proc_fd = open_proc(launch->pid, err);
    autoclose int userns_fd = -EBADF;
    int trees[SYNC_FDS];
    size_t count = 0;
    int result = proc_fd < 0 ? proc_fd : map_process(image, launch->pid, proc_fd, err);

    if (result < 0)
        return result;
    if (image->host_uid != image->caller_uid && (image->flags & IMAGE_MAY_NEST))
        result = make_mapping(image, &userns_fd, err);
    else if ((userns_fd = openat(proc_fd, "ns/user", O_RDONLY | O_CLOEXEC)) < 0)
        result = error_errno(err, errno, "open the sandbox's user namespace");
    if (result == 0)
        result = map_trees(request, userns_fd, trees, &count, err);
    if (result == 0)
        result = sync_send(launch->sock, &message, NULL, 0, trees, count, err);
    for (size_t i = 0; i < count; i++)
        (void)close(trees[i]);
    return result;
}
