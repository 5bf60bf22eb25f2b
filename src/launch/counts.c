/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/counts.h"

#include "base/mutant.h"
#include "kernel/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The descriptor is closed with all others of the set-up. */
static int write_count(const char *path, uint32_t most)
{
    char text[16];
    long fd = sys_bare(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0);
    long written = fd;

    (void)snprintf(text, sizeof(text), "%u", most);
    if (fd >= 0)
        written = sys_bare(SYS_write, fd, (long)text, (long)strlen(text), 0);
    return written < 0 ? (int)written : 0;
}

/*
 * The kernel counts in this user namespace and in those above it: the caller's
 * programs outside have the same count. Where /proc/sys is covered or read-only,
 * as in containers, it stays as it is.
 */
static int limit(const char *path, uint32_t most)
{
    int result = most ? write_count(path, most) : 0;

    return result == -ENOENT || result == -EROFS || result == -EACCES ? 0 : result;
}

int counts_limit(const struct image_limits *limits)
{
    int result;

    if (!LAYER("cgroup"))
        return 0;
    result = limit("/proc/sys/user/max_inotify_instances", limits->inotify_instances);
    return result < 0 ? result
                      : limit("/proc/sys/user/max_inotify_watches", limits->inotify_watches);
}
