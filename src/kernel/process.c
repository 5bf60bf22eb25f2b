/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/process.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mutant.h"
#include "kernel/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PIDFD_GET_PID_NAMESPACE
#define PIDFD_GET_PID_NAMESPACE _IO(0xff, 5)
#endif

enum { START_FIELD = 22 };

/* A file of a process in /proc; pid 0: of the calling one. */
static bool read_own(pid_t pid, const char *name, char *text, size_t size)
{
    char path[48];
    autoclose int fd = -EBADF;
    ssize_t length;

    if (pid == 0)
        (void)snprintf(path, sizeof(path), "/proc/self/%s", name);
    else
        (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? -1 : read(fd, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* What of its stat comes behind the second field: that is the program's name, and has whatever it
 * likes in it. */
static const char *read_stat(pid_t pid, char *text, size_t size)
{
    return read_own(pid, "stat", text, size) ? strrchr(text, ')') : NULL;
}

bool process_is_stopped(pid_t pid)
{
    char text[1024];
    const char *behind = read_stat(pid, text, sizeof(text));

    return behind && strncmp(behind, ") T ", 4) == 0;
}

uint64_t process_start(pid_t pid)
{
    char text[1024];
    const char *cursor = read_stat(pid, text, sizeof(text));

    for (unsigned field = 2; cursor && field < START_FIELD; field++)
        cursor = strchr(cursor + 1, ' ');
    return cursor ? strtoull(cursor, NULL, 10) : 0;
}

unsigned process_depth(pid_t pid, bool *ret_stopped)
{
    char text[4096];
    const char *cursor;
    unsigned depth = 0;

    *ret_stopped = false;
    if (!read_own(pid, "status", text, sizeof(text)))
        return 0;
    /* The name before it has no line feed: the kernel escapes that. */
    *ret_stopped = strstr(text, "\nState:\tT ") != NULL;
    cursor = strstr(text, "\nNSpid:");
    for (cursor = cursor ? cursor + strlen("\nNSpid:") : NULL; cursor && *cursor == '\t'; depth++)
        cursor += 1 + strcspn(cursor + 1, "\t\n");
    return depth;
}

bool process_is_at(unsigned depth)
{
    char number[16];
    char name[16] = "";
    bool is_stopped;

    /* Whoever has the same number in /proc as for itself has one. It costs a tenth of the other
     * way, and where two numbers are equal by chance what has one is not below us either. */
    (void)snprintf(number, sizeof(number), "%d", (int)getpid());
    if (depth == 1 && readlink("/proc/self", name, sizeof(name) - 1) > 0 &&
        strcmp(name, number) == 0)
        return true;
    return depth == process_depth(0, &is_stopped);
}

int process_open(pid_t pid)
{
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

DIR *process_threads(int dir_fd)
{
    int fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

/* The file may be longer than one read gives. */
bool process_children(int dir_fd, const char *thread, bool (*found)(void *context, pid_t child),
                      void *context)
{
    char path[64], text[4096];
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
            if (pid > 0 && !found(context, (pid_t)pid))
                return false;
            pid = 0;
        }
    }
    return true;
}

int process_peer(int sock, pid_t *ret_pid)
{
    struct ucred peer = {0};
    socklen_t length = sizeof(peer);
    int pidfd = -1;

    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.pid <= 0 ||
        (peer.uid != getuid() && peer.uid != 0))
        return -EACCES;
    length = sizeof(pidfd);
    if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) < 0)
        pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
    *ret_pid = peer.pid;
    return pidfd < 0 ? -EACCES : pidfd;
}

bool process_is_there(int pidfd)
{
    struct pollfd gone = {.fd = pidfd, .events = POLLIN};

    return poll(&gone, 1, 0) == 0;
}

struct stat process_namespace(int pidfd, pid_t pid)
{
    struct stat status;
    autoclose int fd = ioctl(pidfd, PIDFD_GET_PID_NAMESPACE);
    char path[48];

    if (fd >= 0)
        return fstat(fd, &status) == 0 ? status : (struct stat){0};
    /* KERNEL(6.11): before, it is looked up by path, which takes the kernel ten times as long. */
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    return stat(path, &status) == 0 ? status : (struct stat){0};
}

bool process_peer_is_in(int sock, const struct stat *ns)
{
    pid_t pid = 0;
    autoclose int pidfd = process_peer(sock, &pid);
    struct stat theirs;

    if (!LAYER("peers"))
        return true;
    if (pidfd < 0)
        return false;
    theirs = process_namespace(pidfd, pid);
    return ns->st_ino != 0 && theirs.st_ino == ns->st_ino && theirs.st_dev == ns->st_dev &&
           process_is_there(pidfd);
}

pid_t process_split(int group_fd, int *ret_pidfd)
{
    int pidfd = -EBADF;
    struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (__u64)(uintptr_t)&pidfd};
    pid_t pid;

    if (!ret_pidfd)
        return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    pid = (pid_t)sys_clone3(&args, group_fd);
    *ret_pidfd = pidfd;
    return pid;
}

void process_keep_off(pid_t pid)
{
    int here = sched_getcpu();
    cpu_set_t others;

    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(pid, sizeof(others), &others) < 0)
        return;
    CPU_CLR((unsigned)here, &others);
    if (CPU_COUNT(&others) > 0)
        (void)sched_setaffinity(pid, sizeof(others), &others);
}

bool process_keep_fds(const int *fds, unsigned count)
{
    int away[PROCESS_FDS];

    if (count > PROCESS_FDS)
        return false;
    /* Away from the numbers that are given first: one may be another's. */
    for (unsigned i = 0; i < count; i++)
        away[i] = fds[i] < (int)count ? fcntl(fds[i], F_DUPFD, (int)count) : fds[i];
    for (unsigned i = 0; i < count; i++)
        if (dup2(away[i], (int)i) < 0)
            return false;
    return sys_close_range(count, ~0U, 0) == 0;
}

bool process_withdraw(const char *title)
{
    sigset_t all;

    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    (void)prctl(PR_SET_NAME, title, 0, 0, 0);
    return setsid() >= 0 && chdir("/") == 0;
}

static bool put_text(const char *path, const char *text)
{
    autoclose int fd = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && file_put(fd, text, strlen(text)) == 0;
}

bool process_enter_own_users(void)
{
    char uids[32], gids[32];

    (void)snprintf(uids, sizeof(uids), "0 %u 1", (unsigned)geteuid());
    (void)snprintf(gids, sizeof(gids), "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER) == 0 && put_text("/proc/self/setgroups", "deny") &&
           put_text("/proc/self/uid_map", uids) && put_text("/proc/self/gid_map", gids);
}
