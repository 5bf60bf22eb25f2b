/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/nameless.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "kernel/process.h"
#include "kernel/sys.h"
#include "kernel/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

enum { BLOCK_BYTES = 512 };
#define MARK " (deleted)"

struct looking {
    struct {
        uint64_t dev, mount;
    } trees[NAMELESS_TREES];
    size_t count;
    unsigned descriptors;
    struct room_files seen;
    uint64_t bytes;
};

/* SECURITY: nobody is asked who could let us wait, as the server of a file system inside. */
static int look(int dir_fd, const char *name, int flags, struct statx *ret_status)
{
    memset(ret_status, 0, sizeof(*ret_status));
    return (int)syscall(SYS_statx, dir_fd, name, flags | AT_STATX_DONT_SYNC,
                        STATX_BASIC_STATS | STATX_MNT_ID, ret_status);
}

static uint64_t dev_of(const struct statx *status)
{
    return makedev(status->stx_dev_major, status->stx_dev_minor);
}

static void find_trees(struct looking *looking, int root_fd, const char *const *places,
                       size_t count)
{
    for (size_t i = 0; i < count && i < NAMELESS_TREES; i++) {
        autoclose int fd =
            sys_openat2(root_fd, places[i], O_PATH | O_DIRECTORY | O_CLOEXEC,
                        RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT);
        struct statx status;

        if (fd < 0 || look(fd, "", AT_EMPTY_PATH, &status) < 0)
            continue;
        looking->trees[looking->count].dev = dev_of(&status);
        looking->trees[looking->count++].mount =
            status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0;
    }
}

/* KERNEL: where tree and layer are on different file systems, files have other numbers than the
 * overlay; and the mount has another number in another mount namespace. */
static bool is_in_a_tree(const struct looking *looking, const struct statx *status)
{
    for (size_t i = 0; i < looking->count; i++) {
        if (looking->trees[i].dev == dev_of(status) ||
            ((status->stx_mask & STATX_MNT_ID) && looking->trees[i].mount &&
             looking->trees[i].mount == status->stx_mnt_id))
            return true;
    }
    return false;
}

static bool is_marked(int dir_fd, const char *name)
{
    char link[4096 + sizeof(MARK)];
    ssize_t length = readlinkat(dir_fd, name, link, sizeof(link));

    /* The name of a long path comes without its end: then it is looked at. */
    return length == (ssize_t)sizeof(link) ||
           (length >= (ssize_t)strlen(MARK) &&
            memcmp(link + length - strlen(MARK), MARK, strlen(MARK)) == 0);
}

static void look_at_table(struct looking *looking, int process_fd, const char *thread)
{
    char path[64];
    const struct dirent *entry;
    DIR *dir;
    int fd;

    (void)snprintf(path, sizeof(path), "task/%.20s/fd", thread);
    fd = openat(process_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        (void)close(fd);
    while (dir && looking->descriptors < NAMELESS_DESCRIPTORS && (entry = readdir(dir))) {
        struct statx status;

        if (entry->d_name[0] == '.')
            continue;
        looking->descriptors++;
        if (is_marked(fd, entry->d_name) && look(fd, entry->d_name, 0, &status) == 0 &&
            status.stx_nlink == 0 && is_in_a_tree(looking, &status) &&
            room_files_add(&looking->seen, dev_of(&status), status.stx_ino))
            looking->bytes += status.stx_blocks * BLOCK_BYTES;
    }
    if (dir)
        (void)closedir(dir);
}

/* SECURITY: a thread can have a table of its own. */
static void look_at_process(void *context, int process_fd)
{
    DIR *dir = process_threads(process_fd);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            look_at_table(context, process_fd, entry->d_name);
    }
    if (dir)
        (void)closedir(dir);
}

uint64_t nameless_measure(pid_t pid, int root_fd, const char *const *places, size_t count,
                          bool *ret_is_full)
{
    struct looking looking = {.count = 0};

    find_trees(&looking, root_fd, places, count);
    if (looking.count > 0)
        (void)usage_each(pid, look_at_process, &looking);
    room_files_done(&looking.seen);
    *ret_is_full = looking.descriptors >= NAMELESS_DESCRIPTORS;
    return looking.bytes;
}
