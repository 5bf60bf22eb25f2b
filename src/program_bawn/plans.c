/* SPDX-License-Identifier: Apache-2.0 */
#include "program_bawn/plans.h"

#include "base/cleanup.h"
#include "base/passwd.h"
#include "base/path.h"
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

enum { LINKS_MAX = 8 };

/*
 * SECURITY: from the root down, each directory is looked at by name before the next. Those above it
 * can only be replaced by root and the caller, so what was looked at is what is opened in the end.
 */
struct walk {
    char done[LIMIT_PATH_BYTES]; /* "" is the root */
    struct stat status;          /* of that */
    char rest[2 * LIMIT_PATH_BYTES];
    unsigned links;
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
    char joined[sizeof(walk->rest)];
    ssize_t length = readlink(path, target, sizeof(target) - 1);

    if (length <= 0 || walk->is_below_home || status->st_uid != 0 || walk->status.st_uid != 0 ||
        (walk->status.st_mode & 022) || ++walk->links > LINKS_MAX)
        return false;
    target[length] = '\0';
    if (path_has_dotdot(target) ||
        (size_t)snprintf(joined, sizeof(joined), "%s/%s", target, walk->rest) >= sizeof(joined))
        return false;
    memcpy(walk->rest, joined, sizeof(joined));
    if (*target != '/')
        return true;
    *walk->done = '\0';
    return lstat("/", &walk->status) == 0;
}

static bool step(struct walk *walk, const char *name, size_t length, bool makes)
{
    char path[LIMIT_PATH_BYTES + NAME_MAX];
    struct stat status;
    int used = snprintf(path, sizeof(path), "%s/%.*s", walk->done, (int)length, name);
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

static bool go(struct walk *walk, bool makes)
{
    for (;;) {
        const char *cursor = walk->rest;
        size_t length;
        const char *at = path_next(&cursor, &length);
        char name[NAME_MAX + 1];

        if (!at)
            return true;
        if (length >= sizeof(name))
            return false;
        memcpy(name, at, length);
        memmove(walk->rest, cursor, strlen(cursor) + 1);
        if (!step(walk, name, length, makes))
            return false;
    }
}

bool plans_open(struct plans *plans, bool makes)
{
    struct walk walk = {.links = 0};

    plans->fd = -EBADF;
    if (!passwd_home((uid_t)getauxval(AT_UID), walk.rest) || path_has_dotdot(walk.rest) ||
        lstat("/", &walk.status) < 0 || !is_safe(&walk.status) || !go(&walk, false))
        return false;
    walk.is_below_home = true;
    (void)snprintf(walk.rest, sizeof(walk.rest), ".cache/bawn/plans");
    if (!go(&walk, makes) || walk.status.st_uid != getauxval(AT_UID) ||
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
