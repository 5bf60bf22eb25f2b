/* SPDX-License-Identifier: Apache-2.0 */
#include "front/plans.h"

#include "base/cleanup.h"
#include "base/home.h"
#include "base/path.h"

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

struct walk {
    int fd;
    struct stat status;          /* of fd */
    char done[LIMIT_PATH_BYTES]; /* "" is the root */
    char rest[2 * LIMIT_PATH_BYTES];
    unsigned links;
    bool is_below_home; /* the last names are ours to make, and no link counts among them */
};

/* Only root and the caller can put something else there. */
static bool is_safe(const struct stat *status)
{
    return (status->st_uid == 0 || status->st_uid == getauxval(AT_UID)) &&
           (!(status->st_mode & 022) || (status->st_mode & S_ISVTX));
}

/* Homes are often reached through a link of root's. */
static bool push_link(struct walk *walk, int fd, const struct stat *status)
{
    char target[LIMIT_PATH_BYTES];
    char joined[sizeof(walk->rest)];
    ssize_t length = readlinkat(fd, "", target, sizeof(target) - 1);

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
    (void)close(walk->fd);
    walk->fd = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *walk->done = '\0';
    return walk->fd >= 0 && fstat(walk->fd, &walk->status) == 0;
}

static bool step(struct walk *walk, const char *name, bool makes)
{
    size_t used = strlen(walk->done);
    autoclose int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 && errno == ENOENT && makes && walk->is_below_home &&
        (mkdirat(walk->fd, name, 0700) == 0 || errno == EEXIST))
        fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        return false;
    if (S_ISLNK(status.st_mode))
        return push_link(walk, fd, &status);
    if (!S_ISDIR(status.st_mode) || !is_safe(&status) ||
        used + 1 + strlen(name) >= sizeof(walk->done))
        return false;
    (void)snprintf(walk->done + used, sizeof(walk->done) - used, "/%s", name);
    (void)close(walk->fd);
    walk->fd = take_fd(&fd);
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
        name[length] = '\0';
        memmove(walk->rest, cursor, strlen(cursor) + 1);
        if (!step(walk, name, makes))
            return false;
    }
}

bool plans_open(struct plans *plans, bool makes)
{
    struct walk walk = {.fd = -EBADF};
    bool is_found = home_find((uid_t)getauxval(AT_UID), walk.rest) && !path_has_dotdot(walk.rest);

    plans->fd = -EBADF;
    if (!is_found)
        return false;
    walk.fd = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    is_found = walk.fd >= 0 && fstat(walk.fd, &walk.status) == 0 && go(&walk, false);
    walk.is_below_home = true;
    (void)snprintf(walk.rest, sizeof(walk.rest), ".cache/bawn/plans");
    is_found = is_found && go(&walk, makes) && walk.status.st_uid == getauxval(AT_UID) &&
               strlen(walk.done) < LIMIT_PATH_BYTES - 64;
    if (is_found) {
        plans->fd = take_fd(&walk.fd);
        memcpy(plans->path, walk.done, sizeof(walk.done));
    }
    if (walk.fd >= 0)
        (void)close(walk.fd);
    return is_found;
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
