/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes memory by MiB until it is refused or MIB are taken: r_memory WAY MIB,
 * where WAY is anon, shared, memfd, tmpfs, shm, pipes, sockets, children, links or
 * attributes. The last line is "VERDICT<TAB>taken N".
 */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/xattr.h>

enum { MIB = 1 << 20 };

static char block[MIB];

static int take_mapped(int flags)
{
    char *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return errno;
    memset(at, 1, MIB);
    return 0;
}

static int take_file(int fd)
{
    if (fd == -1)
        return errno;
    return write(fd, block, MIB) == MIB ? 0 : errno ? errno : ENOSPC;
}

/* One buffer as large as it gets, filled. */
static int take_pipe(void)
{
    int ends[2];

    for (int filled = 0; filled < MIB;) {
        int size;

        if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) == -1)
            return errno;
        size = fcntl(ends[1], F_SETPIPE_SZ, MIB);
        if (size == -1)
            size = fcntl(ends[1], F_GETPIPE_SZ);
        if (write(ends[1], block, (size_t)size) <= 0)
            return errno;
        filled += size;
    }
    return 0;
}

static int take_sockets(void)
{
    int pair[2];

    for (int filled = 0; filled < MIB;) {
        int size = MIB;
        ssize_t count;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == -1)
            return errno;
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        while ((count = write(pair[0], block, 64 * 1024)) > 0)
            filled += (int)count;
    }
    return 0;
}

/* How many of the children are gone: whoever bounds the whole may end only some of its parts. */
static int killed_children(void)
{
    int killed = 0;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        killed++;
    return killed;
}

/* Each child holds 8 MiB: no process of its own is large. */
static int take_child(int taken)
{
    pid_t child;

    if (taken % 8 != 0)
        return 0;
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 8; i++)
            take_mapped(MAP_PRIVATE);
        pause();
        _exit(0);
    }
    usleep(2000);
    return verdict_of(child);
}

/* The last two are memory that the launcher may take for us, for the calls are not ours to make. */
static int take_links(int taken)
{
    static char target[4096];
    char path[64];

    memset(target, 'x', sizeof(target) - 1);
    for (int i = 0; i < MIB / 4096; i++) {
        snprintf(path, sizeof(path), "/tmp/link.%d.%d", taken, i);
        if (symlink(target, path) == -1)
            return errno;
    }
    return 0;
}

static int take_attributes(int taken)
{
    char path[64], name[64];
    int fd;

    snprintf(path, sizeof(path), "/tmp/file.%d", taken);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd == -1)
        return errno;
    close(fd);
    for (int i = 0; i < 17; i++) {
        snprintf(name, sizeof(name), "user.%d", i);
        if (setxattr(path, name, block, 61440, 0) == -1)
            return errno;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int max = argc > 2 ? atoi(argv[2]) : 0, taken = 0, errnum = 0, fd = -1, killed;
    const char *way = argc > 1 ? argv[1] : "";
    char text[32];

    memset(block, 1, sizeof(block));
    if (strcmp(way, "memfd") == 0)
        fd = memfd_create("hog", MFD_CLOEXEC);
    else if (strcmp(way, "tmpfs") == 0)
        fd = open("/tmp/hog", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    else if (strcmp(way, "shm") == 0)
        fd = open("/dev/shm/hog", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (; taken < max && errnum == 0; taken += errnum == 0) {
        errno = 0;
        if (strcmp(way, "anon") == 0)
            errnum = take_mapped(MAP_PRIVATE);
        else if (strcmp(way, "shared") == 0)
            errnum = take_mapped(MAP_SHARED);
        else if (strcmp(way, "pipes") == 0)
            errnum = take_pipe();
        else if (strcmp(way, "sockets") == 0)
            errnum = take_sockets();
        else if (strcmp(way, "children") == 0)
            errnum = take_child(taken);
        else if (strcmp(way, "links") == 0)
            errnum = take_links(taken);
        else if (strcmp(way, "attributes") == 0)
            errnum = take_attributes(taken);
        else
            errnum = take_file(fd);
    }
    /* What watches from outside needs a moment to see it. */
    sleep(2);
    killed = killed_children();
    snprintf(text, sizeof(text), "taken %d", taken - 8 * killed);
    verdict_say(killed > 0 ? "killed" : verdict_word(errnum), text);
    return 0;
}
