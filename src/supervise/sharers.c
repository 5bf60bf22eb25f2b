/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/sharers.h"

#include "base/cleanup.h"
#include "kernel/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SET_BYTES = 4096, THREADS_MAX = 8, NONE = -1 };

struct search {
    uint64_t number;
    char link[40]; /* what a descriptor of it is a link to */
    unsigned threads;
};

/* Whether a set of epoll has the file: "tfd: ... ino:NUMBER sdev:..." for each, in hexadecimal. */
static bool is_in_set(const struct search *search, int table_fd, const char *set)
{
    autoclose int fd = -EBADF;
    char name[40], wanted[40], text[SET_BYTES];
    size_t kept = 0;
    ssize_t got;

    (void)snprintf(name, sizeof(name), "../fdinfo/%.20s", set);
    (void)snprintf(wanted, sizeof(wanted), " ino:%llx ", (unsigned long long)search->number);
    fd = openat(table_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    while ((got = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
        size_t length = kept + (size_t)got;

        text[length] = '\0';
        if (strstr(text, wanted))
            return true;
        /* What is looked for may be cut in two. */
        kept = length < sizeof(wanted) ? length : sizeof(wanted);
        memmove(text, text + length - kept, kept);
    }
    return got < 0;
}

static bool is_in_entry(const struct search *search, int table_fd, const char *name)
{
    char link[sizeof(search->link)];
    ssize_t length = readlinkat(table_fd, name, link, sizeof(link) - 1);

    if (length <= 0)
        return false;
    link[length] = '\0';
    return strcmp(link, search->link) == 0 ||
           (strcmp(link, "anon_inode:[eventpoll]") == 0 && is_in_set(search, table_fd, name));
}

/* Whether a process has it otherwise than by this descriptor. */
static bool is_in_table(const struct search *search, int process_fd, int but)
{
    int table_fd = openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = table_fd < 0 ? NULL : fdopendir(table_fd);
    const struct dirent *entry;
    bool is_known = false;

    if (!dir) {
        if (table_fd >= 0)
            (void)close(table_fd);
        return true;
    }
    while (!is_known && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != but)
            is_known = is_in_entry(search, table_fd, entry->d_name);
    }
    (void)closedir(dir);
    return is_known;
}

/* Whether another one does not have it; one that has ended has nothing. */
static bool is_free_of(void *context, pid_t pid)
{
    const struct search *search = context;
    autoclose int process_fd = process_open(pid);

    return process_fd < 0 || !is_in_table(search, process_fd, NONE);
}

static bool are_children_free(struct search *search, int process_fd)
{
    DIR *dir = process_threads(process_fd);
    const struct dirent *entry;
    bool are_free = dir;

    while (are_free && search->threads < THREADS_MAX && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        search->threads++;
        are_free = process_children(process_fd, entry->d_name, is_free_of, search);
    }
    if (dir)
        (void)closedir(dir);
    return are_free;
}

bool sharers_are(struct caller *caller, int fd, uint64_t number, pid_t init)
{
    struct search search = {.number = number};
    int process_fd = caller_proc(caller);
    pid_t parent = process_fd < 0 ? -1 : caller_parent(caller);

    (void)snprintf(search.link, sizeof(search.link), "socket:[%llu]", (unsigned long long)number);
    return parent < 0 || is_in_table(&search, process_fd, fd) ||
           (parent > 0 && parent != init && !is_free_of(&search, parent)) ||
           !are_children_free(&search, process_fd);
}
