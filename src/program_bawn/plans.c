/* SPDX-License-Identifier: Apache-2.0 */
#include "program_bawn/plans.h"

#include "base/cleanup.h"
#include "base/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool plans_open(struct plans *plans, bool makes)
{
    plans->fd = places_open_plans(makes, plans->path);
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
