/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/caller.h"

#include "base/cleanup.h"
#include "base/scratch.h"
#include "supervise/answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum { STATUS_BYTES = 8192, PAGE_BYTES = 4096, MOST_PATHS_BYTES = 256 };

static void caller_init(struct caller *caller, int notify_fd)
{
    *caller = (struct caller){
        .notify_fd = notify_fd, .proc_fd = -EBADF, .status_fd = -EBADF, .process_fd = -EBADF};
}

/* What is known of the thread, but for its id and its call. */
static void caller_forget(struct caller *caller)
{
    cleanup_close(&caller->proc_fd);
    cleanup_close(&caller->status_fd);
    cleanup_close(&caller->process_fd);
    caller->proc_fd = caller->status_fd = caller->process_fd = -EBADF;
}

void callers_init(struct callers *callers, int notify_fd)
{
    *callers = (struct callers){.notify_fd = notify_fd};
    for (unsigned i = 0; i < CALLERS_KNOWN; i++)
        caller_init(&callers->known[i], notify_fd);
}

void callers_done(struct callers *callers)
{
    for (unsigned i = 0; i < CALLERS_KNOWN; i++)
        caller_forget(&callers->known[i]);
}

/* The one that has not called for longest, for another thread. */
static struct caller *replace_oldest(struct callers *callers)
{
    struct caller *oldest = &callers->known[0];

    for (unsigned i = 1; i < CALLERS_KNOWN; i++)
        if (callers->known[i].used < oldest->used)
            oldest = &callers->known[i];
    caller_forget(oldest);
    return oldest;
}

struct caller *callers_find(struct callers *callers, pid_t tid, uint64_t call)
{
    struct caller *caller = NULL;

    for (unsigned i = 0; i < CALLERS_KNOWN && !caller; i++)
        if (callers->known[i].tid == tid)
            caller = &callers->known[i];
    if (!caller)
        caller = replace_oldest(callers);
    caller->tid = tid;
    caller->call = call;
    caller->used = ++callers->used;
    return caller;
}

/* Its directory in /proc. */
static int open_proc(struct caller *caller)
{
    autoclose int fd = -EBADF;
    char path[32];

    if (caller->proc_fd >= 0)
        return caller->proc_fd;
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)caller->tid);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* SECURITY: as long as its call waits, the id is still its own. */
    if (!answer_is_wanted(caller->notify_fd, caller->call))
        return -ESRCH;
    caller->proc_fd = take_fd(&fd);
    return caller->proc_fd;
}

int caller_proc(struct caller *caller)
{
    return open_proc(caller);
}

static int open_once_in_proc(struct caller *caller, const char *name, int flags)
{
    int dir = open_proc(caller);
    int fd = dir < 0 ? dir : openat(dir, name, flags | O_CLOEXEC);

    return dir >= 0 && fd < 0 ? -errno : fd;
}

static int open_in_proc(struct caller *caller, const char *name, int flags)
{
    bool was_known = caller->proc_fd >= 0;
    int fd = open_once_in_proc(caller, name, flags);

    if (!was_known || (fd != -ENOENT && fd != -ESRCH))
        return fd;
    /* Perhaps that was another thread by the same id, which is dead. */
    caller_forget(caller);
    return open_once_in_proc(caller, name, flags);
}

/* Not in the headers of every libc that bawn is built with. KERNEL(6.11) */
struct map_query {
    uint64_t size, flags, address;
    uint64_t answer[10]; /* not looked at */
};
#define MAP_QUERY    _IOWR('f', 17, struct map_query)
#define MAP_READABLE 1U

/* Whether the caller itself could read there. Where the kernel cannot be asked: yes. */
static bool is_readable(struct caller *caller, uint64_t address)
{
    autoclose int fd = open_in_proc(caller, "maps", O_RDONLY);
    struct map_query query = {.size = sizeof(query), .flags = MAP_READABLE, .address = address};

    return fd < 0 || answer_request(fd, MAP_QUERY, &query) == 0 || errno != ENOENT;
}

/* The same by another door, where the filter of a sandbox around us refuses the call. It opens to
 * what is mapped, readable or not. */
static ssize_t read_mem(struct caller *caller, uint64_t address, void *bytes, size_t size)
{
    autoclose int fd = open_in_proc(caller, "mem", O_RDONLY);
    ssize_t got;

    if (fd < 0)
        return fd;
    if (!is_readable(caller, address))
        return -EFAULT;
    got = pread(fd, bytes, size, (off_t)address);
    return got < 0 ? -errno : got;
}

static ssize_t read_some(struct caller *caller, uint64_t address, void *bytes, size_t size)
{
    struct iovec local = {.iov_base = bytes, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    ssize_t got = process_vm_readv(caller->tid, &local, 1, &remote, 1, 0);

    if (got < 0 && errno == EPERM)
        return read_mem(caller, address, bytes, size);
    return got < 0 ? -errno : got;
}

int caller_read(struct caller *caller, uint64_t address, void *bytes, size_t size)
{
    ssize_t got = read_some(caller, address, bytes, size);

    return got == (ssize_t)size ? 0 : -EFAULT;
}

int caller_read_path(struct caller *caller, uint64_t address, char path[static LIMIT_PATH_BYTES])
{
    size_t used = 0;

    while (used < LIMIT_PATH_BYTES) {
        uint64_t at = address + used;
        /* Not past the end of a page: the next one need not be there. */
        size_t want = PAGE_BYTES - (size_t)(at % PAGE_BYTES);
        ssize_t got;

        if (want > LIMIT_PATH_BYTES - used)
            want = LIMIT_PATH_BYTES - used;
        if (used == 0 && want > MOST_PATHS_BYTES)
            want = MOST_PATHS_BYTES;
        got = read_some(caller, at, path + used, want);
        if (got <= 0)
            return -EFAULT;
        if (memchr(path + used, '\0', (size_t)got))
            return 0;
        used += (size_t)got;
    }
    return -ENAMETOOLONG;
}

static ssize_t read_status_once(struct caller *caller, char text[static STATUS_BYTES])
{
    ssize_t got;

    if (caller->status_fd < 0)
        caller->status_fd = open_in_proc(caller, "status", O_RDONLY);
    if (caller->status_fd < 0)
        return caller->status_fd;
    got = pread(caller->status_fd, text, STATUS_BYTES - 1, 0);
    return got < 0 ? -errno : got;
}

static int read_status(struct caller *caller, char text[static STATUS_BYTES])
{
    bool was_known = caller->status_fd >= 0;
    ssize_t got = read_status_once(caller, text);

    if (got <= 0 && was_known) {
        caller_forget(caller);
        got = read_status_once(caller, text);
    }
    if (got <= 0)
        return got < 0 ? (int)got : -ESRCH;
    text[got] = '\0';
    return 0;
}

/* Behind "\nKEY:\t", or NULL. */
static const char *status_field(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += line[0] == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return line + length + 1;
    }
    return NULL;
}

/* The number behind "KEY:" in the text, which is in the given base. */
static int parse_field(const char *text, const char *key, int base, uint64_t *ret_value)
{
    const char *field = status_field(text, key);

    if (!field)
        return -EBADF;
    *ret_value = strtoull(field, NULL, base);
    return 0;
}

/* KERNEL: umask(2) cannot fail, so it is not held and the answer not remembered: who waits for us
 * may be interrupted. */
int caller_umask(struct caller *caller, mode_t *ret_umask)
{
    scratch char text[STATUS_BYTES];
    uint64_t mask;
    int r = read_status(caller, text);

    if (r < 0)
        return r;
    if (parse_field(text, "Umask", 8, &mask) < 0)
        return -ESRCH; /* it is ending */
    *ret_umask = (mode_t)mask;
    return 0;
}

/* "HOST\tSANDBOX": the second, or the first where the reader's /proc is the sandbox's. */
static int parse_id(const char *field, pid_t *ret_id)
{
    char *end;

    if (!field)
        return -ESRCH;
    *ret_id = (pid_t)strtol(field, &end, 10);
    if (end == field)
        return -ESRCH;
    if (*end == '\t')
        *ret_id = (pid_t)strtol(end, NULL, 10);
    return 0;
}

int caller_ids(struct caller *caller, struct caller_ids *ret_ids)
{
    scratch char text[STATUS_BYTES];
    int r = read_status(caller, text);

    if (r == 0)
        r = parse_id(status_field(text, "NStgid"), &ret_ids->tgid);
    if (r == 0)
        r = parse_id(status_field(text, "NSpid"), &ret_ids->tid);
    return r;
}

pid_t caller_parent(struct caller *caller)
{
    scratch char text[STATUS_BYTES];
    uint64_t parent;

    return read_status(caller, text) < 0 || parse_field(text, "PPid", 10, &parent) < 0
               ? -1
               : (pid_t)parent;
}

int caller_name(struct caller *caller, char name[static CALLER_NAME_BYTES])
{
    autoclose int fd = open_in_proc(caller, "comm", O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, name, CALLER_NAME_BYTES);

    if (got <= 0)
        return -ESRCH;
    name[got - 1] = '\0'; /* it ends in a line feed */
    return 0;
}

int caller_status(struct caller *caller)
{
    scratch char text[STATUS_BYTES];
    int r = read_status(caller, text);

    return r < 0 ? r : caller->status_fd;
}

int caller_signals(int status_fd, struct caller_signals *ret_signals)
{
    scratch char text[STATUS_BYTES];
    ssize_t got = pread(status_fd, text, sizeof(text) - 1, 0);
    uint64_t blocked, group, thread;

    if (got <= 0)
        return -ESRCH;
    text[got] = '\0';
    if (parse_field(text, "SigPnd", 16, &ret_signals->own) < 0 ||
        parse_field(text, "ShdPnd", 16, &ret_signals->shared) < 0 ||
        parse_field(text, "SigBlk", 16, &blocked) < 0 ||
        parse_field(text, "Tgid", 10, &group) < 0 || parse_field(text, "Pid", 10, &thread) < 0)
        return -ESRCH;
    ret_signals->own &= ~blocked;
    ret_signals->shared &= ~blocked;
    ret_signals->group = (pid_t)group;
    ret_signals->thread = (pid_t)thread;
    return 0;
}

/* What a thread blocks; nothing where it cannot be seen. */
static uint64_t blocked_by(int tasks, const char *thread)
{
    scratch char text[STATUS_BYTES];
    autoclose int fd = -EBADF;
    uint64_t blocked = 0;
    ssize_t got;

    (void)snprintf(text, sizeof(text), "%s/status", thread);
    fd = openat(tasks, text, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    return parse_field(text, "SigBlk", 16, &blocked) < 0 ? 0 : blocked;
}

bool caller_is_only_taker(const struct caller_signals *signals)
{
    uint64_t left = signals->shared;
    char path[32];
    const struct dirent *entry;
    DIR *tasks;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)signals->group);
    tasks = opendir(path);
    if (!tasks)
        return false;
    while (left && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != signals->thread)
            left &= blocked_by(dirfd(tasks), entry->d_name);
    (void)closedir(tasks);
    return left != 0;
}

/* A pidfd of its process; kept, or the caller's to close. */
static int open_process(struct caller *caller)
{
    scratch char text[STATUS_BYTES];
    autoclose int process = -EBADF;
    uint64_t group;
    int r = read_status(caller, text);

    if (r < 0)
        return r;
    if (parse_field(text, "Tgid", 10, &group) < 0)
        return -ESRCH;
    process = (int)syscall(SYS_pidfd_open, (pid_t)group, 0);
    if (process < 0)
        return -errno;
    /* SECURITY: as long as its call waits, the id is still its own. */
    if (!answer_is_wanted(caller->notify_fd, caller->call))
        return -ESRCH;
    if ((pid_t)group == caller->tid)
        caller->process_fd = process;
    return take_fd(&process);
}

int caller_take_fd(struct caller *caller, int fd)
{
    int process = caller->process_fd;
    int r = process < 0 ? -ESRCH : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

    if (process >= 0 && (r >= 0 || errno != ESRCH))
        return r < 0 ? -errno : r;
    /* Perhaps that was another one by the same id, which is dead. */
    if (process >= 0)
        caller_forget(caller);
    process = open_process(caller);
    if (process < 0)
        return process;
    r = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    r = r < 0 ? -errno : r;
    if (process != caller->process_fd)
        (void)close(process);
    return r;
}

int caller_open_users(struct caller *caller)
{
    return open_in_proc(caller, "ns/user", O_RDONLY);
}

int caller_open_mounts(struct caller *caller)
{
    return open_in_proc(caller, "ns/mnt", O_RDONLY);
}

/* The effective one: "KEY:\tREAL\tEFFECTIVE\t..." */
static int parse_effective(const char *text, const char *key, unsigned *ret_id)
{
    const char *field = status_field(text, key);
    char *end;

    if (!field)
        return -ESRCH;
    (void)strtoul(field, &end, 10);
    *ret_id = (unsigned)strtoul(end, NULL, 10);
    return 0;
}

int caller_rights(struct caller *caller, struct caller_rights *ret_rights)
{
    autoclose int fd = open_in_proc(caller, "status", O_RDONLY);
    scratch char text[STATUS_BYTES];
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    uint64_t mask;
    int r;

    if (got <= 0)
        return -ESRCH;
    text[got] = '\0';
    r = parse_effective(text, "Uid", &ret_rights->uid);
    if (r == 0)
        r = parse_effective(text, "Gid", &ret_rights->gid);
    if (r == 0)
        r = parse_field(text, "Umask", 8, &mask);
    if (r == 0)
        ret_rights->umask = (mode_t)mask;
    return r;
}

int caller_tty(struct caller *caller, dev_t *ret_device)
{
    autoclose int fd = open_in_proc(caller, "stat", O_RDONLY);
    char text[1024];
    const char *field;
    char *end;
    long session;
    unsigned long device;
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (got <= 0)
        return -ENXIO;
    text[got] = '\0';
    field = strrchr(text, ')'); /* the name may hold anything, but the last one ends it */
    if (!field || strlen(field) < 4)
        return -ENXIO;
    field += 4;                   /* ") S " */
    for (int i = 0; i < 2; i++) { /* parent, process group */
        (void)strtol(field, &end, 10);
        field = end;
    }
    session = strtol(field, &end, 10);
    device = strtoul(end, NULL, 10);
    /* SECURITY: numbers of terminals repeat in each devpts: a session of the host has one of the
     * host's, and its number inside would name somebody else's. */
    if (device == 0 || session <= 0 || session == getsid(0))
        return -ENXIO;
    *ret_device = makedev((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    return 0;
}

enum { FDINFO_BYTES = 1024 };

static int read_fdinfo(struct caller *caller, int fd, char text[static FDINFO_BYTES])
{
    autoclose int info = -EBADF;
    ssize_t got;

    (void)snprintf(text, FDINFO_BYTES, "fdinfo/%d", fd);
    info = open_in_proc(caller, text, O_RDONLY);
    got = info < 0 ? -1 : read(info, text, FDINFO_BYTES - 1);
    if (got <= 0)
        return -EBADF;
    text[got] = '\0';
    return 0;
}

bool caller_fd_is_path(struct caller *caller, int fd)
{
    char text[FDINFO_BYTES];
    uint64_t flags;

    return read_fdinfo(caller, fd, text) == 0 && parse_field(text, "flags", 8, &flags) == 0 &&
           (flags & O_PATH);
}

bool caller_fd_is_cloexec(struct caller *caller, int fd)
{
    char text[FDINFO_BYTES];
    uint64_t flags;

    return read_fdinfo(caller, fd, text) == 0 && parse_field(text, "flags", 8, &flags) == 0 &&
           (flags & O_CLOEXEC);
}

/* Whether on one mount of it two files may have the same number. */
static bool repeats_numbers(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) < 0 || (uint64_t)fs.f_type == BTRFS_SUPER_MAGIC ||
           (uint64_t)fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* One read of fdinfo is about one file. object holds the inode, so that nobody reuses its number.
 */
static int told_flags(struct caller *caller, int fd, int object, const struct statx *held)
{
    char text[FDINFO_BYTES];
    uint64_t flags, mount, inode;

    /* KERNEL(5.14): the inode is told. */
    if (repeats_numbers(object) || read_fdinfo(caller, fd, text) < 0 ||
        parse_field(text, "flags", 8, &flags) < 0 || parse_field(text, "mnt_id", 10, &mount) < 0 ||
        parse_field(text, "ino", 10, &inode) < 0)
        return -EBADF;
    return held->stx_mnt_id == mount && held->stx_ino == inode ? (int)flags : -EBADF;
}

/*
 * SECURITY: another thread may put another file at the number at any time. So the
 * file itself is taken and compared; where that is refused, what the kernel tells of
 * it has to do.
 */
int caller_fd_flags(struct caller *caller, int fd, int object)
{
    autoclose int taken = caller_take_fd(caller, fd);
    struct statx held = {0};
    struct statx its = {0};
    unsigned mask = STATX_INO | STATX_MNT_ID;

    if (syscall(SYS_statx, object, "", AT_EMPTY_PATH, mask, &held) < 0 ||
        !(held.stx_mask & STATX_MNT_ID))
        return -EBADF;
    if (taken == -EPERM)
        return told_flags(caller, fd, object, &held);
    if (taken < 0 || syscall(SYS_statx, taken, "", AT_EMPTY_PATH, mask, &its) < 0 ||
        its.stx_mnt_id != held.stx_mnt_id || its.stx_ino != held.stx_ino ||
        its.stx_dev_major != held.stx_dev_major || its.stx_dev_minor != held.stx_dev_minor)
        return -EBADF;
    return fcntl(taken, F_GETFL);
}

int caller_open_dir(struct caller *caller, int dir_fd)
{
    char name[24] = "cwd";
    int fd;

    if (dir_fd != AT_FDCWD) {
        if (dir_fd < 0)
            return -EBADF;
        (void)snprintf(name, sizeof(name), "fd/%d", dir_fd);
    }
    fd = open_in_proc(caller, name, O_PATH);
    return fd == -ENOENT && dir_fd != AT_FDCWD ? -EBADF : fd;
}

bool caller_is_in_net(struct caller *caller, int net_fd)
{
    autoclose int fd = open_in_proc(caller, "ns/net", O_RDONLY);
    struct stat other;
    struct stat its;

    return fd >= 0 && fstat(fd, &its) == 0 && fstat(net_fd, &other) == 0 &&
           other.st_dev == its.st_dev && other.st_ino == its.st_ino;
}

bool caller_shares_net(struct caller *caller)
{
    autoclose int ours = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    return ours >= 0 && caller_is_in_net(caller, ours);
}
