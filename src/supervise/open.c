/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening on behalf of the caller.
 *
 * How it works: what does not exist is made with O_EXCL, so that no link is
 * followed and nothing can block. What exists is first taken hold of with
 * O_PATH; links are followed by hand, and only then is the thing itself opened,
 * through the descriptor, without waiting. What would wait is handed to
 * a process of its own.
 */
#include "base/cleanup.h"
#include "base/scratch.h"
#include "supervise/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

enum { HOW_BYTES_MIN = 24, HOW_BYTES_MAX = 4096 };

static int open_flags(const struct call *call)
{
    return (int)call->how.flags;
}

static bool is_tmpfile(int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

static bool creates(int flags)
{
    return (flags & O_CREAT) && !is_tmpfile(flags);
}

/* A file without a name changes nothing that a path names. */
static bool writes(int flags)
{
    return !is_tmpfile(flags) && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC));
}

int open_prepare(struct call *call)
{
    const __u64 *args = call->notif->data.args + call->kind->paths[0] + 1;
    bool is_creat = strcmp(call->kind->name, "creat") == 0;

    call->how.flags = is_creat ? O_CREAT | O_WRONLY | O_TRUNC : (uint32_t)args[0];
    call->how.mode = (mode_t)args[is_creat ? 0 : 1] & 07777;
    call->is_told = explain_is_told(call->how.flags);
    call->is_reading = call->is_told && read_is_held(call, call->how.flags);
    call->is_told = call->is_told && !call->is_reading;
    if (call->is_told || call->is_reading)
        return 0;
    /* KERNEL(6.4): the two together are wrong, whatever the path. */
    if ((call->how.flags & O_CREAT) && (call->how.flags & O_DIRECTORY) &&
        open("", (int)call->how.flags | O_CLOEXEC, 0) < 0 && errno != ENOENT)
        return -errno;
    return 0;
}

/* The kernel itself says what is wrong with the arguments: it looks at them before the path. */
int open_prepare_how(struct call *call)
{
    uint64_t size = call->notif->data.args[3];
    autofree unsigned char *bytes = NULL;
    int r;

    if (size < HOW_BYTES_MIN)
        return -EINVAL;
    if (size > HOW_BYTES_MAX)
        return -E2BIG;
    bytes = calloc(1, size);
    if (!bytes)
        return -ENOMEM;
    r = caller_read(call->caller, call->notif->data.args[2], bytes, size);
    if (r < 0)
        return r;
    if (syscall(SYS_openat2, AT_FDCWD, "", bytes, size) < 0 && errno != ENOENT)
        return -errno;
    memcpy(&call->how, bytes, sizeof(call->how));
    call->is_reading = explain_is_told(call->how.flags) && read_is_held(call, call->how.flags);
    return 0;
}

static int wait_for(struct call *call, int *object)
{
    call->fd = take_fd(object);
    call->must_wait = true;
    return 0;
}

/*
 * The same by its name, so that the descriptor has the flag that it was asked for with. Should
 * something else have got the name meanwhile, then that may be opened by it just as well; but what
 * was looked at is what is given.
 */
static int open_named(const struct call *call, int object, const struct stat *st, int flags)
{
    const struct location *at = call->named;
    autoclose int fd = -EBADF;

    if (!(open_flags(call) & O_NOFOLLOW))
        return -EBADF;
    if (S_ISDIR(st->st_mode))
        fd = openat(object, ".", flags | O_NOFOLLOW);
    /* A directory that may not be searched has no "." to be found. */
    if (fd < 0 && at)
        fd = openat(at->dir, at->name, flags | O_NOFOLLOW);
    return fd >= 0 && locate_is_same(fd, object) ? take_fd(&fd) : -EBADF;
}

static void let_block(int fd, int flags)
{
    (void)fcntl(fd, F_SETFL, flags & ~(O_NONBLOCK | O_ASYNC));
}

/* Opens what is held by *object. */
static int reopen(struct call *call, int *object, const struct stat *st)
{
    int flags = (open_flags(call) & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY;
    bool may_block = !(flags & O_NONBLOCK);
    int r = 0;

    if (is_tmpfile(open_flags(call))) {
        flags |= open_flags(call) & O_EXCL;
        r = call_take_umask(call);
    }
    if (r < 0)
        return r;
    if (S_ISFIFO(st->st_mode) && may_block && (flags & O_ACCMODE) == O_RDONLY)
        return wait_for(call, object);
    call->fd = open_named(call, *object, st, flags | O_NONBLOCK);
    if (call->fd < 0)
        call->fd = locate_open(&call->locator, *object, flags | O_NONBLOCK, (mode_t)call->how.mode);
    if (call->fd < 0) {
        bool would_block =
            call->fd == -EWOULDBLOCK || (call->fd == -ENXIO && S_ISFIFO(st->st_mode));

        return may_block && would_block ? wait_for(call, object) : call->fd;
    }
    if (may_block)
        let_block(call->fd, flags);
    return 0;
}

/* SECURITY: /dev/tty is whatever terminal the process that opens it has: here it would be the
 * user's own. */
static int open_terminal(struct call *call)
{
    autoclose int object = -EBADF;
    char path[32];
    struct stat st;
    dev_t device;
    int r = caller_tty(call->caller, &device);

    if (r < 0)
        return r;
    (void)snprintf(path, sizeof(path), "dev/pts/%u", minor(device));
    object =
        locate_openat2(call->locator.root_fd, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
    if (object < 0 || fstat(object, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != device)
        return -ENXIO;
    return reopen(call, &object, &st);
}

static int judge_existing(struct call *call, int object, const char *path, bool is_anchored)
{
    bool is_write = writes(open_flags(call));

    if (call_judge_object(call, object, path, is_anchored, is_write ? PATH_WRITE : PATH_READ) == 0)
        return 0;
    return is_write ? call_refuse_old(call, object, path) : call_refuse(call, path, EACCES);
}

/* KERNEL: what is being removed has no link left a little before its path says so. */
static bool has_name(const struct call *call, const struct stat *st, const char *path)
{
    return st->st_nlink > 0 ||
           (call->locator.is_exact && !S_ISDIR(st->st_mode) && !read_is_lost(st, path));
}

int open_object(struct call *call, int *object, const struct stat *st, const char *path,
                bool is_anchored, bool is_own)
{
    int flags = open_flags(call);
    bool is_proc = call->is_reading && locate_is_proc(*object);
    int r = 0;

    if (creates(flags) && S_ISDIR(st->st_mode))
        return -EISDIR;
    if ((flags & O_DIRECTORY) && !S_ISDIR(st->st_mode))
        return -ENOTDIR;
    /* SECURITY: what is open already too: opened once more, it is about whoever opens it. */
    if (!call->is_reading && (!S_ISDIR(st->st_mode) || !writes(flags)))
        r = call_judge_proc(call, *object, path);
    if (r == -EACCES)
        return call_refuse(call, path, EACCES);
    /* SECURITY: who may read a stream does not write what others read from it. */
    if (r == 0 && !is_own && call_is_nameless_stream(call, path, st))
        return call_refuse(call, path, EACCES);
    /* A pipe or a file without a name has no path that a rule could be about. */
    if (r == 0 && path[0] == '/' && has_name(call, st, path) && !is_own &&
        !(S_ISDIR(st->st_mode) && writes(flags)))
        r = judge_existing(call, *object, path, is_anchored);
    if (r == 0 && is_proc) {
        r = read_proc(call, st, path);
        if (r <= 0)
            return r;
        r = 0;
    }
    if (r < 0)
        return r;
    if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 0)) {
        call->named = NULL;
        return open_terminal(call);
    }
    /* SECURITY: /dev/net/tun leads to the interfaces of whoever opens it. */
    if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(10, 200) && !caller_shares_net(call->caller))
        return call_refuse(call, path, EACCES);
    return reopen(call, object, st);
}

static int open_new(struct call *call, const struct location *at)
{
    int flags = open_flags(call) | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY;
    int r;

    if (call_judge(call, at, PATH_WRITE) < 0)
        return call_refuse_new(call, at);
    if (call->how.mode & CALL_SET_ID)
        return call_refuse(call, at->path, EPERM);
    r = call_take_umask(call);
    if (r < 0)
        return r;
    call->fd = openat(at->dir, at->name, flags, (mode_t)call->how.mode);
    return call->fd < 0 ? -errno : 0;
}

/* A link as the last name: followed (1), or what O_NOFOLLOW makes of it. */
static int open_link(struct call *call, const struct location *at)
{
    int flags = open_flags(call);

    if ((flags & O_NOFOLLOW) && !at->has_slash)
        return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
    if ((creates(flags) || writes(flags)) && call_judge(call, at, PATH_WRITE) < 0)
        return call_refuse_old(call, at->dir, at->path);
    return 1;
}

/*
 * A file like any other, in a directory that is known, is opened by its name at once. 1: it is
 * none, or something is in the way, and the long way finds out what. Should another file get the
 * name meanwhile, that one is opened: the rules are about the name.
 */
static int open_file(struct call *call, const struct location *at)
{
    int flags = (open_flags(call) & ~(O_CREAT | O_EXCL)) | O_NOCTTY | O_NONBLOCK;
    autoclose int fd = -EBADF;
    struct stat st;

    if (!at->is_known || at->has_slash || (flags & O_ACCMODE) == O_RDONLY ||
        (flags & (O_DIRECTORY | O_PATH)))
        return 1;
    /* Before it is opened: a pipe would notice. */
    if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (creates(open_flags(call)) && locate_is_planted(at, &st)))
        return 1;
    if (call_judge(call, at, PATH_WRITE) < 0)
        return questions_holds(call->questions, call->notif->id) ? -EACCES : 1;
    fd = locate_openat2(at->dir, at->name, (unsigned)flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0)
        return 1;
    if (creates(open_flags(call)) && locate_is_planted(at, &st))
        return -EACCES;
    if (!(open_flags(call) & O_NONBLOCK))
        let_block(fd, flags);
    call->fd = take_fd(&fd);
    return 0;
}

static int open_existing(struct call *call, const struct location *at)
{
    autoclose int object = openat(at->dir, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    scratch char now[LIMIT_PATH_BYTES];
    const char *path = at->path;
    bool is_anchored = at->is_anchored;
    struct stat st;
    int r;

    if (object < 0 || fstat(object, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return open_link(call, at);
    /* SECURITY: the directory may have been moved since its path was asked for, by somebody
     * outside, and the thing made only then. What is held has this name now. */
    if (call->locator.is_exact) {
        r = locate_path(&call->locator, object, now);
        if (r == 0 && read_is_lost(&st, now))
            r = -EEXIST; /* another may have its name by now */
        if (r < 0 || now[0] != '/')
            return r < 0 ? r : -EACCES;
        path = now;
        is_anchored = is_anchored && strcmp(now, at->path) == 0;
    }
    if (at->has_slash && !S_ISDIR(st.st_mode))
        return -ENOTDIR;
    /* SECURITY: as with fs.protected_regular and protected_fifos: the kernel is not told of
     * O_CREAT. */
    if (creates(open_flags(call)) && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)) &&
        locate_is_planted(at, &st))
        return -EACCES;
    call->named = at;
    return open_object(call, &object, &st, path, is_anchored, false);
}

static int open_found(struct call *call, const struct location *at)
{
    int r = open_file(call, at);

    return r == 1 ? open_existing(call, at) : r;
}

/* Between two looks it may be made, replaced or removed, but not for ever. */
static int open_settled(struct call *call, const struct location *at)
{
    int r = -EEXIST;

    for (int i = 0; i < OPEN_TRIES && r == -EEXIST; i++)
        r = open_found(call, at);
    return r == -EEXIST ? -ENOENT : r;
}

/* 1: a link is to be followed. */
static int open_at(void *context, const struct location *at)
{
    struct call *call = context;
    int flags = open_flags(call);
    int r = -EEXIST;

    if (!creates(flags))
        return open_settled(call, at);
    if (strcmp(at->name, ".") == 0)
        return flags & O_EXCL ? -EEXIST : -EISDIR;
    if (at->has_slash) {
        r = locate_search(at);
        return r < 0 ? r : -EISDIR;
    }
    if (flags & O_EXCL)
        return open_new(call, at);
    /* Between the two it may be made or removed, but not for ever. */
    for (int i = 0; i < OPEN_TRIES && r == -EEXIST; i++) {
        r = open_found(call, at);
        if (r == -ENOENT)
            r = open_new(call, at);
    }
    return r;
}

/* Whether an open by a link of /proc asks for no more than the descriptor is open for. */
static bool gains_nothing(int flags, const struct located_link *link)
{
    bool needs_read = (flags & O_ACCMODE) != O_WRONLY;

    return (link->is_write_open || !writes(flags)) && (link->is_read_open || !needs_read);
}

/* A link of /proc: what the caller has open is opened once more. */
static int open_again(struct call *call, const struct location *at, struct located_link *link)
{
    autoclose int object = take_fd(&link->object);
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    int r = locate_path(&call->locator, object, path);

    if (r < 0)
        return r;
    if (fstat(object, &st) < 0)
        return -errno;
    if (at->has_slash && !S_ISDIR(st.st_mode))
        return -ENOTDIR;
    /* SECURITY: held by O_PATH alone, it may have had a hidden name before it lost all. */
    if (call->locator.is_exact && !link->is_read_open && !link->is_write_open &&
        read_is_lost(&st, path))
        return call_refuse(call, path, EACCES);
    return open_object(call, &object, &st, path, false, gains_nothing(open_flags(call), link));
}

int open_perform(struct call *call)
{
    const struct locate_steps steps = {.visit = open_at, .context = call};
    autolocation struct location at = LOCATION_NONE;
    struct located_link link;
    int r = call->is_reading ? read_plain(call) : 1;

    if (r <= 0)
        return r;
    at.dir = take_fd(&call->starts[0]);
    r = locate_follow(&call->locator, &steps, call->paths[0], &at, &link);
    return r > 0 ? open_again(call, &at, &link) : r;
}

/* Where the path must start so that the kernel applies the caller's own limits of resolution. */
static int scoped_start(struct call *call, uint64_t *ret_resolve)
{
    bool is_scoped = call->how.resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT);

    call->locator.refuses_magic = true;
    *ret_resolve = call->how.resolve | RESOLVE_NO_MAGICLINKS;
    if (is_scoped)
        return call->starts[0];
    if (call->paths[0][0] == '/') {
        *ret_resolve |= RESOLVE_IN_ROOT;
        return call->locator.root_fd;
    }
    /* SECURITY: a link might lead to the supervisor's own root. */
    if (!(call->how.resolve & RESOLVE_NO_SYMLINKS))
        *ret_resolve |= RESOLVE_BENEATH;
    return call->starts[0];
}

/* A walk under the caller's limits to something that may have to be made: all but the last name is
 * for the kernel. */
struct scope {
    struct call *call;
    int start;
    uint64_t resolve;
    char path[2 * LIMIT_PATH_BYTES]; /* up to the last name, while that is looked at */
};

/* Opens path for the caller; whole is what it is the beginning of. The kernel keeps the limits; the
 * links that it walks are judged here. */
static int scoped_open(const struct scope *scope, const char *path, const char *whole,
                       uint64_t flags)
{
    struct call *call = scope->call;
    struct locator locator = call->locator;
    int fd = locate_openat2(scope->start, path, flags, scope->resolve | RESOLVE_NO_SYMLINKS);

    if (fd != -ELOOP || (scope->resolve & RESOLVE_NO_SYMLINKS))
        return fd;
    if (call->how.resolve & RESOLVE_IN_ROOT)
        locator.root_fd = scope->start;
    locate_judge_links(&locator, scope->start, whole);
    call->locator.bar = locator.bar;
    if (call->hidden[0])
        return -EACCES;
    return locate_openat2(scope->start, path, flags, scope->resolve);
}

/* Where the last name of scope->path is. A directory without one is -EISDIR, or -EEXIST. */
static int scoped_locate(struct scope *scope, struct location *at)
{
    size_t end = strlen(scope->path);
    size_t begin;
    char whole[2 * LIMIT_PATH_BYTES];
    const char *name = whole;
    bool has_name;
    autoclose int dir = -EBADF;

    while (end > 0 && scope->path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && scope->path[begin - 1] != '/';)
        begin--;
    (void)snprintf(whole, sizeof(whole), "%s", scope->path);
    name += begin;
    has_name = begin < end && strncmp(name, "..", end - begin) != 0;
    if (has_name)
        scope->path[begin] = '\0';
    dir = scoped_open(scope, scope->path[0] ? scope->path : ".", whole, O_PATH | O_DIRECTORY);
    if (dir < 0)
        return dir;
    if (!has_name)
        return open_flags(scope->call) & O_EXCL ? -EEXIST : -EISDIR;
    return locate(&scope->call->locator, &dir, name, at);
}

/* From where the scope starts each time: a directory's descriptor alone knows no limits. */
static int scoped_find(void *context, const char *path, struct location *at)
{
    struct scope *scope = context;
    int r;

    location_done(at);
    if (path[0] == '/')
        scope->path[0] = '\0';
    if (strlen(scope->path) + strlen(path) >= LIMIT_PATH_BYTES)
        return -ENAMETOOLONG;
    memcpy(scope->path + strlen(scope->path), path, strlen(path) + 1);
    r = scoped_locate(scope, at);
    return r == 0 && (scope->resolve & RESOLVE_NO_XDEV) && locate_is_mount_point(at) ? -EXDEV : r;
}

static int scoped_visit(void *context, const struct location *at)
{
    const struct scope *scope = context;
    int r = open_at(scope->call, at);

    return r > 0 && (scope->resolve & RESOLVE_NO_SYMLINKS) ? -ELOOP : r;
}

static int scoped_create(struct scope *scope)
{
    const struct locate_steps steps = {scoped_find, scoped_visit, scope};
    autolocation struct location at = LOCATION_NONE;
    struct located_link link;

    return locate_follow(&scope->call->locator, &steps, scope->call->paths[0], &at, &link);
}

/* Opens what is there. -EEXIST: it was removed meanwhile. */
static int scoped_existing(const struct scope *scope)
{
    struct call *call = scope->call;
    int flags = open_flags(call);
    autoclose int object =
        scoped_open(scope, call->paths[0], call->paths[0], O_PATH | (unsigned)(flags & O_NOFOLLOW));
    char path[LIMIT_PATH_BYTES];
    struct stat st;
    int r;

    if (object < 0)
        return object;
    if (fstat(object, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
    r = locate_path(&call->locator, object, path);
    if (r == 0 && call->locator.is_exact && read_is_lost(&st, path))
        r = -EEXIST;
    return r < 0 ? r : open_object(call, &object, &st, path, false, false);
}

int open_perform_how(struct call *call)
{
    struct scope scope = {.call = call};
    int flags = open_flags(call);
    int r = -EEXIST;

    /* The kernel does not put such a descriptor in place. Whoever uses openat2 knows kernels
     * without it, and openat(O_PATH) is not trapped. */
    if (flags & O_PATH)
        return -ENOSYS;
    call->locator.refuses_magic = call->how.resolve & RESOLVE_NO_MAGICLINKS;
    if ((call->how.resolve & ~(uint64_t)RESOLVE_NO_MAGICLINKS) == 0)
        return open_perform(call);
    if (call->how.resolve & RESOLVE_CACHED)
        return -EAGAIN;
    scope.start = scoped_start(call, &scope.resolve);
    if (creates(flags))
        return scoped_create(&scope);
    for (int i = 0; i < OPEN_TRIES && r == -EEXIST; i++)
        r = scoped_existing(&scope);
    return r == -EEXIST ? -ENOENT : r;
}
