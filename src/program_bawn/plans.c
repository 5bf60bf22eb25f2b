/* SPDX-License-Identifier: Apache-2.0 */
#include "program_bawn/plans.h"

#include "base/cleanup.h"
#include "base/passwd.h"
#include "base/path.h"
#include "base/trail.h"
#include "kernel/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * SECURITY: from the root down, each directory is looked at by name before the next. Those above it
 * can only be replaced by root and the caller, so what was looked at is what is opened in the end.
 */
struct walk {
    char done[LIMIT_PATH_BYTES]; /* "" is the root */
    struct stat status;          /* of that */
    struct trail trail;
    bool is_below_home; /* the last names are ours to make, and no link counts among them */
};

/* Only root and the caller can put something else there. */
static bool is_safe(const struct stat *status)
{
    return S_ISDIR(status->st_mode) &&
           (status->st_uid == 0 || status->st_uid == getauxval(AT_UID)) &&
           (!(status->st_mode & 022) || (status->st_mode & S_ISVTX));
}

/* Homes are often reached through a link of root's. */
static bool push_link(struct walk *walk, const char *path, const struct stat *status)
{
    char target[LIMIT_PATH_BYTES];
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length <= 0 || walk->is_below_home || status->st_uid != 0 || walk->status.st_uid != 0 ||
        (walk->status.st_mode & 022))
        return false;
    target[length] = '\0';
    if (path_has_dotdot(target) || trail_link(&walk->trail, target) < 0)
        return false;
    if (*target != '/')
        return true;
    *walk->done = '\0';
    return lstat("/", &walk->status) == 0;
}

static bool step(struct walk *walk, const char *name, bool makes)
{
    char path[LIMIT_PATH_BYTES + NAME_MAX];
    struct stat status;
    int used = snprintf(path, sizeof(path), "%s/%s", walk->done, name);
    int result;

    if (used < 0 || used >= LIMIT_PATH_BYTES)
        return false;
    result = lstat(path, &status);
    if (result < 0 && errno == ENOENT && makes && walk->is_below_home &&
        (mkdir(path, 0700) == 0 || errno == EEXIST))
        result = lstat(path, &status);
    if (result == 0 && S_ISLNK(status.st_mode))
        return push_link(walk, path, &status);
    if (result < 0 || !is_safe(&status))
        return false;
    memcpy(walk->done, path, (size_t)used + 1);
    walk->status = status;
    return true;
}

static bool go(struct walk *walk, const char *way, bool makes)
{
    char name[NAME_MAX + 1];
    int r;

    (void)snprintf(walk->trail.rest, sizeof(walk->trail.rest), "%s", way);
    while ((r = trail_next(&walk->trail, name)) > 0) {
        if (!step(walk, name, makes))
            return false;
    }
    return r == 0;
}

bool plans_open(struct plans *plans, bool makes)
{
    struct walk walk = {.is_below_home = false};
    char home[LIMIT_PATH_BYTES];

    plans->fd = -EBADF;
    if (!passwd_home((uid_t)getauxval(AT_UID), home) || path_has_dotdot(home) ||
        lstat("/", &walk.status) < 0 || !is_safe(&walk.status) || !go(&walk, home, false))
        return false;
    walk.is_below_home = true;
    if (!go(&walk, ".cache/bawn/plans", makes) || walk.status.st_uid != getauxval(AT_UID) ||
        strlen(walk.done) >= LIMIT_PATH_BYTES - 64)
        return false;
    plans->fd = sys_openat2(AT_FDCWD, walk.done, O_PATH | O_DIRECTORY | O_CLOEXEC,
                            RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    memcpy(plans->path, walk.done, sizeof(walk.done));
    return plans->fd >= 0;
}

void plans_close(struct plans *plans)
{
    if (plans->fd >= 0)
        (void)close(take_fd(&plans->fd));
}

void plans_remove(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            plans_remove(dirfd(dir), entry->d_name);
    }
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    /* What a skeleton has to mask others with is closed to us, and empty. */
    if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno == ENOTDIR)
        (void)unlinkat(dir_fd, name, 0);
}
