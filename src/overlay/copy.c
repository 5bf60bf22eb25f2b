/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/copy.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "overlay/named.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

enum { COPY_PIECE_BYTES = 256 * 1024, COPY_MODE_BITS = 01777 };

/* The bytes from at to end, which may have become fewer meanwhile. */
static int copy_range(int from_fd, int to_fd, off_t at, off_t end, char *room)
{
    while (at < end) {
        size_t wanted =
            (size_t)(end - at) < COPY_PIECE_BYTES ? (size_t)(end - at) : COPY_PIECE_BYTES;
        ssize_t got = pread(from_fd, room, wanted, at);
        ssize_t put;

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        for (ssize_t done = 0; done < got; done += put) {
            put = pwrite(to_fd, room + done, (size_t)(got - done), at + done);
            if (put < 0 && errno != EINTR)
                return -errno;
            put = put < 0 ? 0 : put;
        }
        at += got;
    }
    return 0;
}

int copy_bytes(int from_fd, int to_fd)
{
    autofree char *room = NULL;
    struct stat st;
    off_t at = 0;
    int r = 0;

    if (ioctl(to_fd, FICLONE, from_fd) == 0)
        return 0;
    room = malloc(COPY_PIECE_BYTES);
    if (!room)
        return -ENOMEM;
    if (fstat(from_fd, &st) < 0)
        return -errno;
    while (r == 0 && at < st.st_size) {
        off_t data = lseek(from_fd, at, SEEK_DATA), hole;

        if (data < 0 && errno == ENXIO)
            break; /* nothing but a hole is left */
        if (data < 0)
            data = at; /* a file system that knows no holes */
        hole = lseek(from_fd, data, SEEK_HOLE);
        if (hole <= data || hole > st.st_size)
            hole = st.st_size;
        r = copy_range(from_fd, to_fd, data, hole, room);
        at = hole;
    }
    if (r == 0 && ftruncate(to_fd, st.st_size) < 0)
        r = -errno;
    return r;
}

static bool is_wanted(const char *name, bool is_exact)
{
    if (strncmp(name, "system.posix_acl_", 17) == 0)
        return true;
    if (is_exact)
        return strncmp(name, "system.", 7) != 0;
    return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0;
}

/* The list of names, one behind the other: its length, 0 where there are none. */
static ssize_t list_attributes(const char *path, char **ret_names)
{
    for (;;) {
        ssize_t length = listxattr(path, NULL, 0);
        autofree char *names = length > 0 ? malloc((size_t)length) : NULL;

        if (length <= 0)
            return length < 0 && errno != EOPNOTSUPP ? -errno : 0;
        if (!names)
            return -ENOMEM;
        length = listxattr(path, names, (size_t)length);
        if (length < 0 && errno == ERANGE)
            continue; /* it got more meanwhile */
        if (length < 0)
            return -errno;
        *ret_names = take_ptr(&names);
        return length;
    }
}

static int copy_attribute(const char *from, const char *to, const char *name, bool is_exact)
{
    autofree char *value = NULL;
    ssize_t length = getxattr(from, name, NULL, 0);

    if (length < 0)
        return errno == ENODATA ? 0 : -errno;
    value = malloc((size_t)length + 1);
    if (!value)
        return -ENOMEM;
    length = getxattr(from, name, value, (size_t)length);
    if (length < 0)
        return errno == ENODATA ? 0 : -errno;
    if (setxattr(to, name, value, (size_t)length, 0) == 0 || errno == EOPNOTSUPP)
        return 0;
    /* Those of security modules are put back as far as one may. */
    return is_exact && strncmp(name, "user.", 5) != 0 ? 0 : -errno;
}

static bool has_name(const char *names, ssize_t length, const char *wanted)
{
    for (const char *name = names; name && name < names + length; name += strlen(name) + 1)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

int copy_attributes(int from_fd, int to_fd, bool is_exact)
{
    autofree char *names = NULL, *had = NULL;
    char from[NAMED_PROC_BYTES], to[NAMED_PROC_BYTES];
    ssize_t length, had_length;
    int r = 0;

    (void)named_proc_path(from_fd, from);
    (void)named_proc_path(to_fd, to);
    length = list_attributes(from, &names);
    had_length = length < 0 ? 0 : list_attributes(to, &had);
    if (length < 0 || had_length < 0)
        return (int)(length < 0 ? length : had_length);
    /* Access lists that a new file got from its directory, and what an old directory had. */
    for (const char *name = had; name && name < had + had_length; name += strlen(name) + 1)
        if (is_wanted(name, false) && !has_name(names, length, name) && removexattr(to, name) < 0 &&
            errno != ENODATA && errno != EOPNOTSUPP)
            return -errno;
    for (const char *name = names; r == 0 && name && name < names + length;
         name += strlen(name) + 1)
        if (is_wanted(name, is_exact))
            r = copy_attribute(from, to, name, is_exact);
    return r;
}

/* SECURITY: the owner first, since a change of it takes set-id bits away; the mode last, since an
 * access list changes it. */
static int finish(int from_fd, int to_fd, const struct stat *from, const struct copy_how *how)
{
    char proc[NAMED_PROC_BYTES];
    mode_t mode = from->st_mode & (how->is_exact ? 07777 : COPY_MODE_BITS | how->set_id);
    const struct timespec times[2] = {from->st_atim, from->st_mtim};
    struct stat made;
    int r;

    (void)named_proc_path(to_fd, proc);
    if (fstat(to_fd, &made) < 0)
        return -errno;
    if (how->has_owner && (made.st_uid != how->uid || made.st_gid != how->gid) &&
        chown(proc, how->uid, how->gid) < 0) {
        if (geteuid() == 0)
            return -errno;
        (void)!chown(proc, (uid_t)-1, how->gid);
    }
    r = copy_attributes(from_fd, to_fd, how->is_exact);
    if (r < 0)
        return r;
    /* A directory may have it from the one above: then it is no gift of the session's. */
    if (S_ISDIR(from->st_mode))
        mode |= from->st_mode & made.st_mode & S_ISGID;
    if (chmod(proc, mode) < 0 || (!how->is_now && utimensat(AT_FDCWD, proc, times, 0) < 0))
        return -errno;
    return 0;
}

static int copy_file(int from_fd, const char *from, int to_fd, const char *to, const char *bytes,
                     size_t length, const struct copy_how *how)
{
    struct stat st;
    autoclose int in = named_open_file(from_fd, from, &st);
    autoclose int out = -EBADF;
    int r;

    if (in < 0)
        return in;
    out = openat(to_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0)
        return -errno;
    r = bytes ? file_put(out, bytes, length) : copy_bytes(in, out);
    if (r == 0)
        r = finish(in, out, &st, how);
    if (r == 0 && !how->is_left && fsync(out) < 0)
        r = -errno;
    return r;
}

int copy_text(int from_fd, const char *from, int to_fd, const char *to, const char *bytes,
              size_t length, const struct copy_how *how)
{
    return copy_file(from_fd, from, to_fd, to, bytes, length, how);
}

static int copy_link(int from_fd, const char *from, const struct stat *st, int to_fd,
                     const char *to, const struct copy_how *how)
{
    autofree char *target = named_read_link(from_fd, from);
    const struct timespec times[2] = {st->st_atim, st->st_mtim};

    if (!target || symlinkat(target, to_fd, to) < 0)
        return -errno;
    if (how->has_owner && fchownat(to_fd, to, how->uid, how->gid, AT_SYMLINK_NOFOLLOW) < 0 &&
        geteuid() == 0)
        return -errno;
    return utimensat(to_fd, to, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int copy_finish(int from_fd, const char *from, int to_fd, const char *to,
                const struct copy_how *how)
{
    autoclose int in = openat(from_fd, from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    autoclose int out = openat(to_fd, to, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (in < 0 || out < 0 || fstat(in, &st) < 0)
        return -errno;
    return finish(in, out, &st, how);
}

int copy_one(int from_fd, const char *from, int to_fd, const char *to, const struct copy_how *how)
{
    struct stat st;
    int r = named_stat(from_fd, from, &st);

    if (r < 0)
        return r;
    switch (st.st_mode & S_IFMT) {
    case S_IFREG:
        return copy_file(from_fd, from, to_fd, to, NULL, 0, how);
    case S_IFLNK:
        return copy_link(from_fd, from, &st, to_fd, to, how);
    case S_IFDIR:
        return mkdirat(to_fd, to, 0700) < 0 ? -errno : 0;
    case S_IFIFO:
        if (mkfifoat(to_fd, to, 0600) < 0)
            return -errno;
        return copy_finish(from_fd, from, to_fd, to, how);
    case 0:
        return -ENOENT;
    default:
        /* SECURITY: of a layer no device is ever made. */
        if (!how->is_exact)
            return -EPERM;
        if (mknodat(to_fd, to, (st.st_mode & S_IFMT) | 0600, st.st_rdev) < 0)
            return -errno;
        return copy_finish(from_fd, from, to_fd, to, how);
    }
}

static int copy_inside(int from_fd, const char *from, int to_fd, const char *to)
{
    autoclose int in = openat(from_fd, from, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autoclose int out = openat(to_fd, to, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autonamed struct named_list names = {0};
    int r;

    if (in < 0 || out < 0)
        return -errno;
    r = named_read(in, &names);
    vec_each (&names.list, name) {
        if (r < 0)
            break;
        r = copy_exactly(in, *name, out, *name);
    }
    return r;
}

int copy_exactly(int from_fd, const char *from, int to_fd, const char *to)
{
    struct copy_how how = {.is_exact = true, .has_owner = true};
    struct stat st;
    int r = named_stat(from_fd, from, &st);

    if (r < 0)
        return r;
    how.uid = st.st_uid;
    how.gid = st.st_gid;
    r = copy_one(from_fd, from, to_fd, to, &how);
    if (r < 0 || !S_ISDIR(st.st_mode))
        return r;
    r = copy_inside(from_fd, from, to_fd, to);
    return r < 0 ? r : copy_finish(from_fd, from, to_fd, to, &how);
}
