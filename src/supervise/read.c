/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens that only read, held with sandbox.late: held, so that a name which a rule hides cannot be
 * opened from the moment it appears, whoever makes it.
 *
 * How it works: the thing is taken hold of with O_PATH first. Then the kernel is asked which path
 * it has, and the rules are asked about that path. So there is a moment within the call at which
 * the thing that is opened had a name that is not hidden. Whatever is renamed, replaced or made
 * outside meanwhile, that holds.
 *
 * SECURITY: the caller never makes such a call itself, because it could change the path meanwhile.
 * That is why files of /proc are opened here too. What they tell depends on who opens them; so
 * where it does, a child opens them that is like the caller.
 */
#include "base/cleanup.h"
#include "base/path.h"
#include "kernel/process.h"
#include "supervise/answer.h"
#include "supervise/become.h"
#include "supervise/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOST = 255 };

bool read_is_held(const struct call *call, uint64_t flags)
{
    /* As the filter has it: these open nothing that could be read. */
    return (call->options->image->flags & IMAGE_HOLDS_READS) &&
           !(flags & (O_PATH | (O_TMPFILE & ~O_DIRECTORY)));
}

bool read_is_lost(const struct stat *st, const char *path)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path);

    return st->st_nlink == 0 && !S_ISDIR(st->st_mode) && path[0] == '/' && length >= sizeof(mark) &&
           strcmp(path + length - (sizeof(mark) - 1), mark) == 0;
}

/* KERNEL: names below it depend on the namespaces of who looks for them. */
static bool is_sysctl(const char *path)
{
    return path_is_below(path, "/proc/sys");
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* KERNEL: whether a file of /proc tells the same to everybody who may open it. Some show ids as
 * the user namespace of who opened them has them, or what is in its other namespaces. */
static bool is_same_for_all(const struct call *call, const struct stat *st, const char *path)
{
    static const char *const of_machine[] = {"cpuinfo", "devices", "filesystems", "loadavg",
                                             "meminfo", "stat",    "uptime",      "version",
                                             "vmstat",  NULL};
    static const char *const with_ids[] = {"status", "uid_map", "gid_map", "projid_map", NULL};
    pid_t pid = locate_proc_pid(path);
    struct caller_ids ids;

    if (is_sysctl(path) || pid < 0)
        return false;
    /* What is in a directory is for who lists it. */
    if (S_ISDIR(st->st_mode))
        return true;
    if (pid == 0)
        return strchr(path + strlen("/proc/"), '/') == NULL &&
               is_among(last_name(path), of_machine);
    /* What the kernel asks about the caller's own it would grant to the caller. */
    return caller_ids(call->caller, &ids) == 0 && pid == ids.tgid &&
           !is_among(last_name(path), with_ids) && !strstr(path, "/net/");
}

/*
 * Holds:    the call, and all that the supervisor has open.
 * Must:     have no right that the caller has not before it opens, and be where the caller is.
 * Mustn't:  hand over anything but a file of /proc, or be known inside.
 */
static _Noreturn void open_as_caller(const struct call *call, const char *path)
{
    uint64_t flags = (call->how.flags & ~(uint64_t)O_NOFOLLOW) | O_NOCTTY | O_NONBLOCK;
    int notify_fd = call->options->notify_fd;
    int fd;

    if (!become_neighbour(call))
        _exit(LOST);
    fd = locate_openat2(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
    if (fd >= 0 && !locate_is_proc(fd))
        _exit(LOST);
    if (fd >= 0 && !(call->how.flags & O_NONBLOCK))
        (void)fcntl(fd, F_SETFL, (int)call->how.flags & ~(O_NONBLOCK | O_ASYNC));
    if (fd < 0)
        answer_value(notify_fd, call->notif->id, fd);
    else
        answer_fd(notify_fd, call->notif->id, &fd, call->how.flags & O_CLOEXEC, NULL, 0);
    _exit(0);
}

static int open_elsewhere(struct call *call, const char *path)
{
    pid_t pid = process_split(-EBADF, NULL);
    int status = 0;

    if (pid == 0)
        open_as_caller(call, path);
    if (pid < 0)
        return -EAGAIN;
    if (waitpid(pid, &status, __WALL) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return -EACCES;
    call->is_kept = true;
    return 0;
}

int read_proc(struct call *call, const struct stat *st, const char *path)
{
    if (call->kind->number == SYS_openat2)
        return -ENOSYS;
    return is_same_for_all(call, st, path) ? 1 : open_elsewhere(call, path);
}

/* A path below /proc/sys as it was given: here it would be looked for in other namespaces. */
static int read_sysctl(struct call *call)
{
    autofree char *path = path_normalize("/", call->paths[0]);

    if (!path)
        return -ENOMEM;
    if (!is_sysctl(path) || call->kind->number == SYS_openat2)
        return 1;
    if (guard_ask(call->guard, path, PATH_READ) == GUARD_REFUSE)
        return call_refuse(call, path, EACCES);
    return open_elsewhere(call, path);
}

/* Where a path without links leads by its words alone, from where it starts. False: that is not
 * known, or it is not spelled plainly. */
static bool spell(const struct call *call, char whole[static LIMIT_PATH_BYTES])
{
    const char *path = call->paths[0];
    const char *from = path[0] == '/' ? "" : locate_start(&call->locator, call->starts[0]);
    size_t end = strlen(path);
    int length;

    if (!from)
        return false;
    while (end > 1 && path[end - 1] == '/')
        end--;
    if (end == 1 && path[0] == '.')
        length = snprintf(whole, LIMIT_PATH_BYTES, "%s", from);
    else
        length = snprintf(whole, LIMIT_PATH_BYTES, "%s%s%.*s", from[0] && from[1] ? from : "",
                          path[0] == '/' ? "" : "/", (int)end, path);
    return length >= 0 && length < LIMIT_PATH_BYTES;
}

/*
 * One look: 1: walk it by hand; -EEXIST: it was removed meanwhile, look again.
 * SECURITY: where the kernel says the same as the words, what is held is inside: of something that
 * was moved out of what is shown it says where that is on its file system.
 */
static int look(struct call *call)
{
    const struct locator *locator = &call->locator;
    const char *path = call->paths[0];
    bool is_absolute = path[0] == '/';
    autoclose int object =
        is_absolute
            ? locate_openat2(locator->root_fd, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS)
            : locate_openat2(call->starts[0], path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    char spelled[LIMIT_PATH_BYTES];
    char now[LIMIT_PATH_BYTES];
    struct stat st;
    int r;

    if (object == -ELOOP || object == -EXDEV)
        return 1;
    if (object < 0)
        return object;
    if (fstat(object, &st) < 0)
        return -errno;
    r = locate_path(locator, object, now);
    if (r < 0 || now[0] != '/')
        return r < 0 ? r : -EACCES;
    if (read_is_lost(&st, now))
        return -EEXIST;
    return open_object(call, &object, &st, now, spell(call, spelled) && strcmp(now, spelled) == 0,
                       false);
}

int read_plain(struct call *call)
{
    const char *path = call->paths[0];
    int r = -EEXIST;

    /* The descriptor of a file has the flag only when it was opened by its name. */
    if ((call->how.flags & O_NOFOLLOW) && !(call->how.flags & O_DIRECTORY))
        return 1;
    if (strncmp(path, "/proc/sys/", strlen("/proc/sys/")) == 0) {
        r = read_sysctl(call);
        if (r <= 0)
            return r;
        r = -EEXIST;
    }
    for (int i = 0; i < OPEN_TRIES && r == -EEXIST; i++)
        r = look(call);
    return r == -EEXIST ? -ENOENT : r;
}
