/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/named.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "kernel/sys.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

const char *named_proc_path(int fd, char room[static NAMED_PROC_BYTES])
{
    (void)snprintf(room, NAMED_PROC_BYTES, "/proc/self/fd/%d", fd);
    return room;
}

static int open_beneath(int root_fd, const char *path)
{
    int fd = sys_openat2(root_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                             RESOLVE_NO_XDEV);

    return fd < 0 ? -errno : fd;
}

/* A path of a layer may be longer than the kernel takes: it is gone in pieces. */
static int open_long(int root_fd, const char *path, size_t length)
{
    autoclose int at = -EBADF;
    char piece[PATH_MAX];

    while (length > 0) {
        size_t take = length;
        int next;

        if (take >= sizeof(piece)) {
            take = sizeof(piece) - 1;
            while (take > 0 && path[take] != '/')
                take--;
            if (take == 0)
                return -ENAMETOOLONG;
        }
        memcpy(piece, path, take);
        piece[take] = '\0';
        next = open_beneath(at >= 0 ? at : root_fd, piece);
        if (next < 0)
            return next;
        if (at >= 0)
            close(at);
        at = next;
        path += take;
        length -= take;
        while (length > 0 && *path == '/') {
            path++;
            length--;
        }
    }
    return at >= 0 ? take_fd(&at) : open_beneath(root_fd, ".");
}

int named_open_dir(int root_fd, const char *path)
{
    if (*path == '/' || path_has_dotdot(path))
        return -EXDEV;
    return open_long(root_fd, path, strlen(path));
}

int named_open_parent(int root_fd, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (*path == '/' || path_has_dotdot(path))
        return -EXDEV;
    if (!*name || strcmp(name, ".") == 0)
        return -EINVAL;
    *ret_name = name;
    return open_long(root_fd, path, slash ? (size_t)(slash - path) : 0);
}

int named_stat(int dir_fd, const char *name, struct stat *ret_status)
{
    if (fstatat(dir_fd, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    memset(ret_status, 0, sizeof(*ret_status));
    return errno == ENOENT ? 0 : -errno;
}

int named_find(int root_fd, const char *path, struct stat *ret_status)
{
    autoclose int dir_fd = -EBADF;
    const char *name;

    memset(ret_status, 0, sizeof(*ret_status));
    if (!*path)
        return fstat(root_fd, ret_status) < 0 ? -errno : 0;
    dir_fd = named_open_parent(root_fd, path, &name);
    if (dir_fd == -ENOENT || dir_fd == -ENOTDIR || dir_fd == -ELOOP)
        return 0;
    return dir_fd < 0 ? dir_fd : named_stat(dir_fd, name, ret_status);
}

int named_open_file(int dir_fd, const char *name, struct stat *ret_status)
{
    autoclose int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, ret_status) < 0)
        return -errno;
    return S_ISREG(ret_status->st_mode) ? take_fd(&fd) : -EINVAL;
}

char *named_read_link(int dir_fd, const char *name)
{
    autofree char *target = malloc(PATH_MAX);
    ssize_t length = target ? readlinkat(dir_fd, name, target, PATH_MAX - 1) : -1;

    if (length < 0)
        return NULL;
    target[length] = '\0';
    return take_ptr(&target);
}

static int by_bytes(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

void named_list_done(struct named_list *names)
{
    vec_each (&names->list, name)
        free(*name);
    vec_done(&names->list);
}

static int list_all(DIR *dir, struct named_list *names)
{
    for (;;) {
        const struct dirent *entry;
        char *name;

        errno = 0;
        entry = readdir(dir);
        if (!entry)
            return -errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        name = strdup(entry->d_name);
        if (!name || !vec_push(&names->list, name)) {
            free(name);
            return -ENOMEM;
        }
    }
}

int named_read(int dir_fd, struct named_list *ret_names)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    *ret_names = (struct named_list){0};
    if (!dir) {
        r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    r = list_all(dir, ret_names);
    closedir(dir);
    if (r < 0) {
        named_list_done(ret_names);
        return r;
    }
    if (ret_names->list.count > 1)
        qsort(ret_names->list.items, ret_names->list.count, sizeof(char *), by_bytes);
    return 0;
}

static int open_itself(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

int named_set_mode(int dir_fd, const char *name, mode_t mode)
{
    autoclose int fd = open_itself(dir_fd, name);
    char proc[NAMED_PROC_BYTES];
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    return chmod(named_proc_path(fd, proc), mode) < 0 ? -errno : 0;
}

int named_move(int from_fd, const char *from, int to_fd, const char *to)
{
    struct stat st;
    int r;

    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS) {
        if (named_stat(to_fd, to, &st) == 0 && st.st_mode)
            return -EEXIST;
        return renameat(from_fd, from, to_fd, to) < 0 ? -errno : 0;
    }
    /* A directory that gets another parent is written to: its "..". */
    if (errno != EACCES)
        return -errno;
    r = named_stat(from_fd, from, &st);
    if (r < 0 || !S_ISDIR(st.st_mode))
        return r < 0 ? r : -EACCES;
    if (named_set_mode(from_fd, from, (st.st_mode & 07777) | 0700) < 0)
        return -EACCES;
    r = renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
    if (r < 0)
        (void)named_set_mode(from_fd, from, st.st_mode & 07777);
    else
        (void)named_set_mode(to_fd, to, st.st_mode & 07777);
    return r;
}

bool named_same_place(int dir_fd, int other_fd)
{
    struct statx one, other;

    /* KERNEL(5.8): STATX_MNT_ID. The same file system mounted twice is two places to rename. */
    return statx(dir_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &one) == 0 &&
           statx(other_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &other) == 0 &&
           (one.stx_mask & other.stx_mask & STATX_MNT_ID) && one.stx_mnt_id == other.stx_mnt_id &&
           one.stx_dev_major == other.stx_dev_major && one.stx_dev_minor == other.stx_dev_minor;
}
