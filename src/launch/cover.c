/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks in a sandbox that runs.
 *
 * How it works: whoever owns a user namespace may enter it from outside. A child
 * does so and mounts an unreadable empty file or directory over each name.
 * KERNEL: only what is mounted in the caller's own mount namespace can be
 * cloned. So the child makes what it mounts in a copy of the sandbox's mount
 * namespace that nobody else sees, clones it there, and goes back.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/path.h"
#include "kernel/process.h"
#include "kernel/sys.h"
#include "launch/launch.h"
#include "launch/mounted.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What is to be covered, and with what. */
struct cover {
    dev_t dev; /* of what the host has under that name */
    ino_t ino;
    int at;   /* O_PATH; -EBADF: nothing to do */
    int tree; /* mounted nowhere yet */
    bool is_dir;
};

/* While the host can still be seen. */
static void look_outside(const struct image *image, const char *target, struct cover *cover)
{
    char inside[LIMIT_PATH_BYTES];
    char buffer[LIMIT_PATH_BYTES];
    struct stat status = {0};
    const char *path;

    (void)snprintf(inside, sizeof(inside), "/%s", target);
    path = path_moved(inside, image_string(image, image->workspace_at),
                      image_string(image, image->workspace), buffer, sizeof(buffer));
    (void)fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW);
    cover->dev = status.st_dev;
    cover->ino = status.st_ino;
}

/* Whether something is mounted there that hides what the host has. SECURITY: what is held or pinned
 * is a mount too, of the thing itself, and goes with it where somebody outside moves it. */
static bool is_covered(const struct cover *cover, const struct stat *status)
{
    return mounted_may_be_root(cover->at) &&
           (cover->dev != status->st_dev || cover->ino != status->st_ino);
}

/* As the set-up was: whoever has no id in the sandbox makes no file there. */
static int enter(const struct launch *launch, const struct image *image, struct bawn_error *err)
{
    if (setns(launch->user_ns, CLONE_NEWUSER) < 0)
        return error_errno(err, errno, "enter the sandbox's user namespace");
    if (setns(launch->mount_ns, CLONE_NEWNS) < 0)
        return error_errno(err, errno, "enter the sandbox's mount namespace");
    if (setresgid(image->inside_gid, image->inside_gid, image->inside_gid) < 0 ||
        setresuid(image->inside_uid, image->inside_uid, image->inside_uid) < 0)
        return error_errno(err, errno, "take an id of the sandbox's");
    return 0;
}

/* SECURITY: no link on the way is followed, and one that has the name is covered itself. */
static int open_target(const struct launch *launch, const char *target, struct cover *cover,
                       struct bawn_error *err)
{
    autoclose int at = sys_openat2(launch->root_fd, target, O_PATH | O_NOFOLLOW | O_CLOEXEC,
                                   RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH);
    struct stat status = {0};

    cover->at = -EBADF;
    /* The name is gone again, or the command cannot reach it either. */
    if (at < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES))
        return 0;
    if (at < 0 || fstat(at, &status) < 0)
        return error_errno(err, errno, "look at /%s", target);
    cover->is_dir = S_ISDIR(status.st_mode);
    cover->at = take_fd(&at);
    if (is_covered(cover, &status))
        (void)close(take_fd(&cover->at));
    return 0;
}

/* An unreadable file and directory: the working directory is where they are. */
static int make_masks(struct bawn_error *err)
{
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    autoclose int file = -EBADF;

    (void)umask(0);
    if (unshare(CLONE_NEWNS) < 0)
        return error_errno(err, errno, "copy the sandbox's mount namespace");
    if (mount("tmpfs", "/", "tmpfs", flags, "mode=0755,size=64k,nr_inodes=16") < 0)
        return error_errno(err, errno, "mount a tmpfs");
    /* KERNEL: ".." of the root is the root, with what is mounted on it. */
    if (chdir("/..") < 0 || mkdir("mask-dir", 0) < 0)
        return error_errno(err, errno, "make an empty directory");
    file = openat(AT_FDCWD, "mask-file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (file < 0)
        return error_errno(err, errno, "make an empty file");
    (void)close(take_fd(&file));
    if (mount(NULL, ".", NULL, MS_REMOUNT | MS_RDONLY | flags, NULL) < 0)
        return error_errno(err, errno, "seal the tmpfs");
    return 0;
}

static int place(const struct cover *cover, const char *target, bool *is_new,
                 struct bawn_error *err)
{
    *is_new = sys_move_mount(cover->tree, "", cover->at, "",
                             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
    if (*is_new)
        return 0;
    /* KERNEL: nothing can be mounted on what is deleted. */
    return errno == ENOENT ? 0 : error_errno(err, errno, "mask /%s", target);
}

/*
 * Holds:    all capabilities in the sandbox's user namespace, none outside.
 * Must:     end soon: the launcher waits for it.
 * Mustn't:  run or read anything of the sandbox's.
 */
static int cover_all(const struct launch *launch, const struct image *image, char *const *targets,
                     size_t count, bool is_new[COVER_MOST], struct bawn_error *err)
{
    struct cover covers[COVER_MOST];
    size_t wanted = 0;
    int result;

    for (size_t i = 0; i < count; i++)
        look_outside(image, targets[i], &covers[i]);
    result = enter(launch, image, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        result = open_target(launch, targets[i], &covers[i], err);
        wanted += covers[i].at >= 0;
    }
    if (result < 0 || wanted == 0)
        return result;
    result = make_masks(err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        if (covers[i].at < 0)
            continue;
        covers[i].tree = sys_open_tree(AT_FDCWD, covers[i].is_dir ? "mask-dir" : "mask-file",
                                       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        if (covers[i].tree < 0)
            result = error_errno(err, errno, "open_tree");
    }
    if (result == 0 && setns(launch->mount_ns, CLONE_NEWNS) < 0)
        result = error_errno(err, errno, "enter the sandbox's mount namespace again");
    for (size_t i = 0; result == 0 && i < count; i++) {
        if (covers[i].at >= 0)
            result = place(&covers[i], targets[i], &is_new[i], err);
    }
    return result;
}

/* What the child says: which are new, or why it failed. */
union said {
    bool is_new[COVER_MOST];
    struct bawn_error error;
};

static int await(pid_t child, int pipe_fd, bool *is_new, size_t count, struct bawn_error *err)
{
    union said said = {0};
    ssize_t got = read(pipe_fd, &said, sizeof(said));
    int status = 0;

    while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (got == (ssize_t)sizeof(said.error)) {
        if (err)
            *err = said.error;
        return said.error.errnum > 0 ? -said.error.errnum : -EIO;
    }
    if (status != 0 || got != (ssize_t)sizeof(said.is_new))
        return error_errno(err, EIO, "mask what appeared in the sandbox");
    memcpy(is_new, said.is_new, count * sizeof(*is_new));
    return 0;
}

_Noreturn static void cover_there(const struct launch *launch, const struct image *image,
                                  char *const *targets, size_t count, int pipe_fd)
{
    bool is_new[COVER_MOST] = {false};
    struct bawn_error error = {0};
    int result = cover_all(launch, image, targets, count, is_new, &error);

    if (result < 0)
        (void)!write(pipe_fd, &error, sizeof(error));
    else
        (void)!write(pipe_fd, is_new, sizeof(is_new));
    _exit(result < 0);
}

int launch_cover(const struct launch *launch, const struct image *image, char *const *targets,
                 size_t count, bool *is_new, struct bawn_error *err)
{
    int ends[2];
    int result;
    pid_t child;

    memset(is_new, 0, count * sizeof(*is_new));
    if (!LAYER("mount"))
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe");
    child = process_split(-EBADF, NULL);
    if (child == 0)
        cover_there(launch, image, targets, count, ends[1]);
    result = child < 0 ? error_errno(err, errno, "fork") : 0;
    (void)close(ends[1]);
    if (result == 0)
        result = await(child, ends[0], is_new, count, err);
    (void)close(ends[0]);
    return result;
}
