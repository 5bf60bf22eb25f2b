/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/usage.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USAGE_PROCESSES = 65536, USAGE_CHUNK_BYTES = 4096, USAGE_LOOKS = 64, USAGE_WALKS = 3 };

struct member {
    pid_t pid;
    uint64_t threads; /* 0: it is gone */
};

/*
 * The processes found so far; of those behind the cursor the children are still to be found.
 * SECURITY: a process that forks and ends again and again is always the newest child of somebody,
 * and never where it was listed for long. So what is listed is read at once, the newest first; and
 * when one was missed, all are looked at again.
 */
struct walk {
    VEC(struct member) members;
    struct usage *usage;
    enum usage_what what;
    bool has_missed;
    void (*found)(void *context, int dir_fd); /* or NULL */
    void *context;
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
        DIR *dir = process_threads(dir_fd);
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

static void measure(struct walk *walk, struct member *member)
{
    autoclose int fd = process_open(member->pid);
    char text[USAGE_CHUNK_BYTES];

    member->threads = 0;
    walk->has_missed |= fd < 0 || !read_text(fd, "status", text);
    if (fd < 0 || !(member->threads = status_number(text, "\nThreads:")))
        return;
    if (walk->found)
        walk->found(walk->context, fd);
    walk->usage->processes++;
    walk->usage->threads += member->threads;
    if (member->threads > 1)
        read_live_status(fd, text);
    add_memory(walk->usage, text);
    if (walk->what == USAGE_CPU && read_text(fd, "stat", text))
        add_cpu(walk->usage, text);
}

static bool add_child(void *context, pid_t child)
{
    struct walk *walk = context;

    return walk->members.count >= USAGE_PROCESSES ||
           vec_push(&walk->members, ((struct member){.pid = child}));
}

/* The children that one thread has made. */
static bool add_children(struct walk *walk, int dir_fd, const char *thread)
{
    size_t first = walk->members.count;

    if (!process_children(dir_fd, thread, add_child, walk))
        return false;
    for (size_t i = walk->members.count; i > first; i--)
        measure(walk, &walk->members.items[i - 1]);
    return true;
}

static bool add_all_children(struct walk *walk, const struct member *member)
{
    autoclose int fd = process_open(member->pid);
    char own[16];
    const struct dirent *entry;
    DIR *dir;
    bool ok = true;

    if (fd < 0)
        return true;
    if (member->threads <= 1) {
        (void)snprintf(own, sizeof(own), "%d", (int)member->pid);
        return add_children(walk, fd, own);
    }
    dir = process_threads(fd);
    if (!dir)
        return true;
    while (ok && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            ok = add_children(walk, fd, entry->d_name);
    closedir(dir);
    return ok;
}

/* 0, -ESRCH when the first one is gone, or -ENOMEM. */
static int walk_once(struct walk *walk, pid_t pid)
{
    struct member first = {.pid = pid};

    measure(walk, &first);
    if (first.threads == 0)
        return -ESRCH;
    if (!vec_push(&walk->members, first))
        return -ENOMEM;
    for (size_t i = 0; i < walk->members.count; i++) {
        struct member member = walk->members.items[i];

        if (member.threads > 0 && !add_all_children(walk, &member))
            return -ENOMEM;
    }
    return 0;
}

int usage_measure(pid_t pid, enum usage_what what, struct usage *ret_usage, struct bawn_error *err)
{
    bool has_missed = true;
    int r = 0;

    *ret_usage = (struct usage){0};
    for (int i = 0; i < USAGE_WALKS && has_missed && r == 0; i++) {
        struct usage usage = {0};
        struct walk walk = {.usage = &usage, .what = what};

        r = walk_once(&walk, pid);
        if (r == 0 && usage.memory_bytes >= ret_usage->memory_bytes)
            *ret_usage = usage;
        has_missed = walk.has_missed;
        vec_done(&walk.members);
    }
    return r < 0 ? error_errno(err, -r, "measure the processes of the session") : 0;
}

int usage_each(pid_t pid, void (*found)(void *context, int dir_fd), void *context)
{
    bool has_missed = true;
    int r = 0;

    for (int i = 0; i < USAGE_WALKS && has_missed && r == 0; i++) {
        struct usage usage = {0};
        struct walk walk = {.usage = &usage, .found = found, .context = context};

        r = walk_once(&walk, pid);
        has_missed = walk.has_missed;
        vec_done(&walk.members);
    }
    return r;
}
