/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that count from the sandbox's start.
 *
 * How it works: a time namespace that is made is for children only, and its
 * offsets are fixed as soon as somebody is in it. So it is made and set while
 * the host's /proc is there, and pid 1 itself enters it later, once it shares its
 * memory with nobody: no process more, and all commands are born in it.
 */
#include "launch/uptime.h"

#include "base/error.h"
#include "kernel/process.h"
#include "kernel/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000 };

static int64_t to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* How long ago this process began: that is to be zero. A clock that began later would show a start
 * before its own, which is no number to the kernel. */
static int64_t own_age(void)
{
    int64_t ticks = (int64_t)process_start(0);
    struct timespec now;

    if (ticks == 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return 0;
    return to_ns(now) - ticks * (SECOND_NS / sysconf(_SC_CLK_TCK));
}

/* KERNEL: offsets are to the first namespace's clocks, also in a namespace in another one. */
static int read_offset(const char *text, const char *name, int64_t *ret_offset)
{
    const char *line = strstr(text, name);
    char *end;
    int64_t seconds;

    if (!line)
        return -EPROTO;
    seconds = strtoll(line + strlen(name), &end, 10);
    *ret_offset = seconds * SECOND_NS + strtoll(end, NULL, 10);
    return 0;
}

/* A line for the kernel: its length, or an error. */
static int put_offset(char *out, size_t size, const char *text, const char *name, clockid_t clock,
                      int64_t age)
{
    struct timespec now;
    int64_t offset, seconds;
    int result = read_offset(text, name, &offset);

    if (result == 0 && clock_gettime(clock, &now) < 0)
        result = -errno;
    if (result < 0)
        return result;
    offset -= to_ns(now) - age;
    seconds = offset / SECOND_NS - (offset % SECOND_NS < 0);
    return snprintf(out, size, "%s %lld %lld\n", name, (long long)seconds,
                    (long long)(offset - seconds * SECOND_NS));
}

static int set_offsets(int fd)
{
    char text[256], offsets[256];
    int64_t age = own_age();
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
    int first, second;

    if (got < 0)
        return -errno;
    text[got] = '\0';
    first = put_offset(offsets, sizeof(offsets), text, "monotonic", CLOCK_MONOTONIC, age);
    if (first < 0)
        return first;
    second = put_offset(offsets + first, sizeof(offsets) - (size_t)first, text, "boottime",
                        CLOCK_BOOTTIME, age);
    if (second < 0)
        return second;
    /* Where pread left it: at the start. The kernel takes them there only, and by no pwrite. */
    return write(fd, offsets, (size_t)first + (size_t)second) < 0 ? -errno : 0;
}

int uptime_set(int *ret_ns, struct bawn_error *err)
{
    int fd = openat(AT_FDCWD, "/proc/self/timens_offsets", O_RDWR | O_CLOEXEC);
    int result;

    if (fd < 0)
        return error_errno(err, errno, "open /proc/self/timens_offsets");
    result = set_offsets(fd);
    (void)close(fd);
    if (result < 0)
        return error_errno(err, -result, "set the clocks of the time namespace");
    /* Closed with all other descriptors of the set-up. */
    *ret_ns = openat(AT_FDCWD, "/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
    return *ret_ns < 0 ? error_errno(err, errno, "open the time namespace") : 0;
}

int uptime_enter(int ns, struct bawn_error *err)
{
    return setns(ns, CLONE_NEWTIME) < 0 ? error_errno(err, errno, "enter the time namespace") : 0;
}
