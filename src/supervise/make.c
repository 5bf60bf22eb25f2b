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
    return fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? -EEXIST : -errno;
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

static mode_t node_mode(const struct call *call)
{
    return (mode_t)call->notif->data.args[call->kind->paths[0] + 1];
}

/* The kernel looks at the type before the path. S_IFMT is no type either, but bawn itself asks by
 * it whether a name may be made (api/outer.c): the rules answer first. */
int make_prepare_node(struct call *call)
{
    switch (node_mode(call) & S_IFMT) {
    case 0:
    case S_IFREG:
    case S_IFCHR:
    case S_IFBLK:
    case S_IFIFO:
    case S_IFSOCK:
    case S_IFMT:
        return 0;
    case S_IFDIR:
        return -EPERM;
    default:
        return -EINVAL;
    }
}

int make_node(struct call *call)
{
    autolocation struct location at = LOCATION_NONE;
    mode_t mode = node_mode(call);
    struct stat st;
    int r = locate_new(call, 0, &at);

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

/* A file that the caller may not write gets no second name, because a rule might allow writing by
 * that name. The kernel links only within one mount, so a source found by name is inside. */
static int judge_source(const struct call *call, struct followed *source)
{
    /* SECURITY: as in open_existing. */
    if (call->locator.is_exact && locate_path(&call->locator, source->object, source->at.path) < 0)
        return -EACCES;
    /* The kernel links no directory, and nothing that was never in one. */
    if (S_ISDIR(source->st.st_mode) || source->at.path[0] != '/')
        return 0;
    if (source->st.st_nlink == 0 && (source->st.st_mode & CALL_SET_ID))
        return call_refuse(call, "(no name)", EPERM);
    /* Without a name it cannot be protected, and on another mount the kernel refuses. */
    if (source->st.st_nlink == 0)
        return 0;
    return call_judge_object(call, source->object, source->at.path,
                             !source->is_open && !call->locator.is_exact, PATH_WRITE) < 0
               ? call_refuse(call, source->at.path, EACCES)
               : 0;
}

static int find_source(struct call *call, int flags, struct followed *source)
{
    int r;

    if (call->paths[0][0])
        r = call_follow(call, flags & AT_SYMLINK_FOLLOW, source);
    else
        r = flags & AT_EMPTY_PATH ? call_follow_fd(call, source) : -ENOENT;
    return r < 0 ? r : judge_source(call, source);
}

static int link_flags(const struct call *call)
{
    return call->kind->dirs[0] < 0 ? 0 : call_int(call, 4);
}

int make_prepare_link(struct call *call)
{
    return link_flags(call) & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

int make_link(struct call *call)
{
    autofollowed struct followed source = FOLLOWED_NONE;
    autolocation struct location to = LOCATION_NONE;
    char name[16];
    int r = find_source(call, link_flags(call), &source);

    if (r == 0)
        r = call->second;
    if (r == 0)
        r = locate_new(call, 1, &to);
    if (r == 0)
        r = refuse_slash(&to);
    if (r == 0 && S_ISLNK(source.st.st_mode) && guard_has_below(call->guard, to.path))
        r = call_refuse_new(call, &to);
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof(name), "%d", source.object);
    return outcome(linkat(call->locator.self_fd, name, to.dir, to.name, AT_SYMLINK_FOLLOW));
}
