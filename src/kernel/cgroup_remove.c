/* SPDX-License-Identifier: Apache-2.0 */
/* Ends what is in a group and takes its directories away. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/cgroup_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    REMOVE_LIMIT_MS = 2000,
    REMOVE_DEPTH = 200,      /* groups that the contained nested in each other */
    KILL_LIST_BYTES = 65536, /* of cgroup.procs, each round */
};

/* Whether the text of cgroup.procs names this process. */
static bool names_pid(const char *text, long pid)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line && strtol(line, NULL, 10) == pid)
            return true;
    }
    return false;
}

/* SECURITY: a pid of the list may be another process by now. The descriptor holds one process,
 * and the list is read again: what it still names is what the descriptor holds, or has ended. */
static void kill_member(int fd, long pid, char *again)
{
    autoclose int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

    if (pidfd >= 0 && cgroup_read(fd, "cgroup.procs", again, KILL_LIST_BYTES) == 0 &&
        names_pid(again, pid))
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* One by one, for v1 and for kernels before 5.14. */
static void kill_listed(int fd)
{
    autofree char *list = malloc(KILL_LIST_BYTES);
    autofree char *again = malloc(KILL_LIST_BYTES);
    char *line;

    /* Nobody can fork away from under the list. */
    (void)cgroup_write(fd, "pids.max", "0");
    if (!list || !again || cgroup_read(fd, "cgroup.procs", list, KILL_LIST_BYTES) < 0)
        return;
    for (char *cursor = list; (line = strsep(&cursor, "\n"));) {
        long pid = strtol(line, NULL, 10);

        if (pid > 1 && pid != (long)getpid())
            kill_member(fd, pid, again);
    }
}

/* KERNEL(5.14): cgroup.kill takes the groups below along, and whoever forks meanwhile. */
static void kill_group(int fd)
{
    if (cgroup_write(fd, "cgroup.kill", "1") < 0)
        kill_listed(fd);
}

static int open_directory(int fd, const char *name)
{
    return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The groups below this one, the deepest first. What is still busy stays for the next round. */
static void remove_below(int fd, unsigned depth, bool kills)
{
    int own = open_directory(fd, ".");
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;

    if (!dir) {
        if (own >= 0)
            close(own);
        return;
    }
    while (depth < REMOVE_DEPTH && (entry = readdir(dir))) {
        autoclose int below = -EBADF;

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0)
            continue;
        below = open_directory(fd, entry->d_name);
        if (below < 0)
            continue;
        remove_below(below, depth + 1, kills);
        if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) < 0 && kills)
            kill_group(below);
    }
    closedir(dir);
}

int cgroup_remove_tree(const char *path, int fd, bool kills)
{
    autoclose int own = -EBADF;
    struct timespec pause = {.tv_nsec = 100000};
    int64_t end = 0;

    for (;;) {
        /* Mostly all have ended, and this is all there is to do. */
        if (rmdir(path) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY && errno != ENOTEMPTY)
            return -errno;
        if (end == 0)
            end = clock_ms() + (kills ? REMOVE_LIMIT_MS : 0);
        if (fd < 0) {
            own = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
            if (own < 0)
                return -errno;
            fd = own;
        }
        if (kills)
            kill_group(fd);
        remove_below(fd, 0, kills);
        if (rmdir(path) == 0)
            return 0;
        if (clock_ms() >= end)
            return -EBUSY;
        /* A killed process is in its group until it has ended. */
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < 10000000)
            pause.tv_nsec *= 2;
    }
}
