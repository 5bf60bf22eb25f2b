/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/disk.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef F2FS_SUPER_MAGIC
#define F2FS_SUPER_MAGIC 0xF2F52010
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Those whose files have no disk of their own, or several. */
static const char *kind_without_disk(uint64_t type)
{
    static const struct {
        uint64_t type;
        const char *name;
    } kinds[] = {{TMPFS_MAGIC, "tmpfs"},       {OVERLAYFS_SUPER_MAGIC, "overlay"},
                 {BTRFS_SUPER_MAGIC, "btrfs"}, {NFS_SUPER_MAGIC, "nfs"},
                 {0x65735546, "fuse"},         {0x01021997, "9p"},
                 {0x2FC12FC1, "zfs"}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].type == type)
            return kinds[i].name;
    }
    return "another kind";
}

/* A number of a device, as /sys writes it. */
static bool read_device(const char *path, unsigned *ret_major, unsigned *ret_minor)
{
    autoclose int fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    char text[32], *end;
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (got <= 0)
        return false;
    text[got] = '\0';
    *ret_major = (unsigned)strtoul(text, &end, 10);
    if (*end != ':')
        return false;
    *ret_minor = (unsigned)strtoul(end + 1, NULL, 10);
    return true;
}

/* KERNEL: requests are counted for the disk, and a limit for a partition is refused. */
static void find_whole(struct disk *disk)
{
    char path[64];
    int length = snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", disk->major, disk->minor);
    char *end = path + length;

    if (access(path, F_OK) < 0) {
        (void)snprintf(disk->why, sizeof(disk->why), "%s cannot be read: %s", path,
                       strerror(errno));
        return;
    }
    (void)snprintf(end, sizeof(path) - (size_t)length, "/partition");
    disk->is_found = access(path, F_OK) < 0;
    if (disk->is_found)
        return;
    (void)snprintf(end, sizeof(path) - (size_t)length, "/../dev");
    disk->is_found = read_device(path, &disk->major, &disk->minor);
    if (!disk->is_found)
        (void)snprintf(disk->why, sizeof(disk->why), "%s names no disk", path);
}

void disk_find(const char *path, struct disk *ret_disk)
{
    struct stat status;
    struct statfs fs;
    uint64_t type;

    *ret_disk = (struct disk){0};
    if (stat(path, &status) < 0 || statfs(path, &fs) < 0) {
        (void)snprintf(ret_disk->why, sizeof(ret_disk->why),
                       "the workspace cannot be looked at: %s", strerror(errno));
        return;
    }
    type = (uint64_t)fs.f_type & UINT32_MAX;
    ret_disk->major = major(status.st_dev);
    ret_disk->minor = minor(status.st_dev);
    ret_disk->counts_writes =
        type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == F2FS_SUPER_MAGIC;
    if (ret_disk->major == 0)
        (void)snprintf(ret_disk->why, sizeof(ret_disk->why),
                       "the workspace is on a file system without one disk of its own (%s)",
                       kind_without_disk(type));
    else
        find_whole(ret_disk);
}
