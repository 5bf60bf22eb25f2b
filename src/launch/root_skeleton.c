/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same at every start of an image: directories, links, and files of our own. */
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/sys.h"
#include "launch/root.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int write_text(int dir_fd, const char *path, const char *text, size_t length, unsigned mode,
                      struct bawn_error *err)
{
    int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        return error_errno(err, errno ? errno : EIO, "write %s", path);
    /* A mount with an open writer cannot be sealed. */
    (void)close(fd);
    return 0;
}

int root_make_entry(const struct image *image, int dir_fd, const struct image_mount *step,
                    struct bawn_error *err)
{
    const char *source = image_string(image, step->source);
    const char *target = image_string(image, step->target);
    int result;

    switch (step->step) {
    case STEP_DIR:
        result = mkdirat(dir_fd, target, step->mode);
        break;
    case STEP_FILE:
        result = mknodat(dir_fd, target, S_IFREG | (step->flags & STEP_ON_SHELF ? 0 : 0444), 0);
        break;
    case STEP_TEXT:
        return write_text(dir_fd, target, source, strlen(source), step->mode, err);
    case STEP_TOLD:
        return write_text(dir_fd, target, image_part(image, PART_TOLD),
                          image_count(image, PART_TOLD), step->mode, err);
    default:
        result = symlinkat(source, dir_fd, target);
    }
    return result < 0 ? error_errno(err, errno, "make /%s", target) : 0;
}

int root_skeleton(const struct image *image, int dir_fd, struct bawn_error *err)
{
    autoclose int root_fd = -EBADF;
    autoclose int shelf_fd = -EBADF;
    int result = 0;

    if (mkdirat(dir_fd, "root", 0755) < 0 || mkdirat(dir_fd, "shelf", 0755) < 0)
        return error_errno(err, errno, "make the new root");
    root_fd = openat(dir_fd, "root", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    shelf_fd = openat(dir_fd, "shelf", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root_fd < 0 || shelf_fd < 0)
        return error_errno(err, errno, "open the new root");
    image_each (image, PART_SKELETON, struct image_mount, step) {
        if (result == 0)
            result =
                root_make_entry(image, step->flags & STEP_ON_SHELF ? shelf_fd : root_fd, step, err);
    }
    return result;
}

int root_clone_skeleton(const struct launch_skeleton *skeleton, struct bawn_error *err)
{
    int fd = sys_openat2(AT_FDCWD, skeleton->path, O_PATH | O_DIRECTORY | O_CLOEXEC,
                         RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    struct stat status = {0};
    int tree = -1;

    /* KERNEL: a descriptor from outside the mount namespace cannot be cloned in it. SECURITY: what
     * has the name now is the directory that was looked at, or it is not used. */
    if (fd >= 0 && fstat(fd, &status) == 0 &&
        (status.st_dev != skeleton->dev || status.st_ino != skeleton->ino))
        return error_set(err, ESTALE, "launch.skeleton", "%s is another directory by now",
                         skeleton->path);
    if (fd >= 0)
        tree = sys_open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return tree < 0 ? error_errno(err, errno, "open the skeleton of the root") : tree;
}

int root_cover(int fd, const char *with)
{
    char source[64];
    autoclose int tree = -EBADF;

    (void)snprintf(source, sizeof(source), ROOT_SHELF "%s", with);
    tree = sys_open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 ||
        sys_move_mount(tree, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return -errno;
    return 0;
}
