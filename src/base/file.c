/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static int read_file(int dir_fd, const char *path, int flags, size_t limit, char **ret_data,
                     size_t *ret_length, struct stat *ret_status, struct bawn_error *err)
{
    autoclose int fd = -EBADF;
    autofree char *data = NULL;
    size_t used = 0;
    struct stat st;

    /* O_NONBLOCK: opening a FIFO that nobody writes to must not hang. */
    fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    if (fd < 0)
        return error_errno(err, errno, "open %s", path);
    if (fstat(fd, &st) < 0)
        return error_errno(err, errno, "stat %s", path);
    if (!S_ISREG(st.st_mode))
        return error_set(err, EINVAL, "file.not_regular", "read %s: not a regular file", path);
    if (st.st_size < 0 || (size_t)st.st_size > limit)
        return error_set(err, EFBIG, "file.too_large", "read %s: larger than %zu bytes", path,
                         limit);
    /* One byte more than it had: a file that grows meanwhile is noticed. */
    data = malloc((size_t)st.st_size + 2);
    if (!data)
        return error_memory(err);
    while (used <= (size_t)st.st_size) {
        ssize_t got = read(fd, data + used, (size_t)st.st_size + 1 - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, errno, "read %s", path);
        if (got == 0)
            break;
        used += (size_t)got;
    }
    if (used > (size_t)st.st_size)
        return error_set(err, EAGAIN, "file.changed", "read %s: it grew while it was read", path);
    data[used] = '\0';
    *ret_data = take_ptr(&data);
    *ret_length = used;
    *ret_status = st;
    return 0;
}

int file_read(int dir_fd, const char *path, size_t limit, char **ret_data, size_t *ret_length,
              struct bawn_error *err)
{
    struct stat st;

    return read_file(dir_fd, path, 0, limit, ret_data, ret_length, &st, err);
}

int file_read_itself(int dir_fd, const char *name, size_t limit, char **ret_data,
                     size_t *ret_length, struct stat *ret_status, struct bawn_error *err)
{
    return read_file(dir_fd, name, O_NOFOLLOW, limit, ret_data, ret_length, ret_status, err);
}

int file_put(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        data += put;
        length -= (size_t)put;
    }
    return 0;
}

/* Gives a new file the owner and the mode of another. */
static int make_alike(int fd, const struct stat *like)
{
    struct stat st;

    if (fstat(fd, &st) < 0 ||
        ((st.st_uid != like->st_uid || st.st_gid != like->st_gid) &&
         fchown(fd, like->st_uid, like->st_gid) < 0) ||
        fchmod(fd, like->st_mode & 0777) < 0)
        return -errno;
    return 0;
}

static int write_file(int dir_fd, const char *path, const char *data, size_t length, mode_t mode,
                      const struct stat *like, struct bawn_error *err)
{
    autostrbuf struct strbuf temporary = {0};
    autoclose int fd = -EBADF;
    uint64_t mark;
    int r;

    if (getrandom(&mark, sizeof(mark), 0) != (ssize_t)sizeof(mark))
        return error_errno(err, errno, "getrandom");
    strbuf_addf(&temporary, "%s.%016llx", path, (unsigned long long)mark);
    if (temporary.failed)
        return error_memory(err);
    fd = openat(dir_fd, temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return error_errno(err, errno, "create %s", temporary.text);
    r = like ? make_alike(fd, like) : 0;
    if (r == 0)
        r = file_put(fd, data, length);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (r == 0 && renameat(dir_fd, temporary.text, dir_fd, path) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(dir_fd, temporary.text, 0);
        return error_errno(err, -r, "write %s", path);
    }
    return 0;
}

int file_write(int dir_fd, const char *path, const char *data, size_t length,
               struct bawn_error *err)
{
    return write_file(dir_fd, path, data, length, 0600, NULL, err);
}

int file_replace(int dir_fd, const char *name, const char *data, size_t length, unsigned mode,
                 const struct stat *like, struct bawn_error *err)
{
    int r = write_file(dir_fd, name, data, length, mode, like, err);

    /* The name, too, is to be there after a crash. Where a directory cannot be synced it may not.
     */
    if (r == 0)
        (void)fsync(dir_fd);
    return r;
}

int file_lock(int fd, const char *path, struct bawn_error *err)
{
    enum { TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

    for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_errno(err, errno, "lock %s", path);
        if (tries == TRIES) {
            (void)error_set(err, EAGAIN, "file.locked", "lock %s: another program holds it", path);
            error_hint(err, "'lslocks' tells which; end it, and try again");
            return -EAGAIN;
        }
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

int file_open_linkless(const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

    return fd < 0 ? -errno : (int)fd;
}

int file_make_dirs(const char *path, struct bawn_error *err)
{
    autofree char *copy = strdup(path);

    if (!copy)
        return error_memory(err);
    for (char *slash = copy + 1;; slash++) {
        char end = *slash;

        if (end != '/' && end != '\0')
            continue;
        *slash = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return error_errno(err, errno, "create directory %s", copy);
        if (end == '\0')
            return 0;
        *slash = '/';
    }
}

int file_open_null(int access, struct bawn_error *err)
{
    autoclose int fd =
        openat(AT_FDCWD, "/dev/null", access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return error_errno(err, errno, "open /dev/null");
    if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3)) {
        (void)error_set(err, ENODEV, "file.no_null", "/dev/null is not the null device");
        error_hint(err, "as root: rm /dev/null && mknod -m 666 /dev/null c 1 3");
        return -ENODEV;
    }
    if (fcntl(fd, F_SETFL, 0) < 0)
        return error_errno(err, errno, "open /dev/null");
    return take_fd(&fd);
}
