/* SPDX-License-Identifier: Apache-2.0 */
/* In a file of its own: <sys/stat.h> and <linux/stat.h> do not go together everywhere. */
#include "launch/mounted.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

bool mounted_may_be_root(int fd)
{
    struct statx status = {0};

    return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &status) < 0 ||
           !(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}
