/* SPDX-License-Identifier: Apache-2.0 */
#include "session/stream.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mutant.h"
#include "base/path.h"
#include "session/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NAMESPACE_FILES = 0x6e736673, MEMORY_DEVICES = 1 };

static const char *name_of(int stream)
{
    return stream <= STDERR_FILENO ? "standard stream" : "descriptor";
}

static int refuse(int errnum, int stream, const char *what, struct bawn_error *err)
{
    (void)error_set(err, errnum, "run.stream", "%s %d is %s", name_of(stream), stream, what);
    error_hint(err, stream > STDERR_FILENO ? "give a pipe, a file or a connected unix socket"
                    : stream == STDIN_FILENO
                        ? "give it by a pipe ('cat ... | bawn ...'), or redirect it from a file"
                        : "let it go through a pipe ('bawn ... | cat'), or redirect it to a file");
    return -errnum;
}

/* null, zero, full, random, urandom; the others are the machine's memory and its log. */
static bool is_harmless(dev_t device)
{
    unsigned number = minor(device);

    return major(device) == MEMORY_DEVICES &&
           (number == 3 || number == 5 || number == 7 || number == 8 || number == 9);
}

static int socket_option(int fd, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) < 0 ? -1 : value;
}

static int judge_socket(int fd, int stream, uint32_t flags, struct bawn_error *err)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    int family = socket_option(fd, SO_DOMAIN);
    int type = socket_option(fd, SO_TYPE);
    bool is_connected = getpeername(fd, (struct sockaddr *)&peer, &length) == 0;

    if (!(flags & IMAGE_OWN_NET) && (family == AF_INET || family == AF_INET6))
        return STREAM_PASSES;
    /* SECURITY: only these cannot be connected to somebody else. */
    if (family == AF_UNIX && is_connected && (type == SOCK_STREAM || type == SOCK_SEQPACKET))
        return STREAM_PASSES;
    if (relay_is_needed(fd))
        return STREAM_RELAYED;
    return refuse(ENOTCONN, stream, "a socket that is not a connected stream", err);
}

/* Whether the command, which is the caller or, for root, nobody in particular, may do more to the
 * file than the descriptor lets it. */
static bool can_be_changed(int fd, const struct stat *status)
{
    char path[32];

    if (geteuid() == 0)
        return status->st_mode & S_IWOTH;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return status->st_uid == geteuid() || access(path, W_OK) == 0;
}

/*
 * SECURITY: by way of /proc/self/fd a file is opened again, with the rights of
 * its owner. Elsewhere that is one of the calls that are sent out, and refused;
 * with containers none is.
 */
static int refuse_open_again(int stream, struct bawn_error *err)
{
    (void)error_set(err, EACCES, "run.stream",
                    "standard stream %d is a file to read: with containers allowed, the command "
                    "could open it again and write it",
                    stream);
    error_hint(err, "give it by a pipe: 'cat FILE | bawn ...'");
    return -EACCES;
}

/* Whether the command may write what has this path outside, and thus read it: the last mount over a
 * place is the one that is seen. */
static bool is_granted(const struct image *image, const char *path)
{
    bool moves = path_is_below(path, image_string(image, image->workspace));
    bool is_granted = false;

    image_each (image, PART_MOUNTS, struct image_mount, mount) {
        const char *target = image_string(image, mount->target);
        const char *source = image_string(image, mount->source);

        /* The workspace is shown elsewhere, as it is by now. */
        if (mount->step == STEP_AGAIN && moves)
            break;
        if (!image_covers(image, mount, path + 1))
            continue;
        is_granted = mount->step == STEP_BIND && !(mount->flags & STEP_READ_ONLY) &&
                     source[0] == '/' && strcmp(source + 1, target) == 0;
    }
    return is_granted;
}

/*
 * SECURITY: by way of /proc/self/fd a file is opened again with what its owner
 * may, to be read too. What has no name, or none that leads to it, nobody granted.
 */
static bool is_writable_inside(int fd, const struct image *image, const struct stat *status)
{
    char link[32];
    char path[LIMIT_PATH_BYTES];
    struct stat named;
    ssize_t length;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path));
    if (length <= 0 || length == (ssize_t)sizeof(path) || path[0] != '/')
        return false;
    path[length] = '\0';
    return lstat(path, &named) == 0 && named.st_ino == status->st_ino &&
           named.st_dev == status->st_dev && is_granted(image, path);
}

static int judge_file(int fd, int stream, const struct image *image, const struct stat *status,
                      struct bawn_error *err)
{
    int access = fcntl(fd, F_GETFL) & O_ACCMODE;
    struct statfs facts = {0};

    /* What is on a disk is no namespace. */
    if (major(status->st_dev) == 0 && fstatfs(fd, &facts) < 0)
        return error_errno(err, errno, "%s %d", name_of(stream), stream);
    if (facts.f_type == NAMESPACE_FILES)
        return refuse(EINVAL, stream, "a namespace", err);
    if ((image->flags & IMAGE_MAY_NEST) && access == O_RDONLY && status->st_nlink > 0 &&
        can_be_changed(fd, status))
        return refuse_open_again(stream, err);
    if (access == O_WRONLY && LAYER("fds") && !is_writable_inside(fd, image, status))
        return STREAM_WRITTEN;
    return STREAM_PASSES;
}

/* A pipe without a name belongs to whoever made it. Root's command is somebody else, and programs
 * open /dev/stdin. */
static void lend_pipe(int fd, const struct image *image, const struct stat *status)
{
    struct statfs facts;

    if (image->host_uid != image->caller_uid && status->st_uid == image->caller_uid &&
        fstatfs(fd, &facts) == 0 && facts.f_type == PIPEFS_MAGIC)
        (void)!fchown(fd, image->host_uid, image->host_gid);
}

static int judge(int fd, int stream, const struct image *image, const struct stat *status,
                 struct bawn_error *err)
{
    switch (status->st_mode & S_IFMT) {
    case S_IFIFO:
        lend_pipe(fd, image, status);
        return STREAM_PASSES;
    case S_IFREG:
        return judge_file(fd, stream, image, status, err);
    case S_IFSOCK:
        return judge_socket(fd, stream, image->flags, err);
    case S_IFCHR:
        if (is_harmless(status->st_rdev))
            return STREAM_PASSES;
        return isatty(fd) ? STREAM_TERMINAL : refuse(EACCES, stream, "a device", err);
    case S_IFDIR:
        return refuse(EISDIR, stream, "a directory", err);
    case S_IFBLK:
        return refuse(EACCES, stream, "a disk", err);
    default:
        return refuse(EINVAL, stream, "not a stream, but a handle of the kernel", err);
    }
}

int stream_judge(int fd, int stream, const struct image *image, struct streams *streams,
                 struct bawn_error *err)
{
    struct stat status;
    int opened = fcntl(fd, F_GETFL);
    int kind;

    if (opened < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "%s %d", name_of(stream), stream);
    if (opened & O_PATH)
        return refuse(EBADF, stream, "not open to read or write (O_PATH)", err);
    kind = judge(fd, stream, image, &status, err);
    if (kind == STREAM_PASSES && streams)
        streams_add(streams, &status);
    return kind;
}
