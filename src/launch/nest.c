/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where containers may run inside.
 *
 * How it works: their programs need capabilities, and whoever has them in the
 * user namespace that owns the mounts takes the masks off. So, with the root
 * complete, pid 1 goes on to a second user namespace with a mount namespace of
 * its own: there every mount that came along is locked to what it is and where
 * it is, whatever capabilities somebody has. The ids are the same; a child that
 * stays behind writes the maps.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/sys.h"
#include "launch/own.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

static bool write_map(const char *path, uint32_t count)
{
    char map[48];
    /* KERNEL: a range lies in one of the ranges above. */
    int length = count ? snprintf(map, sizeof(map), "0 0 1\n1 1 %u", count)
                       : snprintf(map, sizeof(map), "0 0 1");
    autoclose int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, map, (size_t)length) == length;
}

/* The child: waits until the parent has left, maps its ids, and ends. */
static _Noreturn void map_parent(int sock, uint32_t count)
{
    char byte;

    if (read(sock, &byte, 1) != 1)
        _exit(1);
    /* Its parent is pid 1. */
    if (!write_map("/proc/1/uid_map", count) || !write_map("/proc/1/gid_map", count))
        _exit(errno);
    _exit(0);
}

static int leave(int sock, struct bawn_error *err)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
        return error_errno(err, errno, "unshare a second user namespace");
    if (write(sock, "", 1) != 1)
        return error_errno(err, errno, "call the one that maps ids");
    return 0;
}

int nest_enter(const struct image *image, struct bawn_error *err)
{
    int pair[2];
    int status = 0;
    int result;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, errno, "socketpair");
    child = fork();
    if (child == 0) {
        (void)close(pair[0]);
        map_parent(pair[1], image->sub_count);
    }
    (void)close(pair[1]);
    result = child < 0 ? error_errno(err, errno, "fork") : leave(pair[0], err);
    (void)close(pair[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (result == 0 && status != 0)
        result = error_errno(err, WEXITSTATUS(status) ? WEXITSTATUS(status) : EIO,
                             "map the ids of the second user namespace");
    return result;
}
