/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/usage.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_PROCESSES = 65536, USAGE_CHUNK_BYTES = 4096, USAGE_LOOKS = 64 };

/* The processes found so far; those behind the cursor are still to be read. */
struct walk {
    VEC(pid_t) pids;
    struct usage *usage;
};

/* A small file of /proc, or false when the process is gone. */
static bool read_text(int dir_fd, const char *name, char text[USAGE_CHUNK_BYTES])
{
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, USAGE_CHUNK_BYTES - 1);

    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

/* The number behind "NAME:" at the start of a line of status. */
static uint64_t status_number(const char *text, const char *name)
{
    const char *found = strstr(text, name);

    return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

static void add_memory(struct usage *usage, const char *text)
{
    usage->memory_bytes +=
        1024 * (status_number(text, "\nRssAnon:") + status_number(text, "\nRssShmem:") +
                status_number(text, "\nVmSwap:"));
}

/* Fields 14 to 17 of stat: its own time and that of children it has waited for. */
static void add_cpu(struct usage *usage, const char *text)
{
    long ticks = sysconf(_SC_CLK_TCK);
    const char *cursor = strrchr(text, ')');
    uint64_t sum = 0;

    for (unsigned field = 3; cursor && field <= 17; field++) {
        cursor = strchr(cursor + 1, ' ');
        if (cursor && field >= 14)
            sum += strtoull(cursor, NULL, 10);
    }
    if (ticks > 0)
        usage->cpu_usec += sum * 1000000 / (uint64_t)ticks;
}

/* The children that one thread has made; the file may be longer than one read gives. */
static bool add_children(struct walk *walk, int dir_fd, const char *thread)
{
    char path[64], text[USAGE_CHUNK_BYTES];
    autoclose int fd = -EBADF;
    uint64_t pid = 0;
    ssize_t got;

    (void)snprintf(path, sizeof(path), "task/%.20s/children", thread);
    fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (uint64_t)(text[i] - '0');
                continue;
            }
            if (pid > 0 && walk->pids.count < USAGE_PROCESSES && !vec_push(&walk->pids, (pid_t)pid))
                return false;
            pid = 0;
        }
    }
    return true;
}

static DIR *open_threads(int dir_fd)
{
    int fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

static bool has_memory(const char *text)
{
    return strstr(text, "\nRssAnon:");
}

/*
 * The status of a thread that lives. SECURITY: that of a process is its first
 * thread's, and tells of no memory when that one has ended. Threads that end one
 * after the other may be missed, so it is looked more than once.
 */
static void read_live_status(int dir_fd, char text[USAGE_CHUNK_BYTES])
{
    for (int i = 0; i < USAGE_LOOKS && !has_memory(text); i++) {
        DIR *dir = open_threads(dir_fd);
        const struct dirent *entry;
        char path[64];

        while (dir && !has_memory(text) && (entry = readdir(dir))) {
            (void)snprintf(path, sizeof(path), "task/%.20s/status", entry->d_name);
            if (entry->d_name[0] != '.' && !read_text(dir_fd, path, text))
                text[0] = '\0';
        }
        if (dir)
            closedir(dir);
    }
}

static bool add_all_children(struct walk *walk, int dir_fd, pid_t pid, uint64_t threads)
{
    char own[16];
    const struct dirent *entry;
    DIR *dir;
    bool ok = true;

    if (threads <= 1) {
        (void)snprintf(own, sizeof(own), "%d", (int)pid);
        return add_children(walk, dir_fd, own);
    }
    dir = open_threads(dir_fd);
    if (!dir)
        return true;
    while (ok && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            ok = add_children(walk, dir_fd, entry->d_name);
    closedir(dir);
    return ok;
}

/* 0, -ESRCH when it is gone, or -ENOMEM. */
static int add_process(struct walk *walk, pid_t pid, enum usage_what what)
{
    char path[32], text[USAGE_CHUNK_BYTES];
    autoclose int fd = -EBADF;
    uint64_t threads;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || !read_text(fd, "status", text))
        return -ESRCH;
    threads = status_number(text, "\nThreads:");
    walk->usage->processes++;
    walk->usage->threads += threads;
    if (threads > 1)
        read_live_status(fd, text);
    add_memory(walk->usage, text);
    if (what == USAGE_CPU && read_text(fd, "stat", text))
        add_cpu(walk->usage, text);
    return add_all_children(walk, fd, pid, threads) ? 0 : -ENOMEM;
}

int usage_measure(pid_t pid, enum usage_what what, struct usage *ret_usage, struct bawn_error *err)
{
    struct walk walk = {.usage = ret_usage};
    int r;

    *ret_usage = (struct usage){0};
    r = add_process(&walk, pid, what);
    for (size_t i = 0; r != -ENOMEM && i < walk.pids.count; i++) {
        int below = add_process(&walk, walk.pids.items[i], what);

        if (below == -ENOMEM)
            r = below;
    }
    vec_done(&walk.pids);
    return r < 0 ? error_errno(err, -r, "measure the processes of the session") : 0;
}
