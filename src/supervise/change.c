/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change what a name stands for, or what is known of it: renames, removal, truncation by
 * path, modes and attributes. */
#include "base/cleanup.h"
#include "base/mutant.h"
#include "supervise/call.h"
#include "supervise/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

/* One side of a rename. */
struct side {
    struct location at;
    struct stat st;
    int missing; /* 0: it is there; else why it cannot be seen, a negative errno */
    bool is_refused;
};

/*
 * SECURITY: the kernel keeps a mount point from being renamed or removed only
 * where the caller's own mounts are, and those of the supervisor are the host's.
 * That the rules let it be written does not mean that the host's directory below
 * may go. What is asked about is mounted over itself, and may go when the answer was yes.
 */
static int refuse_mount_point(const struct call *call, const struct location *at)
{
    struct path_decision decision;

    if (!LAYER("lending") || strcmp(at->name, ".") == 0 || !locate_is_mount_point(at) ||
        guard_asks(call->guard, at->path, PATH_READ, &decision))
        return 0;
    return call_refuse(call, at->path, EBUSY);
}

static int find_side(struct call *call, int which, struct side *side)
{
    int r = locate(&call->locator, &call->starts[which], call->paths[which], &side->at);

    if (r < 0)
        return r;
    if (fstatat(side->at.dir, side->at.name, &side->st, AT_SYMLINK_NOFOLLOW) < 0)
        side->missing = -errno;
    /* No name can be looked for there: the kernel says so before it looks at the other side. */
    if (side->missing == -ENOTDIR || side->missing == -EACCES)
        return side->missing;
    side->is_refused = call_judge(call, &side->at, PATH_WRITE) < 0;
    return 0;
}

static int judge_rename(const struct call *call, const struct side *from, const struct side *to,
                        unsigned flags)
{
    int r;

    if (strcmp(from->at.name, ".") == 0 || strcmp(to->at.name, ".") == 0)
        return 0; /* the kernel refuses it */
    /* The kernel asks for this first, once the directories may be searched. What a rule is against
     * is refused for that, and told of. */
    if (!from->is_refused && !to->is_refused && locate_is_across(from->at.dir, to->at.dir))
        return -EXDEV;
    /* SECURITY: what is not there now is not looked for again: a socket appears without a call that
     * is seen, and another sandbox may work in the same tree. */
    if (from->missing)
        return from->missing;
    if ((flags & RENAME_EXCHANGE) && to->missing)
        return to->missing;
    if ((flags & RENAME_NOREPLACE) && !to->missing)
        return -EEXIST;
    if (from->is_refused)
        return call_refuse(call, from->at.path, EBUSY);
    if (to->is_refused)
        return call_refuse(call, to->at.path, to->missing ? EACCES : EBUSY);
    r = refuse_mount_point(call, &from->at);
    if (r == 0)
        r = refuse_mount_point(call, &to->at);
    /* Who moves it copies it instead, and each file is judged by itself. */
    if (r == 0 && !guard_is_same_below(call->guard, from->at.path, to->at.path))
        r = -EXDEV;
    return r;
}

/*
 * Whether a name is one of the caller's own descriptors. KERNEL: a process may
 * write in its own /proc/PID/fd whatever the mode says, and no other may. It comes to
 * nothing there but to another errno.
 */
static bool is_own_descriptor(const struct call *call, const struct location *at)
{
    const char *name = strrchr(at->path, '/');
    struct caller_ids ids;

    return name && name - at->path >= 3 && strncmp(name - 3, "/fd", 3) == 0 &&
           locate_is_proc(at->dir) && caller_ids(call->caller, &ids) == 0 &&
           locate_proc_pid(at->path) == ids.tgid;
}

static unsigned rename_flags(const struct call *call)
{
    return call->kind->number == SYS_renameat2 ? (unsigned)call_int(call, 4) : 0;
}

int change_prepare_name(struct call *call)
{
    unsigned flags = rename_flags(call);

    return (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) ||
                   ((flags & RENAME_EXCHANGE) && flags != RENAME_EXCHANGE)
               ? -EINVAL
               : 0;
}

int change_name(struct call *call)
{
    struct side sides[2] = {{.at = LOCATION_NONE}, {.at = LOCATION_NONE}};
    unsigned flags = rename_flags(call);
    char names[2][NAME_MAX + 2];
    int r;

    /* SECURITY: a whiteout hides what lies below it in an overlay. */
    if (flags & RENAME_WHITEOUT)
        return call_refuse(call, call->paths[0], EPERM);
    r = find_side(call, 0, &sides[0]);
    if (r == 0)
        r = call->second;
    if (r == 0)
        r = find_side(call, 1, &sides[1]);
    if (r == 0)
        r = judge_rename(call, &sides[0], &sides[1], flags);
    for (int i = 0; i < 2; i++)
        (void)snprintf(names[i], sizeof(names[i]), "%s%s", sides[i].at.name,
                       sides[i].at.has_slash ? "/" : "");
    if (r == 0 &&
        syscall(SYS_renameat2, sides[0].at.dir, names[0], sides[1].at.dir, names[1], flags) < 0)
        r = -errno;
    if (r == -EACCES && is_own_descriptor(call, &sides[0].at) &&
        is_own_descriptor(call, &sides[1].at))
        r = -EPERM;
    location_done(&sides[0].at);
    location_done(&sides[1].at);
    return r;
}

static int removal_flags(const struct call *call)
{
    if (call->kind->number == SYS_unlinkat)
        return call_int(call, 2);
#ifdef SYS_rmdir
    if (call->kind->number == SYS_rmdir)
        return AT_REMOVEDIR;
#endif
    return 0;
}

int change_prepare_removal(struct call *call)
{
    return removal_flags(call) & ~AT_REMOVEDIR ? -EINVAL : 0;
}

/* What the kernel says of a path without a last name: "/", "x/..". */
static int refuse_dots(const struct location *at, const char *path, int flags)
{
    size_t end = strlen(path);
    int r = locate_search(at);

    if (r < 0)
        return r;
    if (!(flags & AT_REMOVEDIR))
        return -EISDIR;
    while (end > 0 && path[end - 1] == '/')
        end--;
    if (end == 0)
        return -EBUSY;
    return end >= 2 && path[end - 2] == '.' ? -ENOTEMPTY : -EINVAL;
}

int change_remove(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    int flags = removal_flags(call);
    char name[NAME_MAX + 2];
    struct stat st;
    int r = locate(&call->locator, &call->starts[0], call->paths[0], &at);

    if (r < 0)
        return r;
    if (strcmp(at.name, ".") == 0)
        return refuse_dots(&at, call->paths[0], flags);
    if (call_judge(call, &at, PATH_WRITE) < 0 &&
        fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return call_refuse(call, at.path, EBUSY);
    r = refuse_mount_point(call, &at);
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof(name), "%s%s", at.name, at.has_slash ? "/" : "");
    if (unlinkat(at.dir, name, flags) == 0)
        return 0;
    if (errno == EACCES && is_own_descriptor(call, &at))
        return flags & AT_REMOVEDIR ? -ENOTDIR : -EPERM;
    return -errno;
}

int change_prepare_size(struct call *call)
{
    struct rlimit limit;

    if ((int64_t)call->notif->data.args[1] < 0)
        return -EINVAL;
    identity_leave(call->identity);
    if (prlimit((pid_t)call->notif->pid, RLIMIT_FSIZE, NULL, &limit) < 0)
        return -errno;
    call->size_limit = limit.rlim_cur;
    return 0;
}

/* A pipe or a file without a name has no path that a rule could be about. */
static int judge_subject(const struct call *call, const struct followed *subject)
{
    if (call_is_nameless_stream(call, subject->at.path, &subject->st))
        return call_refuse(call, subject->at.path, EACCES);
    if (subject->at.path[0] != '/' || subject->st.st_nlink == 0 ||
        call_judge_object(call, subject->object, subject->at.path, subject->at.is_anchored,
                          PATH_WRITE) == 0)
        return 0;
    return call_refuse_old(call, subject->object, subject->at.path);
}

int change_size(struct call *call)
{
    autofollowed struct followed subject = FOLLOWED_NONE;
    uint64_t size = call->notif->data.args[1];
    char path[32];
    bool is_file;
    int r = call_follow(call, true, &subject);

    if (r < 0)
        return r;
    is_file = S_ISREG(subject.st.st_mode);
    if (is_file && !subject.is_write_open)
        r = judge_subject(call, &subject);
    if (r < 0)
        return r;
    if (is_file && size > (uint64_t)subject.st.st_size && size > call->size_limit)
        return -EFBIG;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", subject.object);
    return truncate(path, (off_t)size) < 0 ? -errno : 0;
}

/* A file that the caller has open for writing: that was judged when it was opened, unless it came
 * in as a stream. False: it is none, or is not to be had. */
static bool take_written(struct call *call, struct followed *subject)
{
    autoclose int fd = caller_take_fd(call->caller, call_int(call, call->kind->dirs[0]));
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

    if (flags < 0 || (flags & O_PATH) ||
        ((flags & O_ACCMODE) != O_WRONLY && (flags & O_ACCMODE) != O_RDWR) ||
        fstat(fd, &subject->st) < 0 || !S_ISREG(subject->st.st_mode) ||
        streams_has(call->options->streams, &subject->st) || !dirs_are_on(call->locator.dirs, fd))
        return false;
    subject->object = take_fd(&fd);
    return true;
}

/* What a call on modes or attributes is about, by path or by descriptor; refused where a rule is
 * against writing it. */
static int find_subject(struct call *call, int flags, struct followed *subject)
{
    bool is_fd = call->kind->paths[0] < 0;
    int r;

    if (is_fd && take_written(call, subject))
        return 0;
    /* Such a descriptor has a file, but is none. */
    if (is_fd && caller_fd_is_path(call->caller, call_int(call, call->kind->dirs[0])))
        return -EBADF;
    if (is_fd || ((flags & AT_EMPTY_PATH) && call->paths[0][0] == '\0'))
        r = call_follow_fd(call, subject);
    else
        r = call_follow(call, !(flags & AT_SYMLINK_NOFOLLOW), subject);
    return r < 0 ? r : judge_subject(call, subject);
}

static int mode_flags(const struct call *call)
{
    return call->kind->number == SYS_fchmodat2 ? call_int(call, 3) : 0;
}

int change_prepare_mode(struct call *call)
{
    return mode_flags(call) & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

int change_mode(struct call *call)
{
    int which = call->kind->paths[0] < 0 ? 1 : call->kind->paths[0] + 1;
    int flags = mode_flags(call);
    autofollowed struct followed subject = FOLLOWED_NONE;
    char name[16];
    int r = find_subject(call, flags, &subject);

    if (r < 0)
        return r;
    if (S_ISLNK(subject.st.st_mode))
        return -EOPNOTSUPP;
    (void)snprintf(name, sizeof(name), "%d", subject.object);
    return syscall(SYS_fchmodat, call->locator.self_fd, name, (mode_t)call_int(call, which)) < 0
               ? -errno
               : 0;
}

int change_prepare_attribute(struct call *call)
{
    uint64_t size = call->notif->data.args[3];

    if (size > XATTR_SIZE_MAX)
        return -E2BIG;
    call->value = malloc(size ? size : 1);
    if (!call->value)
        return -ENOMEM;
    return size ? caller_read(call->caller, call->notif->data.args[2], call->value, size) : 0;
}

int change_attribute(struct call *call)
{
    autofollowed struct followed subject = FOLLOWED_NONE;
    char path[32];
    int r = find_subject(call, call->kind->name[0] == 'l' ? AT_SYMLINK_NOFOLLOW : 0, &subject);

    if (r < 0)
        return r;
    /* SECURITY: the caller has no capability for these. We have, in a private tree: it belongs to a
     * user namespace that we own. */
    if (LAYER("lending") && strncmp(call->text, "security.", 9) == 0)
        return -EPERM;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", subject.object);
    if (call->value)
        r = setxattr(path, call->text, call->value, call->notif->data.args[3], call_int(call, 4));
    else
        r = removexattr(path, call->text);
    return r < 0 ? -errno : 0;
}

/* KERNEL: an int, whatever the request's number says. */
enum { FLAGS_BYTES = sizeof(int) };

/* FS_IOC_SETFLAGS: the filter sends no other request. */
int change_prepare_flags(struct call *call)
{
    call->value = malloc(FLAGS_BYTES);
    if (!call->value)
        return -ENOMEM;
    return caller_read(call->caller, call->notif->data.args[2], call->value, FLAGS_BYTES);
}

/* SECURITY: in a directory that folds case .GIT is .git, and rules know names by their bytes. One
 * that folds already may be told so again: chattr sends all flags each time. */
static bool begins_to_fold(int fd, int flags)
{
    int before = 0;

    return (flags & FS_CASEFOLD_FL) &&
           (ioctl(fd, FS_IOC_GETFLAGS, &before) < 0 || !(before & FS_CASEFOLD_FL));
}

int change_flags(struct call *call)
{
    autofollowed struct followed subject = FOLLOWED_NONE;
    autoclose int fd = -EBADF;
    int flags;
    int r = find_subject(call, 0, &subject);

    if (r < 0)
        return r;
    if (!S_ISREG(subject.st.st_mode) && !S_ISDIR(subject.st.st_mode))
        return -ENOTTY;
    fd = locate_open(&call->locator, subject.object, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd == -EACCES && S_ISREG(subject.st.st_mode))
        fd = locate_open(&call->locator, subject.object, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    memcpy(&flags, call->value, FLAGS_BYTES);
    if (begins_to_fold(fd, flags))
        return call_refuse(call, subject.at.path, EPERM);
    return ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0 ? -errno : 0;
}
