/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/call.h"
#include "base/mutant.h"
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* Not in the headers. */
#define NTFS3_MAGIC  0x7366746eU
#define VBOXSF_MAGIC 0x786f4256U
#define VMHGFS_MAGIC 0xbacbacbcU

#define ATTRIBUTE(name, dir, path, prepare)                                                        \
    {                                                                                              \
        SYS_##name, #name, {dir, -1}, {path, -1}, 1, prepare, change_attribute                     \
    }

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define TOLD(name, dir, path)                                                                      \
    {                                                                                              \
        SYS_##name, #name, {dir, -1}, {path, -1}, -1, NULL, explain_perform                        \
    }

static const struct call_kind kinds[] = {
#ifdef SYS_open
    {SYS_open, "open", {-1, -1}, {0, -1}, -1, open_prepare, open_perform},
    {SYS_creat, "creat", {-1, -1}, {0, -1}, -1, open_prepare, open_perform},
    {SYS_mkdir, "mkdir", {-1, -1}, {0, -1}, -1, NULL, make_dir},
    {SYS_mknod, "mknod", {-1, -1}, {0, -1}, -1, make_prepare_node, make_node},
    {SYS_symlink, "symlink", {-1, -1}, {1, -1}, 0, NULL, make_symlink},
    {SYS_link, "link", {-1, -1}, {0, 1}, -1, NULL, make_link},
    {SYS_rename, "rename", {-1, -1}, {0, 1}, -1, NULL, change_name},
    {SYS_unlink, "unlink", {-1, -1}, {0, -1}, -1, NULL, change_remove},
    {SYS_rmdir, "rmdir", {-1, -1}, {0, -1}, -1, NULL, change_remove},
#endif
#ifdef SYS_chmod
    {SYS_chmod, "chmod", {-1, -1}, {0, -1}, -1, NULL, change_mode},
#endif
#ifdef SYS_renameat
    {SYS_renameat, "renameat", {0, 2}, {1, 3}, -1, NULL, change_name},
#endif
    {SYS_openat, "openat", {0, -1}, {1, -1}, -1, open_prepare, open_perform},
    {SYS_openat2, "openat2", {0, -1}, {1, -1}, -1, open_prepare_how, open_perform_how},
    {SYS_mkdirat, "mkdirat", {0, -1}, {1, -1}, -1, NULL, make_dir},
    {SYS_mknodat, "mknodat", {0, -1}, {1, -1}, -1, make_prepare_node, make_node},
    {SYS_symlinkat, "symlinkat", {1, -1}, {2, -1}, 0, NULL, make_symlink},
    {SYS_linkat, "linkat", {0, 2}, {1, 3}, -1, make_prepare_link, make_link},
    {SYS_renameat2, "renameat2", {0, 2}, {1, 3}, -1, change_prepare_name, change_name},
    {SYS_unlinkat, "unlinkat", {0, -1}, {1, -1}, -1, change_prepare_removal, change_remove},
    {SYS_truncate, "truncate", {-1, -1}, {0, -1}, -1, change_prepare_size, change_size},
    {SYS_fchmod, "fchmod", {0, -1}, {-1, -1}, -1, NULL, change_mode},
    {SYS_fchmodat, "fchmodat", {0, -1}, {1, -1}, -1, NULL, change_mode},
    {SYS_fchmodat2, "fchmodat2", {0, -1}, {1, -1}, -1, change_prepare_mode, change_mode},
    {SYS_ioctl, "ioctl", {0, -1}, {-1, -1}, -1, ioctl_prepare, ioctl_perform},
    {SYS_ptrace, "ptrace", {-1, -1}, {-1, -1}, -1, NULL, call_refuse_trace},
    {SYS_connect, "connect", {-1, -1}, {-1, -1}, -1, connect_prepare, connect_perform},
    {SYS_listen, "listen", {-1, -1}, {-1, -1}, -1, listen_prepare, listen_perform},
    {SYS_bind, "bind", {-1, -1}, {-1, -1}, -1, bind_prepare, bind_perform},
    ATTRIBUTE(setxattr, -1, 0, change_prepare_attribute),
    ATTRIBUTE(lsetxattr, -1, 0, change_prepare_attribute),
    ATTRIBUTE(fsetxattr, 0, -1, change_prepare_attribute),
    ATTRIBUTE(removexattr, -1, 0, NULL),
    ATTRIBUTE(lremovexattr, -1, 0, NULL),
    ATTRIBUTE(fremovexattr, 0, -1, NULL),
#ifdef SYS_stat
    TOLD(stat, -1, 0),
    TOLD(lstat, -1, 0),
    TOLD(access, -1, 0),
    TOLD(readlink, -1, 0),
#endif
    TOLD(newfstatat, 0, 1),
    TOLD(statx, 0, 1),
    TOLD(faccessat, 0, 1),
    TOLD(faccessat2, 0, 1),
    TOLD(readlinkat, 0, 1),
    TOLD(chdir, -1, 0),
    {SYS_execve, "execve", {-1, -1}, {-1, -1}, -1, exec_prepare, exec_perform},
    {SYS_execveat, "execveat", {-1, -1}, {-1, -1}, -1, exec_prepare, exec_perform},
};

const struct call_kind *call_find(int number)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].number == number)
            return &kinds[i];
    return NULL;
}

static bool is_read_only(int fd)
{
    struct statvfs fs;

    return fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* No name leads to a removed directory, and the kernel lets nobody make anything in it. */
static bool is_removed_dir(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_nlink == 0;
}

/* Calls that leave nothing but a directory at a name that only one may have: what is renamed to it
 * had such a name before. */
static bool keeps_to_dirs(const struct call_kind *kind)
{
    return kind->perform == make_dir || kind->perform == change_name ||
           kind->perform == change_remove || kind->perform == change_mode ||
           kind->perform == change_attribute || kind->perform == ioctl_perform;
}

/* File systems that come from where a file has a short name as well, or that may pass one on. */
static bool has_short_names(int fd)
{
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return true;
    switch ((uint32_t)fs.f_type) {
    case MSDOS_SUPER_MAGIC:
    case NTFS3_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case V9FS_MAGIC:
    case FUSE_SUPER_MAGIC:
    case VBOXSF_MAGIC:
    case VMHGFS_MAGIC:
        return true;
    default:
        return false;
    }
}

/* Whether a link on the way is in the way. */
static bool is_barred(const struct call *call, const char *path)
{
    const struct path_decision *bar = &call->locator.bar;

    return bar->access != ACCESS_UNSET &&
           !(bar->access == ACCESS_ASK && questions_put(call, path, QUESTION_WRITE, bar));
}

int call_judge_object(const struct call *call, int fd, const char *path, bool is_anchored,
                      enum path_op op)
{
    enum guard_answer answer = guard_ask(call->guard, path, op);
    struct path_decision decision;
    scratch char old[LIMIT_PATH_BYTES];

    if (op == PATH_READ && !LAYER("reads"))
        answer = GUARD_ALLOW;
    if (answer == GUARD_ONLY_DIR)
        answer = keeps_to_dirs(call->kind) ? GUARD_ALLOW : GUARD_REFUSE;
    if ((answer == GUARD_REFUSE || answer == GUARD_UNGRANTED) &&
        guard_asks(call->guard, path, op, &decision))
        answer =
            questions_put(call, path, (enum question_op)op, &decision) ? GUARD_ALLOW : GUARD_REFUSE;
    else if (answer == GUARD_REFUSE && op == PATH_READ && !LAYER("late"))
        answer = GUARD_ALLOW;
    if (answer == GUARD_REFUSE || (op == PATH_WRITE && is_barred(call, path)))
        return -EACCES;
    /* SECURITY: GIT~1 is .git there, and nobody says so. */
    if (op == PATH_WRITE && guard_may_be_short(call->guard, path) && has_short_names(fd))
        return -EACCES;
    /* SECURITY: rules and mounts are about the sandbox's own places: a descriptor that came in from
     * outside leads through the host's mounts, and its path may name something else here. */
    if (!is_anchored && !locate_is_inside(&call->locator, fd) &&
        (answer != GUARD_ALLOW || !is_removed_dir(fd))) {
        /* A file may have lost the name that it was opened by, and have others. The lost name
         * decides: the caller could have opened the file by it, with the same rights. */
        if (!locate_was_inside(&call->locator, fd, path, old))
            return -EACCES;
        return call_judge_object(call, fd, old, true, op);
    }
    /* SECURITY: another sandbox that has the same kept home may move a directory in which a tree of
     * the host's is mounted here: then that lies where all is the command's own. */
    if (answer == GUARD_ALLOW && op == PATH_WRITE && call->locator.kept_fd >= 0 &&
        guard_is_kept(call->guard, path) && !locate_is_on(fd, call->locator.kept_fd))
        return -EACCES;
    if (answer == GUARD_ALLOW && op == PATH_WRITE && !keeps_to_dirs(call->kind))
        report_write(call, path);
    if (answer == GUARD_ALLOW)
        return 0;
    /* In a tree of the host a read-only mount refuses what no rule grants. Where the mount is not
     * read-only, whatever the reason, we refuse. */
    if (op == PATH_WRITE && guard_is_host_tree(call->guard, path) && !is_read_only(fd))
        return -EACCES;
    return 0;
}

int call_judge(const struct call *call, const struct location *at, enum path_op op)
{
    return call_judge_object(call, at->dir, at->path, at->is_anchored, op);
}

/*
 * SECURITY: until its exec a command has the memory of pid 1, and the number of a
 * process of its own. Whoever runs another program than ours never has it again.
 */
static bool has_own_memory(const struct call *call, pid_t pid)
{
    char path[32];
    struct stat ours;
    struct stat its;

    (void)snprintf(path, sizeof(path), "proc/%d/exe", (int)pid);
    return stat("/proc/self/exe", &ours) == 0 &&
           fstatat(call->locator.root_fd, path, &its, 0) == 0 &&
           (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino);
}

/* Files of other processes that lend nothing: the kernel asks who writes, not only who opened. And
 * where processes may trace each other, their memory: debuggers set breakpoints there. */
static bool is_lendable(const struct call *call, pid_t pid, const char *path)
{
    uint32_t flags = call->options->image->flags;
    const char *name = strrchr(path, '/');

    return (name && strcmp(name, "/oom_score_adj") == 0) ||
           ((flags & IMAGE_MAY_TRACE) && name && strcmp(name, "/mem") == 0 &&
            has_own_memory(call, pid));
}

int call_judge_proc(const struct call *call, int fd, const char *path)
{
    struct caller_ids ids;
    pid_t pid;
    int r;

    if (!LAYER("lending") || !locate_is_proc(fd))
        return 0;
    if (call->kind->number == SYS_openat2)
        return -ENOSYS;
    pid = locate_proc_pid(path);
    if (pid <= 0)
        return -EACCES;
    r = caller_ids(call->caller, &ids);
    if (r < 0)
        return r;
    if (pid == ids.tgid)
        return 0;
    return pid != 1 && is_lendable(call, pid, path) ? 0 : -EACCES;
}

bool call_is_nameless_stream(const struct call *call, const char *path, const struct stat *st)
{
    return (path[0] != '/' || st->st_nlink == 0) && streams_has(call->options->streams, st);
}

int call_take_umask(struct call *call)
{
    mode_t mask;
    int r = caller_umask(call->caller, &mask);

    if (r == 0 && mask != call->own_umask) {
        (void)umask(mask);
        call->has_umask = true;
    }
    return r;
}

bool call_explain(const struct call *call, const char *path, struct path_decision *ret_decision)
{
    if (path[0] != '/')
        return false;
    guard_explain(call->guard, path, !keeps_to_dirs(call->kind), ret_decision);
    if (ret_decision->access < ACCESS_ASK)
        *ret_decision = call->locator.bar;
    return ret_decision->access >= ACCESS_ASK;
}

int call_refuse(const struct call *call, const char *path, int errnum)
{
    /* Whether it is one is not known yet. */
    if (!questions_holds(call->questions, call->notif->id))
        report_refusal(call, path, errnum);
    return -errnum;
}

/* Refused whatever it is about, and only held so that it is known that somebody wanted it: leak
 * checkers do, and say nothing that a user could make sense of. */
int call_refuse_trace(struct call *call)
{
    return call_refuse(call, "", EPERM);
}

int call_refuse_old(const struct call *call, int fd, const char *path)
{
    return call_refuse(call, path, is_read_only(fd) ? EROFS : EACCES);
}

int call_refuse_new(const struct call *call, const struct location *at)
{
    struct stat st;

    if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    if (errno == ENOTDIR)
        return -ENOTDIR;
    return call_refuse_old(call, at->dir, at->path);
}
