/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command with descriptors open that it must not get: of every type,
 * at low, high and very high numbers, none close-on-exec.
 *   e_hold [-l] DIR COMMAND...    -l: RLIMIT_NOFILE is lowered below them, too
 * DIR has a file "secret".
 */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#define NUMBER_PIDFD_OPEN     434
#define NUMBER_IO_URING_SETUP 425

static void hold(const char *what, int fd, int at)
{
    if (fd == -1 || dup2(fd, at) != at) {
        fprintf(stderr, "e_hold: %s at %d: %s\n", what, at, strerror(errno));
        exit(1);
    }
}

static int ring(void)
{
    static unsigned params[30];

    return (int)syscall(NUMBER_IO_URING_SETUP, 4, params);
}

static void hold_all(const char *dir_path)
{
    int pair[2], ends[2], dir_fd = open(dir_path, O_RDONLY | O_DIRECTORY);
    int file_fd = openat(dir_fd, "secret", O_RDWR);

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1 || pipe(ends) == -1)
        exit(1);
    for (int base = 3; base <= 2048; base = base == 3 ? 1024 : base * 2) {
        hold("file", file_fd, base);
        hold("directory", dir_fd, base + 4);
        hold("path", open(dir_path, O_PATH), base + 5);
        hold("socket", pair[0], base + 6);
        hold("pipe", ends[1], base + 7);
        hold("pidfd", (int)syscall(NUMBER_PIDFD_OPEN, getpid(), 0), base + 8);
        hold("epoll", epoll_create1(0), base + 9);
        hold("memfd", memfd_create("held", 0), base + 10);
        hold("namespace", open("/proc/self/ns/net", O_RDONLY), base + 11);
        hold("proc", open("/proc/self", O_RDONLY | O_DIRECTORY), base + 12);
        hold("timer", timerfd_create(CLOCK_MONOTONIC, 0), base + 13);
        hold("inotify", inotify_init1(0), base + 14);
        hold("event", eventfd(0, 0), base + 15);
        hold("root", open("/", O_PATH), base + 16);
        if (ring() >= 0)
            hold("ring", ring(), base + 17);
    }
}

int main(int argc, char **argv)
{
    struct rlimit limit = {4096, 4096};
    int first = argc > 1 && strcmp(argv[1], "-l") == 0 ? 2 : 1;

    if (argc < first + 2)
        return 2;
    setrlimit(RLIMIT_NOFILE, &limit);
    hold_all(argv[first]);
    if (first == 2) {
        limit.rlim_cur = limit.rlim_max = 64;
        if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
            return 1;
    }
    execvp(argv[first + 1], argv + first + 1);
    perror(argv[first + 1]);
    return 127;
}
