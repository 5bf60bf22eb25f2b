/* SPDX-License-Identifier: Apache-2.0 */
#include "base/layers.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

bool layers_is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);

    return length > 0 && length < LAYERS_NAME_BYTES && strspn(name, letters) == length &&
           *name != '.' && *name != '-';
}

bool layers_is_in_use(int dir_fd)
{
    autoclose int fd = openat(dir_fd, LAYERS_LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
