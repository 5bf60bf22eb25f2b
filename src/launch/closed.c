/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/closed.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/sys.h"
#include "launch/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The nearest directory above a target that can be opened; path becomes its name. */
static int open_above(char *path, struct bawn_error *err)
{
    int fd = -EBADF;

    do {
        char *slash = strrchr(path, '/');

        if (!slash)
            return error_set(err, EACCES, "launch.closed", "bawn may not enter /%s", path);
        *slash = '\0';
        fd = sys_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
                         RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH);
    } while (fd < 0 && errno == EACCES);
    return fd < 0 ? error_errno(err, errno, "open /%s", path) : fd;
}

int closed_mask(struct closed *closed, const char *target, struct bawn_error *err)
{
    autofree char *path = strdup(target);
    autoclose int fd = -EBADF;
    int result;

    if (!LAYER("mount"))
        return 0;
    if (closed->count == CLOSED_MOST || !path)
        return error_set(
            err, E2BIG, "launch.closed",
            "there are too many directories that bawn may not enter, the last on the way to /%s",
            target);
    fd = open_above(path, err);
    if (fd < 0)
        return fd;
    result = root_cover(fd, "mask-dir");
    if (result < 0)
        return error_errno(err, -result, "mask /%s", path);
    closed->targets[closed->count++] = take_ptr(&path);
    return 0;
}

bool closed_hides(const struct closed *closed, const char *target)
{
    for (size_t i = 0; i < closed->count; i++) {
        size_t length = strlen(closed->targets[i]);

        if (strncmp(target, closed->targets[i], length) == 0 && target[length] == '/')
            return true;
    }
    return false;
}
