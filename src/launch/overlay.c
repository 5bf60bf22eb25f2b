/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: the kernel takes tree and layer by name. The names lead through descriptors of
 * ours in the procfs around us, so that nobody swaps what they stand for. KERNEL: what is mounted
 * in no namespace cannot be a layer, so trees that the launcher opened are mounted on the shelf
 * first. A proof has no session: its layers are on a tmpfs that goes with it.
 */
#include "launch/overlay.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/layers.h"
#include "base/mounts.h"
#include "base/mutant.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "launch/remount.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of <linux/mount.h>, which cannot be included together with libc's. */
enum { CONFIG_FLAG = 0, CONFIG_STRING = 1, CONFIG_CREATE = 6, OPEN_CLOEXEC = 1 };

/* SECURITY: the directory that the launcher looked at, and no other by its name. */
static int open_layer(const struct launch_layer *layer, struct bawn_error *err)
{
    autoclose int fd = sys_openat2(AT_FDCWD, layer->path, O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    struct stat status = {0};

    if (fd < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "open %s", layer->path);
    if (status.st_dev != layer->dev || status.st_ino != layer->ino)
        return error_errno(err, ESTALE, "open %s", layer->path);
    return take_fd(&fd);
}

int overlay_clone_layer(const struct launch_layer *layer, int userns_fd, struct bawn_error *err)
{
    struct sys_mount_attr attr = {
        .attr_set = SYS_MOUNT_IDMAP, .propagation = MS_PRIVATE, .userns_fd = (uint64_t)userns_fd};
    autoclose int fd = open_layer(layer, err);
    autoclose int tree = -EBADF;

    if (fd < 0)
        return fd;
    tree = sys_open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return error_errno(err, errno, "open_tree %s", layer->path);
    if (sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr) < 0) {
        (void)error_errno(err, errno, "map the ids of %s", layer->path);
        error_hint(err, "the file system of your home cannot map ids: use --as-root, or run bawn "
                        "as the owner of the files");
        return -errno;
    }
    return take_fd(&tree);
}

/* Mounts a tree of the launcher's on the shelf and opens it there. */
static int mount_aside(int tree, const char *name, struct bawn_error *err)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), ROOT_SHELF "%s", name);
    if (sys_move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return error_errno(err, errno, "move_mount to %s", path);
    fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error_errno(err, errno, "open %s", path) : fd;
}

/* A layer that ends with the sandbox. */
static int make_passing(struct bawn_error *err)
{
    const char *path = ROOT_SHELF OVERLAY_LAYER;
    autoclose int fd = -EBADF;

    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") < 0)
        return error_errno(err, errno, "mount a tmpfs for a layer");
    fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || mkdirat(fd, LAYERS_UPPER, 0755) < 0 || mkdirat(fd, LAYERS_WORK, 0755) < 0)
        return error_errno(err, errno, "make a layer");
    return take_fd(&fd);
}

static int set_path(int fs, const char *key, int fd, const char *within)
{
    char value[64];

    (void)snprintf(value, sizeof(value), "self/fd/%d%s", fd, within);
    return (int)syscall(SYS_fsconfig, fs, CONFIG_STRING, key, value, 0);
}

/* The working directory is the procfs around us. */
static int make_mount(int lower, int layer, uint64_t attributes)
{
    autoclose int fs = (int)syscall(SYS_fsopen, "overlay", OPEN_CLOEXEC);
    int tree;

    if (fs < 0 || set_path(fs, "lowerdir", lower, "") < 0 ||
        set_path(fs, "upperdir", layer, "/" LAYERS_UPPER) < 0 ||
        set_path(fs, "workdir", layer, "/" LAYERS_WORK) < 0 ||
        syscall(SYS_fsconfig, fs, CONFIG_FLAG, "userxattr", NULL, 0) < 0 ||
        syscall(SYS_fsconfig, fs, CONFIG_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    tree = (int)syscall(SYS_fsmount, fs, OPEN_CLOEXEC, attributes);
    return tree < 0 ? -errno : tree;
}

/* KERNEL: what is mounted below a tree is not seen through an overlay: what is there would be
 * missing, or shown as it was before. The plan knows what was mounted when it was made. */
static int refuse_mounts(struct root *root, const char *source, struct bawn_error *err)
{
    struct mounts_row row;
    const char *rest;
    int result = root->mounts ? 0 : mounts_read(root->proc, "self/mountinfo", &root->mounts, err);

    if (result < 0)
        return result;
    for (rest = root->mounts; mounts_next(&rest, &row);) {
        if (strcmp(row.point, source) == 0 || !path_is_below(row.point, source))
            continue;
        (void)error_set(err, EBUSY, "launch.overlay",
                        "no overlay over %s: something is mounted in it, at %s", source, row.point);
        error_hint(err, "name directories in it that have no mounts, or use mode rw");
        return -EBUSY;
    }
    return 0;
}

static int refuse(const struct root *root, const struct image_mount *step, int errnum,
                  struct bawn_error *err)
{
    const char *source = image_string(root->image, step->source);

    (void)error_errno(err, errnum, "mount an overlay over %s", source);
    if (errnum == EINVAL)
        error_hint(err,
                   "the file system of your home cannot hold a layer, such as that of a container "
                   "or of a network; use mode rw");
    else if (errnum == ELOOP)
        error_hint(err, "overlays cannot be stacked higher; use mode rw");
    else
        error_hint(err, "'bawn doctor' says whether overlays work here; mode rw does without");
    return -errnum;
}

int overlay_place(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    bool is_mapped = step->flags & STEP_IDMAP;
    uint64_t set = SYS_MOUNT_NOSUID | SYS_MOUNT_NODEV;
    autoclose int lower = -EBADF;
    autoclose int layer = -EBADF;
    autoclose int tree = -EBADF;
    unsigned number = root->overlays++;
    int result = refuse_mounts(root, image_string(root->image, step->source), err);

    if (result < 0)
        return result;
    lower = is_mapped ? mount_aside(*root->trees++, OVERLAY_LOWER, err)
                      : root_open_source(root->image, step, err);
    if (lower < 0)
        return lower;
    if (!root->layers)
        layer = make_passing(err);
    else if (is_mapped)
        layer = mount_aside(*root->trees++, OVERLAY_LAYER, err);
    else
        layer = open_layer(&root->layers[number], err);
    if (layer < 0)
        return layer;
    if (fchdir(root->proc) < 0)
        return error_errno(err, errno, "fchdir");
    tree = make_mount(lower, layer, LAYER("mount") ? set : 0);
    if (fchdir(root->fd) < 0)
        return error_errno(err, errno, "fchdir");
    return tree < 0 ? refuse(root, step, -tree, err) : root_attach(root, step, tree, err);
}
