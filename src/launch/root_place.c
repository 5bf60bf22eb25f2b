/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/root_place.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/sys.h"
#include "launch/copy.h"
#include "launch/kept.h"
#include "launch/overlay.h"
#include "launch/remount.h"
#include "launch/shut.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* path is a target: relative to the new root. */
static int fail(struct bawn_error *err, const char *call, const char *path)
{
    return error_errno(err, errno, "%s /%s", call, path);
}

static uint64_t attributes(const struct image_mount *step)
{
    uint64_t set = SYS_MOUNT_NOSUID;

    if (!LAYER("mount"))
        return 0;
    if (step->step != STEP_NODE)
        set |= SYS_MOUNT_NODEV;
    if (step->flags & STEP_READ_ONLY)
        set |= SYS_MOUNT_RDONLY;
    if (step->flags & STEP_NO_EXEC)
        set |= SYS_MOUNT_NOEXEC;
    return set;
}

/* A clone of what fd is open on, mounted nowhere yet. */
static int clone_at(int fd, struct bawn_error *err)
{
    int tree =
        sys_open_tree(fd, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    return tree < 0 ? error_errno(err, errno, "open_tree") : tree;
}

/* Gives a clone that is mounted nowhere yet the attributes of its step. */
static int set_attributes(int tree, const struct image_mount *step, int userns_fd,
                          struct bawn_error *err)
{
    struct sys_mount_attr attr = {.attr_set = attributes(step), .propagation = MS_PRIVATE};

    if (userns_fd >= 0) {
        attr.attr_set |= SYS_MOUNT_IDMAP;
        attr.userns_fd = (uint64_t)userns_fd;
    }
    if (sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
        return error_errno(err, errno, userns_fd < 0 ? "mount_setattr" : "mount_setattr (id map)");
    return 0;
}

int root_open_source(const struct image *image, const struct image_mount *step,
                     struct bawn_error *err)
{
    const char *source = image_string(image, step->source);
    int fd = sys_openat2(AT_FDCWD, source, O_PATH | O_CLOEXEC, RESOLVE_HOST);

    if (fd >= 0)
        return fd;
    (void)error_errno(err, errno, "open %s", source);
    if (errno == ELOOP)
        error_hint(err, "a directory on the way became a symbolic link; run it again");
    return -errno;
}

int root_clone_mapped(const struct image *image, const struct image_mount *step, int userns_fd,
                      struct bawn_error *err)
{
    autoclose int fd = root_open_source(image, step, err);
    autoclose int tree = fd < 0 ? fd : clone_at(fd, err);
    int result = tree < 0 ? tree : set_attributes(tree, step, userns_fd, err);

    if (result == 0)
        return take_fd(&tree);
    if (fd >= 0 && err) {
        struct bawn_error why = *err;

        (void)error_set(err, -result, "launch.mount", "mount %s: %s",
                        image_string(image, step->source), why.message);
        error_hint(err, "%s cannot map ids: use --as-root, or run bawn as the owner of the files",
                   remount_is_needed() ? "this kernel, or a filter around us,"
                                       : "this file system");
    }
    return result;
}

/* The attributes of a tree that is mounted by now, where they could not be set before. */
static int seal_mounted(struct root *root, const struct image_mount *step, int tree,
                        struct bawn_error *err)
{
    int result;

    if (root->remount_proc < 0 || !LAYER("mount"))
        return 0;
    result = remount_tree(root->remount_proc, tree, attributes(step), &root->closed, err);
    if (result == 0 && root->fd >= 0 && fchdir(root->fd) < 0)
        result = error_errno(err, errno, "fchdir");
    return result;
}

/* A tree of the host as a mount of its own; sealed while nobody can reach it, if that can be. */
static int clone_source(const struct root *root, const struct image_mount *step,
                        struct bawn_error *err)
{
    int fd = root_open_source(root->image, step, err);
    int tree = fd < 0 ? fd : clone_at(fd, err);
    int result = tree < 0                  ? tree
                 : root->remount_proc >= 0 ? 0
                                           : set_attributes(tree, step, -EBADF, err);

    return result < 0 ? result : tree;
}

int root_attach(struct root *root, const struct image_mount *step, int tree, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    uint64_t nofollow = step->flags & STEP_ON_LINK ? O_NOFOLLOW : 0;
    autoclose int to = -EBADF;

    if (!(step->flags & STEP_IN_TREE)) {
        if (sys_move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
            return fail(err, "move_mount to", target);
        return 0;
    }
    to = sys_openat2(AT_FDCWD, target, O_PATH | O_CLOEXEC | nofollow,
                     RESOLVE_HOST | RESOLVE_BENEATH);
    if (to < 0)
        return fail(err, "open", target);
    if (sys_move_mount(tree, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return fail(err, "move_mount to", target);
    return 0;
}

static int place_bind(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    int tree = -EBADF;
    int result;

    if (step->flags & STEP_STEADY) {
        if (mount(image_string(root->image, step->source), image_string(root->image, step->target),
                  NULL, MS_BIND | MS_REC, NULL) < 0)
            return fail(err, "mount on", image_string(root->image, step->target));
        return 0;
    }
    if (step->flags & STEP_IDMAP)
        return root_attach(root, step, *root->trees++, err);
    tree = clone_source(root, step, err);
    result = tree < 0 ? tree : root_attach(root, step, tree, err);
    return result < 0 ? result : seal_mounted(root, step, tree, err);
}

/* What is there already, read-only or only pinned: cloned from where it is and put on itself. */
static int place_in_place(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    autoclose int at = -EBADF;
    autoclose int tree = -EBADF;
    int result = 0;

    at = sys_openat2(AT_FDCWD, target, O_PATH | O_CLOEXEC, RESOLVE_HOST | RESOLVE_BENEATH);
    if (at < 0)
        return fail(err, "open", target);
    tree = clone_at(at, err);
    if (tree < 0)
        return tree;
    if (root->remount_proc < 0)
        result = set_attributes(tree, step, -EBADF, err);
    if (result < 0)
        return result;
    if (sys_move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return fail(err, "move_mount to", target);
    return seal_mounted(root, step, tree, err);
}

/* What is there already, without its sockets. */
static int place_shut(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    autoclose int at = -EBADF;
    int result;

    if (!LAYER("mount"))
        return 0;
    at = sys_openat2(AT_FDCWD, target, O_PATH | O_CLOEXEC, RESOLVE_HOST | RESOLVE_BENEATH);
    result = at < 0 ? fail(err, "open", target) : shut_tree(root->proc, at, target, err);
    if (fchdir(root->fd) < 0)
        return error_errno(err, errno, "fchdir");
    return step->flags & STEP_OPTIONAL ? 0 : result;
}

/* A part of the new root shown once more, with what is mounted in it. */
static int place_again(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *source = image_string(root->image, step->source);
    autoclose int at = -EBADF;
    autoclose int tree = -EBADF;

    at = sys_openat2(AT_FDCWD, source, O_PATH | O_CLOEXEC, RESOLVE_HOST | RESOLVE_BENEATH);
    if (at < 0)
        return fail(err, "open", source);
    tree = clone_at(at, err);
    return tree < 0 ? tree : root_attach(root, step, tree, err);
}

/* Shows what is on the shelf. */
static int show_shelf(struct root *root, const struct image_mount *step, const char *source,
                      struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    autoclose int tree = -EBADF;

    if (step->flags & STEP_IN_TREE) {
        tree = sys_open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        return tree < 0 ? error_errno(err, errno, "open_tree %s", source)
                        : root_attach(root, step, tree, err);
    }
    return mount(source, target, NULL, MS_BIND, NULL) < 0 ? fail(err, "mount on", target) : 0;
}

/* A file or directory of the shelf; being a clone of a sealed mount, it is sealed too. */
static int place_shelf(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    char source[64];
    int result;

    if (!LAYER("mount"))
        return 0;
    (void)snprintf(source, sizeof(source), ROOT_SHELF "%s",
                   image_string(root->image, step->source));
    result = show_shelf(root, step, source, err);
    return result == -ENOENT && (step->flags & STEP_OPTIONAL) ? 0 : result;
}

/* Empty files cost memory too: one for each KiB. */
static int mount_tmpfs(const char *at, const struct image_mount *step)
{
    unsigned long flags = MS_NOSUID | MS_NODEV | (step->flags & STEP_READ_ONLY ? MS_RDONLY : 0);
    char options[96];

    (void)snprintf(options, sizeof(options), "mode=%o,size=%llu,nr_inodes=%llu",
                   (unsigned)step->mode, (unsigned long long)step->size_bytes,
                   (unsigned long long)step->size_bytes / 1024 + 16);
    return mount("tmpfs", at, "tmpfs", flags, options);
}

static int place_pool(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    (void)root;
    if (mount_tmpfs(ROOT_SHELF "pool", step) < 0)
        return error_errno(err, errno, "mount the tmpfs of the private directories");
    return 0;
}

static int place_private(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    char source[64];

    (void)snprintf(source, sizeof(source), ROOT_SHELF "%s",
                   image_string(root->image, step->source));
    if (mkdir(source, step->mode) < 0)
        return error_errno(err, errno, "make %s", source);
    return show_shelf(root, step, source, err);
}

static int place_entry(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    return step->flags & STEP_IN_TREE ? kept_make_entry(root->image, step, err)
                                      : root_make_entry(root->image, AT_FDCWD, step, err);
}

static int place_copy(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    bool is_open = step->flags & STEP_IDMAP;
    int fd = is_open ? *root->trees++ : copy_open(image_string(root->image, step->source), err);
    int result;

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    result = copy_make(fd, image_string(root->image, step->target), err);
    (void)close(fd);
    return result;
}

static int mask_kept(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    return LAYER("mount") ? kept_mask(root->image, step, err) : 0;
}

static int place_tmpfs(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    bool is_aside = step->flags & STEP_IN_TREE;
    const char *at = is_aside ? ROOT_SHELF "mask-dir" : target;
    autoclose int to = -EBADF;
    int result = 0;

    /* In a tree of the host no link is followed; and what it covers may be closed to us, so that it
     * cannot be entered: mounted aside, and moved there by descriptor. */
    if (is_aside) {
        to = sys_openat2(AT_FDCWD, target, O_PATH | O_DIRECTORY | O_CLOEXEC,
                         RESOLVE_HOST | RESOLVE_BENEATH);
        result = to < 0 ? to : 0;
    }
    if (result == 0)
        result = mount_tmpfs(at, step);
    if (result == 0 && is_aside)
        result = sys_move_mount(AT_FDCWD, at, to, "", MOVE_MOUNT_T_EMPTY_PATH);
    return result < 0 ? fail(err, "mount tmpfs on", target) : 0;
}

/* One file of the procfs around us, which the new root covers. */
static int show_proc_file(const struct root *root, const char *source, const char *target)
{
    autoclose int tree = sys_open_tree(root->proc, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    return tree < 0 ? -1 : sys_move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
}

static int place_kernel(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    int result = 0;

    switch (step->step) {
    case STEP_PROC:
        if (step->flags & STEP_IS_FILE) {
            result = show_proc_file(root, image_string(root->image, step->source), target);
            break;
        }
        if (root->host_proc >= 0) {
            result = sys_move_mount(root->host_proc, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
            break;
        }
        result = mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
        break;
    case STEP_DEVPTS:
        result = mount("devpts", target, "devpts", MS_NOSUID | MS_NOEXEC,
                       "newinstance,ptmxmode=0666,mode=0620");
        break;
    case STEP_CGROUP:
        /* SECURITY: an ordinary user's group belongs to him, and so would its limits. One that is
         * delegated has none: they are those of the group above, which is not shown. */
        result =
            mount("cgroup2", target, "cgroup2",
                  (root->is_delegated ? 0 : MS_RDONLY) | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
        break;
    default:
        errno = EINVAL;
        result = -1;
    }
    if (result < 0 && (step->flags & STEP_OPTIONAL))
        return 0;
    return result < 0 ? fail(err, "mount on", target) : 0;
}

/* SECURITY: what was a device or a socket when the plan was made may be a link or a file by now. */
static int clone_node(const struct root *root, const struct image_mount *step,
                      struct bawn_error *err)
{
    const char *source = image_string(root->image, step->source);
    autoclose int fd = root_open_source(root->image, step, err);
    struct stat status = {0};

    if (fd < 0)
        return fd;
    if (fstat(fd, &status) < 0)
        return error_errno(err, errno, "look at %s", source);
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode) && !S_ISSOCK(status.st_mode))
        return error_set(err, ENODEV, "launch.node", "%s is no device and no socket", source);
    return clone_at(fd, err);
}

/* SECURITY: what is there now, by whatever way it came: a file in the place of the null device
 * would keep what is written to it, for others to read. */
static int check_node(const struct root *root, const struct image_mount *step,
                      struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    struct stat status = {0};

    if (step->size_bytes == 0)
        return 0;
    if (fstatat(AT_FDCWD, target, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(err, "look at", target);
    if (S_ISCHR(status.st_mode) && major(status.st_rdev) == step->size_bytes / 256 &&
        minor(status.st_rdev) == step->size_bytes % 256)
        return 0;
    (void)error_set(err, ENODEV, "launch.node", "/%s of this host is not the device of that name",
                    target);
    error_hint(err, "as root: rm /%s && mknod -m 666 /%s c %llu %llu", target, target,
               (unsigned long long)step->size_bytes / 256,
               (unsigned long long)step->size_bytes % 256);
    return -ENODEV;
}

static int place_node(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *source = image_string(root->image, step->source);
    const char *target = image_string(root->image, step->target);
    autoclose int tree = -EBADF;
    int result = 0;

    if (step->flags & STEP_IDMAP)
        return root_attach(root, step, *root->trees++, err);
    if (!(step->flags & STEP_READ_ONLY)) {
        if (mount(source, target, NULL, MS_BIND, NULL) < 0)
            return fail(err, "mount on", target);
        return check_node(root, step, err);
    }
    tree = clone_node(root, step, err);
    result = tree < 0                  ? tree
             : root->remount_proc >= 0 ? 0
                                       : set_attributes(tree, step, -EBADF, err);
    if (result == 0)
        result = root_attach(root, step, tree, err);
    if (result == 0)
        result = seal_mounted(root, step, tree, err);
    return result < 0 ? result : check_node(root, step, err);
}

static int close_tmpfs(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);

    if (mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) <
        0)
        return fail(err, "seal", target);
    return 0;
}

/* All that is mounted so far, with the directory that the shelf is in. */
static int seal_all(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    /* In a new user namespace every mount is a slave of the host's: what the host mounts later
     * must not appear here. */
    struct sys_mount_attr attr = {.attr_set = SYS_MOUNT_RDONLY | SYS_MOUNT_NOSUID | SYS_MOUNT_NODEV,
                                  .propagation = MS_PRIVATE};

    int fd = -EBADF;

    (void)step;
    if (!LAYER("mount"))
        return 0;
    if (root->remount_proc >= 0) {
        struct image_mount all = {.step = STEP_SEAL_ALL, .flags = STEP_READ_ONLY};

        fd = openat(AT_FDCWD, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? error_errno(err, errno, "open the new root")
                      : seal_mounted(root, &all, fd, err);
    }
    if (sys_mount_setattr(AT_FDCWD, "..", AT_RECURSIVE, &attr) < 0)
        return error_errno(err, errno, "seal the new root");
    return 0;
}

static int (*const place[STEP_COUNT])(struct root *root, const struct image_mount *step,
                                      struct bawn_error *err) = {
    [STEP_DIR] = place_entry,   [STEP_FILE] = place_entry,      [STEP_SYMLINK] = place_entry,
    [STEP_TEXT] = place_entry,  [STEP_BIND] = place_bind,       [STEP_TMPFS] = place_tmpfs,
    [STEP_PROC] = place_kernel, [STEP_DEVPTS] = place_kernel,   [STEP_CGROUP] = place_kernel,
    [STEP_NODE] = place_node,   [STEP_MASK_DIR] = place_shelf,  [STEP_MASK_FILE] = place_shelf,
    [STEP_SHELF] = place_shelf, [STEP_SEAL] = place_in_place,   [STEP_PIN] = place_in_place,
    [STEP_SEAL_ALL] = seal_all, [STEP_CLOSE] = close_tmpfs,     [STEP_AGAIN] = place_again,
    [STEP_SHUT] = place_shut,   [STEP_POOL] = place_pool,       [STEP_PRIVATE] = place_private,
    [STEP_COPY] = place_copy,   [STEP_KEPT] = place_bind,       [STEP_MASK_KEPT] = mask_kept,
    [STEP_TOLD] = place_entry,  [STEP_OVERLAY] = overlay_place,
};

int root_place(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    if (!place[step->step])
        return error_set(err, ENOTSUP, "launch.step", "%s: bawn cannot mount this yet",
                         image_string(root->image, step->target));
    return place[step->step](root, step, err);
}

int root_place_base(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    int tree = clone_source(root, step, err);

    if (tree < 0)
        return tree;
    if (sys_move_mount(tree, "", AT_FDCWD, "root", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return error_errno(err, errno, "move_mount to the new root");
    return seal_mounted(root, step, tree, err);
}
