/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/entry.h"

#include "base/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

enum { SELF_BYTES = 32 };

bool entry_is_gone(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ESTALE;
}

bool entry_is_own_fault(int errnum)
{
    return errnum != ENOMEM && errnum != EMFILE && errnum != ENFILE;
}

void entry_close(struct entry *entry)
{
    cleanup_close(&entry->fd);
    entry->fd = -EBADF;
}

int entry_open(int dir_fd, const char *name, struct entry *ret_entry)
{
    autoclose int fd =
        openat(dir_fd, *name ? name : ".", O_PATH | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &ret_entry->status) < 0)
        return -errno;
    ret_entry->fd = take_fd(&fd);
    return 0;
}

int entry_open_below(int root_fd, const char *path, struct entry *ret_entry)
{
    autoentry struct entry at = ENTRY_NONE;
    const char *cursor = path;
    const char *part;
    size_t length;
    int result = entry_open(root_fd, "", &at);

    while (result == 0 && (part = path_next(&cursor, &length))) {
        struct entry next;
        char name[NAME_MAX + 1];

        if (length > NAME_MAX || (length == 2 && memcmp(part, "..", 2) == 0))
            return -ENOENT;
        memcpy(name, part, length);
        name[length] = '\0';
        result = entry_open(at.fd, name, &next);
        if (result == 0) {
            entry_close(&at);
            at = next;
        }
    }
    if (result == 0) {
        *ret_entry = at;
        at.fd = -EBADF;
    }
    return result;
}

static void name_self(const struct entry *entry, char path[static SELF_BYTES])
{
    (void)snprintf(path, SELF_BYTES, "/proc/self/fd/%d", entry->fd);
}

int entry_open_data(const struct entry *entry)
{
    char self[SELF_BYTES];
    int fd;

    if (!S_ISREG(entry->status.st_mode))
        return -EINVAL;
    name_self(entry, self);
    fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int entry_read_link(const struct entry *entry, char ret_target[static PATH_MAX])
{
    ssize_t length = readlinkat(entry->fd, "", ret_target, PATH_MAX);

    if (length < 0)
        return -errno;
    if (length == PATH_MAX)
        return -ENAMETOOLONG;
    ret_target[length] = '\0';
    return (int)length;
}

DIR *entry_list(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !dir)
        cleanup_close(&fd);
    return dir;
}

struct dirent *entry_next(DIR *dir)
{
    struct dirent *found;

    do {
        errno = 0;
        found = readdir(dir);
    } while (found && (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0));
    return found;
}

int entry_list_attributes(const struct entry *entry, char *names, size_t size)
{
    char self[SELF_BYTES];
    ssize_t length;

    name_self(entry, self);
    length = S_ISLNK(entry->status.st_mode) ? 0 : listxattr(self, names, size);
    if (length < 0)
        return errno == EOPNOTSUPP ? 0 : -errno;
    return (int)length;
}

int entry_get_attribute(const struct entry *entry, const char *name, char *value, size_t size)
{
    char self[SELF_BYTES];
    ssize_t length;

    name_self(entry, self);
    length =
        S_ISLNK(entry->status.st_mode) ? (errno = ENODATA, -1) : getxattr(self, name, value, size);
    return length < 0 ? -errno : (int)length;
}

bool entry_has_attribute(const struct entry *entry, const char *name, const char *value)
{
    char found[8];
    int length = entry_get_attribute(entry, name, found, sizeof(found));

    return length == (int)strlen(value) && memcmp(found, value, (size_t)length) == 0;
}

ssize_t entry_read(int fd, char *bytes, size_t size)
{
    size_t got = 0;

    while (got < size) {
        ssize_t more = read(fd, bytes + got, size - got);

        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return -errno;
        if (more == 0)
            break;
        got += (size_t)more;
    }
    return (ssize_t)got;
}
