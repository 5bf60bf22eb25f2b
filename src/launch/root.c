/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The new root, step by step.
 *
 * How it works: a directory with two others in it, made at every start in a
 * tmpfs or kept from an earlier one. "root" becomes the new root; every target
 * is relative to it. "shelf" holds files of our own that are mounted into the
 * root: unreadable ones for what is masked, and those with a text; the new root
 * shows nothing of it. What is read-only is mounted first and sealed all at
 * once; then comes the rest. Trees that the caller could change meanwhile are
 * cloned by descriptor, sealed while nobody can reach them, and moved into place.
 */
#include "launch/root.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "launch/closed.h"
#include "launch/remount.h"
#include "launch/shut.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* SECURITY: a path of the host is opened without following any link, and used by descriptor:
 * whoever swaps a directory for a link meanwhile gets ELOOP, not a mount. */
enum { RESOLVE_HOST = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

struct root {
    const struct image *image;
    const int *trees; /* id-mapped, used up in order */
    int fd;           /* the new root */
    int host_proc;    /* for a build that leaves the pid namespace out; else -EBADF */
    int remount_proc; /* where there is no mount_setattr: the procfs around us; else -EBADF */
    int proc;         /* the procfs around us */
    struct closed closed;
};

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

static int open_source(const struct image *image, const struct image_mount *step,
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
    autoclose int fd = open_source(image, step, err);
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
    int fd = open_source(root->image, step, err);
    int tree = fd < 0 ? fd : clone_at(fd, err);
    int result = tree < 0                  ? tree
                 : root->remount_proc >= 0 ? 0
                                           : set_attributes(tree, step, -EBADF, err);

    return result < 0 ? result : tree;
}

/* Moves a tree to its target. Inside a tree of the host the target is opened link-free too. */
static int attach(struct root *root, const struct image_mount *step, int tree,
                  struct bawn_error *err)
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
        return attach(root, step, *root->trees++, err);
    tree = clone_source(root, step, err);
    result = tree < 0 ? tree : attach(root, step, tree, err);
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
    return tree < 0 ? tree : attach(root, step, tree, err);
}

/* A file or directory of the shelf; being a clone of a sealed mount, it is sealed too. */
static int place_shelf(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    autoclose int tree = -EBADF;
    char source[64];
    int result = 0;

    if (!LAYER("mount"))
        return 0;
    (void)snprintf(source, sizeof(source), ROOT_SHELF "%s",
                   image_string(root->image, step->source));
    if (step->flags & STEP_IN_TREE) {
        tree = sys_open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        result = tree < 0 ? error_errno(err, errno, "open_tree %s", source)
                          : attach(root, step, tree, err);
    } else if (mount(source, target, NULL, MS_BIND, NULL) < 0) {
        result = fail(err, "mount on", target);
    }
    return result == -ENOENT && (step->flags & STEP_OPTIONAL) ? 0 : result;
}

static int place_entry(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    return root_make_entry(root->image, AT_FDCWD, step, err);
}

static int place_tmpfs(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    bool is_aside = step->flags & STEP_IN_TREE;
    const char *at = is_aside ? ROOT_SHELF "mask-dir" : target;
    unsigned long flags = MS_NOSUID | MS_NODEV | (step->flags & STEP_READ_ONLY ? MS_RDONLY : 0);
    char options[96];
    autoclose int to = -EBADF;
    int result = 0;

    /* Empty files cost memory too: one for each KiB. */
    (void)snprintf(options, sizeof(options), "mode=%o,size=%llu,nr_inodes=%llu",
                   (unsigned)step->mode, (unsigned long long)step->size_bytes,
                   (unsigned long long)step->size_bytes / 1024 + 16);
    /* In a tree of the host no link is followed; and what it covers may be closed to us, so that it
     * cannot be entered: mounted aside, and moved there by descriptor. */
    if (is_aside) {
        to = sys_openat2(AT_FDCWD, target, O_PATH | O_DIRECTORY | O_CLOEXEC,
                         RESOLVE_HOST | RESOLVE_BENEATH);
        result = to < 0 ? to : 0;
    }
    if (result == 0)
        result = mount("tmpfs", at, "tmpfs", flags, options);
    if (result == 0 && is_aside)
        result = sys_move_mount(AT_FDCWD, at, to, "", MOVE_MOUNT_T_EMPTY_PATH);
    return result < 0 ? fail(err, "mount tmpfs on", target) : 0;
}

static int place_kernel(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    int result = 0;

    switch (step->step) {
    case STEP_PROC:
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
        /* SECURITY: an ordinary user's group belongs to him, and so would its limits. */
        result =
            mount("cgroup2", target, "cgroup2", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
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
    autoclose int fd = open_source(root->image, step, err);
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
        return attach(root, step, *root->trees++, err);
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
        result = attach(root, step, tree, err);
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
    [STEP_DIR] = place_entry,   [STEP_FILE] = place_entry,     [STEP_SYMLINK] = place_entry,
    [STEP_TEXT] = place_entry,  [STEP_BIND] = place_bind,      [STEP_TMPFS] = place_tmpfs,
    [STEP_PROC] = place_kernel, [STEP_DEVPTS] = place_kernel,  [STEP_CGROUP] = place_kernel,
    [STEP_NODE] = place_node,   [STEP_MASK_DIR] = place_shelf, [STEP_MASK_FILE] = place_shelf,
    [STEP_SHELF] = place_shelf, [STEP_SEAL] = place_in_place,  [STEP_PIN] = place_in_place,
    [STEP_SEAL_ALL] = seal_all, [STEP_CLOSE] = close_tmpfs,    [STEP_AGAIN] = place_again,
    [STEP_SHUT] = place_shut,
};

/* Whether it keeps something of a tree away from the command: then it cannot be left out. */
static bool is_hold(const struct image_mount *step)
{
    return step->step == STEP_TMPFS || step->step == STEP_MASK_DIR ||
           step->step == STEP_MASK_FILE || step->step == STEP_SHELF || step->step == STEP_SEAL ||
           step->step == STEP_PIN || step->step == STEP_SHUT;
}

static int place_one(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    int result;

    if (!place[step->step])
        return error_set(err, ENOTSUP, "launch.step", "%s: this cannot be mounted yet", target);
    if (closed_hides(&root->closed, target)) {
        root->trees += step->flags & STEP_IDMAP ? 1 : 0;
        return 0;
    }
    result = place[step->step](root, step, err);
    if (result == -EACCES && is_hold(step))
        result = closed_mask(&root->closed, target, err);
    return result;
}

static int place_all(struct root *root, const struct image_mount *first, struct bawn_error *err)
{
    const struct image_mount *steps = image_part(root->image, PART_MOUNTS);
    const struct image_mount *last = steps + image_count(root->image, PART_MOUNTS);

    for (const struct image_mount *step = first; step < last; step++) {
        int result = place_one(root, step, err);

        if (result < 0)
            return result;
    }
    return 0;
}

/* By an empty directory that nobody may look into. */
static int cover(const char *target, struct bawn_error *err)
{
    autoclose int to = sys_openat2(AT_FDCWD, target, O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   RESOLVE_HOST | RESOLVE_BENEATH);
    int result = to < 0 ? -errno : root_cover(to, "mask-dir");

    return result == 0 || result == -ENOENT ? 0 : error_errno(err, -result, "cover /%s", target);
}

/* Wherever a tree shows it. A part of the root that is shown again is named as the root has it. */
static int hide(struct root *root, const char *path, struct bawn_error *err)
{
    char target[2 * LIMIT_PATH_BYTES];
    int result = 0;

    image_each (root->image, PART_MOUNTS, struct image_mount, step) {
        const char *source = image_string(root->image, step->source);
        const char *shown = step->step == STEP_AGAIN ? path + 1 : path;

        if (result < 0 || (step->step != STEP_BIND && step->step != STEP_AGAIN) ||
            !path_is_below(shown, source))
            continue;
        (void)snprintf(target, sizeof(target), "%s%s", image_string(root->image, step->target),
                       shown + (strcmp(source, "/") == 0 ? 0 : strlen(source)));
        result = cover(target + (*target == '/'), err);
        if (result == -EACCES)
            result = closed_mask(&root->closed, target + (*target == '/'), err);
    }
    return result;
}

/* What an earlier start left for us, as the directory that the root is made in. */
static int mount_skeleton(int tree, struct bawn_error *err)
{
    if (tree < 0)
        return tree;
    return sys_move_mount(tree, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0
               ? error_errno(err, errno, "mount the skeleton of the root")
               : 0;
}

/*
 * The directory that the root is made in. On /proc, because every host has it
 * and no step reads anything below it: a directory that holds a granted tree
 * would hide that tree.
 */
static int open_base(struct root *root, const struct launch_request *request,
                     struct bawn_error *err)
{
    int tree = -EBADF;
    int fd = -EBADF;

    if (request->skeleton && root->trees)
        return mount_skeleton(*root->trees++, err);
    if (request->skeleton) {
        tree = root_clone_skeleton(request->skeleton, err);
        return mount_skeleton(tree, err);
    }
    if (mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m") < 0)
        return error_errno(err, errno, "mount the new root");
    fd = openat(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error_errno(err, errno, "open the new root")
                  : root_skeleton(root->image, fd, err);
}

/* The mount that becomes the root: a directory of our own, or a whole tree of the host. */
static int begin(struct root *root, const struct image_mount **first, struct bawn_error *err)
{
    int tree = -EBADF;
    int result;

    if (chdir("/proc") < 0)
        return error_errno(err, errno, "enter the new root");
    if (image_count(root->image, PART_MOUNTS) && (*first)->step == STEP_BIND &&
        !*image_string(root->image, (*first)->target)) {
        tree = clone_source(root, *first, err);
        if (tree < 0)
            return tree;
        if (sys_move_mount(tree, "", AT_FDCWD, "root", MOVE_MOUNT_F_EMPTY_PATH) < 0)
            return error_errno(err, errno, "move_mount to the new root");
        result = seal_mounted(root, (*first)++, tree, err);
        if (result < 0)
            return result;
    } else if (mount("root", "root", NULL, MS_BIND, NULL) < 0) {
        return error_errno(err, errno, "mount the new root");
    }
    root->fd = openat(AT_FDCWD, ROOT_POINT, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0 || fchdir(root->fd) < 0)
        return error_errno(err, errno, "enter the new root");
    return 0;
}

/* SECURITY: a root that was not changed shows the host, and the proof inside may not notice: where
 * a sandbox around us holds, its attempts fail as well. */
static int see_root(int fd, struct bawn_error *err)
{
    struct stat made = {0};
    struct stat seen = {0};

    if (fstat(fd, &made) < 0 || stat("/", &seen) < 0)
        return error_errno(err, errno, "look at the new root");
    if (made.st_dev != seen.st_dev || made.st_ino != seen.st_ino)
        return error_set(err, EPERM, "launch.root", "pivot_root: the root is still the old one");
    return 0;
}

/* What the new root is about to cover. */
static int open_procs(struct root *root, struct bawn_error *err)
{
    root->host_proc =
        LAYER("pidns") ? -EBADF : sys_open_tree(AT_FDCWD, "/proc", AT_RECURSIVE | OPEN_TREE_CLONE);
    root->proc = remount_open_proc(err);
    if (root->image->flags & IMAGE_BIND_REMOUNT)
        root->remount_proc = root->proc;
    return root->proc < 0 ? root->proc : 0;
}

int root_make(const struct launch_request *request, const int *trees, int *ret_fd,
              struct bawn_error *err)
{
    struct root root = {
        .image = request->image, .trees = trees, .fd = -EBADF, .remount_proc = -EBADF};
    const struct image_mount *first = image_part(request->image, PART_MOUNTS);
    int result = open_procs(&root, err);

    if (result == 0)
        result = open_base(&root, request, err);
    if (result == 0)
        result = begin(&root, &first, err);
    if (result == 0)
        result = place_all(&root, first, err);
    if (result == 0 && request->hidden && LAYER("mount"))
        result = hide(&root, request->hidden, err);
    if (result < 0)
        return result;
    /* SECURITY: what the host mounts later on one of these is not for us. */
    if (LAYER("mount") && mount(NULL, ".", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_errno(err, errno, "make the new root private");
    /* The old root ends up on top of the new one, and is taken off by the same name. */
    if (sys_pivot_root(".", ".") < 0)
        return error_errno(err, errno, "pivot_root");
    if (umount2(".", MNT_DETACH) < 0)
        return error_errno(err, errno, "detach the old root");
    *ret_fd = root.fd;
    return request->is_proof ? see_root(root.fd, err) : 0;
}
