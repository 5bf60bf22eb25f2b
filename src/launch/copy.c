/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/copy.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "kernel/sys.h"
#include "launch/root_place.h"

#include <errno.h>
#include <sys/stat.h>

static int refuse(const char *path, const char *why, struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "launch.copy", "copy %s: %s", path, why);
    error_hint(err, "use mode ro or rw for it");
    return -EINVAL;
}

int copy_open(const char *path, struct bawn_error *err)
{
    autoclose int fd =
        sys_openat2(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, RESOLVE_HOST);
    struct stat status = {0};

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return -ENOENT;
    if (fd < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "open %s", path);
    if (!S_ISREG(status.st_mode))
        return refuse(path, "it is not a file", err);
    if (status.st_size > LIMIT_COPY_BYTES)
        return refuse(path, "it is larger than 32 MiB", err);
    return take_fd(&fd);
}

int copy_open_for(const char *path, struct bawn_error *err)
{
    int fd = copy_open(path, err);

    return fd == -ENOENT ? file_open_null(O_RDONLY, err) : fd;
}

static int pour(int from, int to, const char *target, struct bawn_error *err)
{
    char bytes[65536];
    size_t total = 0;
    ssize_t got;

    while ((got = read(from, bytes, sizeof(bytes))) > 0) {
        total += (size_t)got;
        if (total > LIMIT_COPY_BYTES)
            return error_set(err, EFBIG, "launch.copy", "copy /%s: it grows", target);
        errno = ENOSPC;
        if (write(to, bytes, (size_t)got) != got)
            return error_errno(err, errno, "copy /%s", target);
    }
    return got < 0 ? error_errno(err, errno, "copy /%s", target) : 0;
}

int copy_make(int from, const char *target, struct bawn_error *err)
{
    autoclose int to = -EBADF;
    struct stat status = {0};
    int result;

    if (fstat(from, &status) < 0)
        return error_errno(err, errno, "copy /%s", target);
    if (!S_ISREG(status.st_mode))
        return 0;
    to = sys_openat2(AT_FDCWD, target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     RESOLVE_HOST | RESOLVE_BENEATH);
    if (to < 0 && errno == EEXIST)
        return 0;
    if (to < 0)
        return error_errno(err, errno, "copy /%s", target);
    result = pour(from, to, target, err);
    if (result == 0 && (fchmod(to, (status.st_mode & 0777) | 0600) < 0 ||
                        futimens(to, (struct timespec[]){status.st_atim, status.st_mtim}) < 0))
        result = error_errno(err, errno, "copy /%s", target);
    return result;
}
