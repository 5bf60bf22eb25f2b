/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a name: directories, nodes, symbolic and hard links. */
#include "base/cleanup.h"
#include "supervise/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int outcome(int result)
{
    return result < 0 ? -errno : 0;
}

/* Where the new name goes; refused unless it may be made. */
static int locate_new(struct call *call, int which, struct location *ret_location)
{
    int r = locate(&call->locator, &call->starts[which], call->paths[which], ret_location);

    if (r == 0 && call_judge(call, ret_location, PATH_WRITE) < 0)
        r = call_refuse_new(call, ret_location);
    return r;
}

/* What only directories may be called: "x/". */
static int refuse_slash(const struct location *at)
{
    struct stat st;

    if (!at->has_slash)
        return 0;
    return fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? -EEXIST : -ENOENT;
}

int make_dir(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    mode_t mode = (mode_t)call->notif->data.args[call->kind->paths[0] + 1];
    int r = locate_new(call, 0, &at);

    if (r == 0)
        r = call_take_umask(call);
    return r < 0 ? r : outcome(mkdirat(at.dir, at.name, mode));
}

int make_node(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    mode_t mode = (mode_t)call->notif->data.args[call->kind->paths[0] + 1];
    struct stat st;
    int r;

    if (S_ISDIR(mode))
        return -EPERM;
    r = locate_new(call, 0, &at);
    if (r == 0)
        r = refuse_slash(&at);
    if (r < 0)
        return r;
    /* SECURITY: anybody may make 0:0, which hides what lies below it in an overlay. */
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) == 0
                   ? -EEXIST
                   : call_refuse(call, at.path, EPERM);
    if (mode & CALL_SET_ID)
        return call_refuse(call, at.path, EPERM);
    r = call_take_umask(call);
    return r < 0 ? r : outcome(mknodat(at.dir, at.name, mode, 0));
}

int make_symlink(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    int r;

    if (!call->text[0])
        return -ENOENT;
    r = locate_new(call, 0, &at);
    if (r == 0)
        r = refuse_slash(&at);
    if (r < 0)
        return r;
    if (guard_has_below(call->guard, at.path))
        return call_refuse_new(call, &at);
    return outcome(symlinkat(call->text, at.dir, at.name));
}

/* What a hard link is made of: a name, or something open that has none (yet). */
struct link_source {
    struct location at;
    int object;
};

/* What may not be written gets no other name, by which it might. That it is on the same mount, and
 * so inside, the kernel sees to. */
static int judge_source(const struct call *call, int fd, const char *path)
{
    return call_judge_object(call, fd, path, true, PATH_WRITE) < 0 ? call_refuse(call, path, EACCES)
                                                                   : 0;
}

static int source_object(struct call *call, struct link_source *source)
{
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    int r;

    if (fstat(source->object, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EPERM;
    if (st.st_nlink == 0 && (st.st_mode & CALL_SET_ID))
        return call_refuse(call, "(no name)", EPERM);
    /* Without a name it cannot be protected, and on another mount the kernel refuses. */
    if (st.st_nlink == 0)
        return 0;
    r = locate_path(&call->locator, source->object, path);
    if (r < 0)
        return r;
    return judge_source(call, source->object, path);
}

static int source_named(struct call *call, struct link_source *source, bool follows)
{
    struct located_link link;
    int start = take_fd(&call->starts[0]);
    const char *path = call->paths[0];
    int r = 0;

    for (unsigned hops = 0; hops <= LIMIT_SYMLINKS; hops++) {
        struct stat st;

        r = locate(&call->locator, &start, path, &source->at);
        cleanup_close(&start);
        start = -EBADF;
        if (r < 0)
            return r;
        if (fstatat(source->at.dir, source->at.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return -errno;
        if (source->at.has_slash && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
            return -ENOTDIR;
        if (!S_ISLNK(st.st_mode) || (!follows && !source->at.has_slash))
            return 0;
        r = locate_link(&call->locator, &source->at, &link);
        if (r < 0)
            return r;
        if (link.object >= 0) {
            source->object = link.object;
            return 0;
        }
        start = take_fd(&source->at.dir);
        path = link.text;
    }
    cleanup_close(&start);
    return -ELOOP;
}

static int find_source(struct call *call, int flags, struct link_source *source)
{
    struct stat st;
    int r;

    if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (!call->paths[0][0]) {
        if (!(flags & AT_EMPTY_PATH))
            return -ENOENT;
        source->object = take_fd(&call->starts[0]);
        return source_object(call, source);
    }
    r = source_named(call, source, flags & AT_SYMLINK_FOLLOW);
    if (r < 0)
        return r;
    if (source->object >= 0)
        return source_object(call, source);
    r = judge_source(call, source->at.dir, source->at.path);
    if (r < 0)
        return r;
    return fstatat(source->at.dir, source->at.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int link_to(struct call *call, const struct link_source *source, const struct location *to)
{
    char path[32];

    /* It may be a symbolic link, or become one until it is linked. */
    if (guard_has_below(call->guard, to->path))
        return call_refuse_new(call, to);
    if (source->object >= 0) {
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", source->object);
        return outcome(linkat(AT_FDCWD, path, to->dir, to->name, AT_SYMLINK_FOLLOW));
    }
    return outcome(linkat(source->at.dir, source->at.name, to->dir, to->name, 0));
}

int make_link(struct call *call)
{
    autolocation struct location to = LOCATION_NONE;
    struct link_source source = {.at = LOCATION_NONE, .object = -EBADF};
    int flags = call->kind->dirs[0] < 0 ? 0 : call_int(call, 4);
    int r = find_source(call, flags, &source);

    if (r == 0)
        r = locate_new(call, 1, &to);
    if (r == 0)
        r = refuse_slash(&to);
    if (r == 0)
        r = link_to(call, &source, &to);
    location_done(&source.at);
    cleanup_close(&source.object);
    return r;
}
