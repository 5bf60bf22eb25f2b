/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/dirs.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void forget(struct dir *dir)
{
    if (!dir->path)
        return;
    (void)close(dir->fd);
    free(dir->path);
    *dir = (struct dir){.fd = -EBADF};
}

void dirs_init(struct dirs *dirs)
{
    struct rlimit limit;

    *dirs = (struct dirs){0};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        dirs->most = limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur / 2 : INT_MAX;
}

void dirs_done(struct dirs *dirs)
{
    for (unsigned set = 0; set < DIRS_SETS; set++)
        for (unsigned way = 0; way < DIRS_WAYS; way++)
            forget(&dirs->known[set][way]);
}

/* False: the kernel does not tell on which mount it is. KERNEL(5.8): it does. */
static bool look(int fd, struct dir_key *ret_key)
{
    struct statx status = {0};

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID,
                &status) < 0 ||
        !(status.stx_mask & STATX_MNT_ID))
        return false;
    *ret_key = (struct dir_key){.mount = status.stx_mnt_id,
                                .inode = status.stx_ino,
                                .major = status.stx_dev_major,
                                .minor = status.stx_dev_minor};
    return true;
}

static bool is_same(const struct dir_key *a, const struct dir_key *b)
{
    return a->inode == b->inode && a->mount == b->mount && a->major == b->major &&
           a->minor == b->minor;
}

static struct dir *set_of(struct dirs *dirs, const struct dir_key *key)
{
    uint64_t mixed = (key->inode ^ key->mount << 32 ^ key->minor) * 0x9e3779b97f4a7c15ULL;

    return dirs->known[(mixed >> 32) % DIRS_SETS];
}

const char *dirs_find(struct dirs *dirs, int fd, struct dir_key *ret_key)
{
    struct dir *set;

    *ret_key = (struct dir_key){0};
    if (!look(fd, ret_key))
        return NULL;
    set = set_of(dirs, ret_key);
    for (unsigned way = 0; way < DIRS_WAYS; way++) {
        if (!set[way].path || !is_same(&set[way].key, ret_key))
            continue;
        if (clock_ms() < set[way].until_ms) {
            dirs->mount = ret_key->mount;
            return set[way].path;
        }
        forget(&set[way]);
    }
    return NULL;
}

void dirs_add(struct dirs *dirs, const struct dir_key *key, int fd, const char *path)
{
    struct dir *set = set_of(dirs, key);
    struct dir *oldest = &set[0];
    struct dir dir = {.key = *key, .until_ms = clock_ms() + DIRS_KNOWN_MS};

    if (key->inode == 0)
        return;
    for (unsigned way = 1; way < DIRS_WAYS; way++)
        if (!set[way].path || (oldest->path && set[way].until_ms < oldest->until_ms))
            oldest = &set[way];
    dir.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    dir.path = dir.fd < 0 || dir.fd >= dirs->most ? NULL : strdup(path);
    if (!dir.path) {
        cleanup_close(&dir.fd);
        return;
    }
    forget(oldest);
    *oldest = dir;
    dirs->mount = key->mount;
}

bool dirs_are_on(const struct dirs *dirs, int fd)
{
    struct dir_key key;

    return dirs->mount && look(fd, &key) && key.mount == dirs->mount;
}
