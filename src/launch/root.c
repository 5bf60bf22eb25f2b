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
#include "launch/root_place.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "launch/remount.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Whether it keeps something of a tree away from the command: then it cannot be left out. */
static bool is_hold(const struct image_mount *step)
{
    return step->step == STEP_TMPFS || step->step == STEP_PRIVATE || step->step == STEP_MASK_DIR ||
           step->step == STEP_MASK_FILE || step->step == STEP_MASK_KEPT ||
           step->step == STEP_SHELF || step->step == STEP_SEAL || step->step == STEP_PIN ||
           step->step == STEP_SHUT;
}

static int place_one(struct root *root, const struct image_mount *step, struct bawn_error *err)
{
    const char *target = image_string(root->image, step->target);
    int result;

    if (closed_hides(&root->closed, target)) {
        root->trees += step->flags & STEP_IDMAP ? 1 : 0;
        root->trees += step->flags & STEP_IDMAP && step->step == STEP_OVERLAY && root->layers;
        root->overlays += step->step == STEP_OVERLAY;
        return 0;
    }
    result = root_place(root, step, err);
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

        if (result < 0 ||
            (step->step != STEP_BIND && step->step != STEP_OVERLAY && step->step != STEP_AGAIN) ||
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
    int result;

    if (chdir("/proc") < 0)
        return error_errno(err, errno, "enter the new root");
    if (image_count(root->image, PART_MOUNTS) && (*first)->step == STEP_BIND &&
        !*image_string(root->image, (*first)->target)) {
        result = root_place_base(root, (*first)++, err);
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
    struct root root = {.image = request->image,
                        .trees = trees,
                        .is_delegated = request->is_delegated,
                        .layers = request->layers,
                        .fd = -EBADF,
                        .remount_proc = -EBADF};
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
    free(root.mounts);
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
