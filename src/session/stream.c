/* SPDX-License-Identifier: Apache-2.0 */
#include "session/stream.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NAMESPACE_FILES = 0x6e736673, MEMORY_DEVICES = 1 };

static int refuse(int errnum, int stream, const char *what, struct bawn_error *err)
{
    (void)error_set(err, errnum, "run.stream", "standard stream %d is %s", stream, what);
    error_hint(err, stream == STDIN_FILENO
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

static int judge_socket(int fd, int stream, bool has_own_net, struct bawn_error *err)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    int family = socket_option(fd, SO_DOMAIN);
    int type = socket_option(fd, SO_TYPE);
    bool is_connected = getpeername(fd, (struct sockaddr *)&peer, &length) == 0;

    if (!has_own_net && (family == AF_INET || family == AF_INET6))
        return STREAM_PASSES;
    /* SECURITY: only these cannot be connected to somebody else. */
    if (family == AF_UNIX && is_connected && (type == SOCK_STREAM || type == SOCK_SEQPACKET))
        return STREAM_PASSES;
    if (family != AF_UNIX && is_connected && type == SOCK_STREAM)
        return STREAM_RELAYED;
    return refuse(ENOTCONN, stream, "a socket that is not a connected stream", err);
}

static int judge_file(int fd, int stream, struct bawn_error *err)
{
    struct statfs facts;

    if (fstatfs(fd, &facts) < 0)
        return error_errno(err, errno, "standard stream %d", stream);
    return facts.f_type == NAMESPACE_FILES ? refuse(EINVAL, stream, "a namespace", err)
                                           : STREAM_PASSES;
}

int stream_judge(int fd, int stream, bool has_own_net, struct bawn_error *err)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "standard stream %d", stream);
    if (flags & O_PATH)
        return refuse(EBADF, stream, "not open, only named (O_PATH)", err);
    switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
        return STREAM_PASSES;
    case S_IFREG:
        return judge_file(fd, stream, err);
    case S_IFSOCK:
        return judge_socket(fd, stream, has_own_net, err);
    case S_IFCHR:
        if (is_harmless(status.st_rdev))
            return STREAM_PASSES;
        return isatty(fd) ? STREAM_TERMINAL : refuse(EACCES, stream, "a device", err);
    case S_IFDIR:
        return refuse(EISDIR, stream, "a directory", err);
    case S_IFBLK:
        return refuse(EACCES, stream, "a disk", err);
    default:
        return refuse(EINVAL, stream, "no stream, but a handle of the kernel's", err);
    }
}
