/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/locate.h"

#include "base/cleanup.h"
#include "base/mutant.h"
#include "base/scratch.h"
#include "base/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    PROC_ROOT_INODE = 1,
    EAGAIN_TRIES = 128,
    NO_FOLLOWING = 0x2000, /* of statfs. KERNEL(5.10): a mount with nosymfollow */
};

void location_done(struct location *location)
{
    cleanup_close(&location->dir);
    location->dir = -EBADF;
}

int locate_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};

    for (int i = 0; i < EAGAIN_TRIES; i++) {
        long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

        if (fd >= 0)
            return (int)fd;
        /* Something was renamed while ".." was walked. */
        if (errno != EAGAIN)
            return -errno;
    }
    return -EAGAIN;
}

int locate_path(const struct locator *locator, int fd, char path[static LIMIT_PATH_BYTES])
{
    char name[16];
    ssize_t length;

    (void)snprintf(name, sizeof(name), "%d", fd);
    length = readlinkat(locator->self_fd, name, path, LIMIT_PATH_BYTES);
    if (length < 0)
        return -errno;
    if (length == LIMIT_PATH_BYTES)
        return -ENAMETOOLONG;
    path[length] = '\0';
    return 0;
}

int locate_open(const struct locator *locator, int fd, int flags, mode_t mode)
{
    char name[16];
    int opened;

    (void)snprintf(name, sizeof(name), "%d", fd);
    opened = openat(locator->self_fd, name, flags, mode);
    return opened < 0 ? -errno : opened;
}

bool locate_is_same(int a, int b)
{
    struct statx one = {0};
    struct statx other = {0};
    unsigned mask = STATX_INO | STATX_MNT_ID;

    return syscall(SYS_statx, a, "", AT_EMPTY_PATH, mask, &one) == 0 &&
           syscall(SYS_statx, b, "", AT_EMPTY_PATH, mask, &other) == 0 &&
           one.stx_ino == other.stx_ino && one.stx_mnt_id == other.stx_mnt_id &&
           one.stx_dev_major == other.stx_dev_major && one.stx_dev_minor == other.stx_dev_minor;
}

int locate_search(const struct location *location)
{
    struct stat st;

    return fstatat(location->dir, ".", &st, 0) < 0 ? -errno : 0;
}

bool locate_is_mount_point(const struct location *location)
{
    struct statx here = {0};

    return syscall(SYS_statx, location->dir, location->name, AT_SYMLINK_NOFOLLOW, STATX_TYPE,
                   &here) == 0 &&
           (here.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

bool locate_is_planted(const struct location *location, const struct stat *status)
{
    struct stat dir;

    return status->st_uid != geteuid() &&
           (fstat(location->dir, &dir) < 0 ||
            ((dir.st_mode & S_ISVTX) && (dir.st_mode & S_IWOTH) && status->st_uid != dir.st_uid));
}

static int open_inside(const struct locator *locator, const char *path, uint64_t flags)
{
    return locate_openat2(locator->root_fd, path, O_PATH | flags,
                          RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

/* SECURITY: the path of what is open has no link in it. One that the caller has made since could
 * lead out of the sandbox, to the very file: the same name here and there does not mean the same
 * place. */
static int open_linkless(const struct locator *locator, const char *path)
{
    return locate_openat2(locator->root_fd, path, O_PATH | O_NOFOLLOW,
                          RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

bool locate_is_there(const struct locator *locator, const char *path)
{
    autoclose int fd = locate_openat2(locator->root_fd, path, O_PATH | O_NOFOLLOW,
                                      RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

    return fd >= 0;
}

bool locate_is_inside(const struct locator *locator, int fd)
{
    scratch char path[LIMIT_PATH_BYTES];
    autoclose int there = -EBADF;

    if (locate_path(locator, fd, path) < 0 || path[0] != '/')
        return false;
    there = open_linkless(locator, path);
    return there >= 0 && locate_is_same(fd, there);
}

/* 1: they are on the same mount; 0: on different ones; else the kernel does not tell.
 * KERNEL(5.8): it does. */
static int is_same_mount(int a, int b)
{
    struct statx one = {0};
    struct statx other = {0};

    if (syscall(SYS_statx, a, "", AT_EMPTY_PATH, STATX_MNT_ID, &one) < 0 ||
        syscall(SYS_statx, b, "", AT_EMPTY_PATH, STATX_MNT_ID, &other) < 0 ||
        !(one.stx_mask & other.stx_mask & STATX_MNT_ID))
        return -ENOSYS;
    return one.stx_mnt_id == other.stx_mnt_id;
}

bool locate_is_across(int a, int b)
{
    return is_same_mount(a, b) == 0;
}

bool locate_is_on(int fd, int mount_fd)
{
    return is_same_mount(fd, mount_fd) == 1;
}

bool locate_was_inside(const struct locator *locator, int fd, const char *path,
                       char ret_old[static LIMIT_PATH_BYTES])
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path);
    size_t end = length - (sizeof(mark) - 1);
    char above[LIMIT_PATH_BYTES];
    autoclose int there = -EBADF;
    struct stat st;

    if (length <= sizeof(mark) || length >= LIMIT_PATH_BYTES || path[0] != '/' ||
        strcmp(path + end, mark) != 0 || fstat(fd, &st) < 0 || st.st_nlink == 0)
        return false;
    (void)snprintf(ret_old, LIMIT_PATH_BYTES, "%.*s", (int)end, path);
    /* SECURITY: a mount of the host's has the same paths, and another number. */
    (void)snprintf(above, sizeof(above), "%s", ret_old);
    do {
        *strrchr(above, '/') = '\0';
        there = above[0] ? open_linkless(locator, above) : -EBADF;
    } while (above[0] && there < 0);
    return there >= 0 && is_same_mount(fd, there) == 1;
}

bool locate_is_proc(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && (uint64_t)fs.f_type == PROC_SUPER_MAGIC;
}

pid_t locate_proc_pid(const char *path)
{
    char *end;
    long pid;

    if (strncmp(path, "/proc", 5) != 0 || (path[5] && path[5] != '/'))
        return -EACCES;
    if (!path[5] || path[6] < '0' || path[6] > '9')
        return 0;
    pid = strtol(path + 6, &end, 10);
    return (*end == '/' || !*end) && pid > 0 && pid <= INT_MAX ? (pid_t)pid : -EACCES;
}

/* What "self" and "thread-self" are to the caller; an empty text for other names. */
static int self_text(const struct locator *locator, const char *name,
                     char text[static LIMIT_PATH_BYTES])
{
    bool is_thread = strcmp(name, "thread-self") == 0;
    struct caller_ids ids;
    int r;

    text[0] = '\0';
    if (!is_thread && strcmp(name, "self") != 0)
        return 0;
    r = caller_ids(locator->caller, &ids);
    if (r < 0)
        return r;
    if (is_thread)
        (void)snprintf(text, LIMIT_PATH_BYTES, "%d/task/%d", (int)ids.tgid, (int)ids.tid);
    else
        (void)snprintf(text, LIMIT_PATH_BYTES, "%d", (int)ids.tgid);
    return 0;
}

static void look_how_open(const struct locator *locator, int fd, struct located_link *link)
{
    int flags = caller_fd_flags(locator->caller, fd, link->object);
    int mode = flags < 0 || (flags & O_PATH) ? -1 : flags & 03;

    /* Mode 3 can neither read nor write. */
    link->is_read_open = mode == O_RDONLY || mode == O_RDWR;
    link->is_write_open = mode == O_WRONLY || mode == O_RDWR;
}

/* SECURITY: through a link of another process's /proc directory the supervisor gets where the
 * caller could not: pid 1 is not dumpable. The caller's own things it could open itself. */
static int jump(const struct locator *locator, int dir, const char *name, struct located_link *link)
{
    scratch char path[LIMIT_PATH_BYTES];
    struct caller_ids ids = {0};
    pid_t pid;
    int r = locator->refuses_magic ? -ELOOP : locate_path(locator, dir, path);

    if (r == 0)
        r = caller_ids(locator->caller, &ids);
    if (r < 0)
        return r;
    pid = locate_proc_pid(path);
    if (LAYER("lending") && pid != ids.tgid)
        return -EACCES;
    link->object = openat(dir, name, O_PATH | O_CLOEXEC);
    if (link->object < 0)
        return -errno;
    if (strlen(path) > 3 && strcmp(path + strlen(path) - 3, "/fd") == 0)
        look_how_open(locator, (int)strtol(name, NULL, 10), link);
    return 0;
}

static int read_link(const struct locator *locator, int dir, const char *name,
                     struct located_link *link)
{
    ssize_t length;
    struct statfs fs;
    struct stat st;

    link->object = -EBADF;
    link->is_read_open = link->is_write_open = false;
    if (fstatfs(dir, &fs) < 0)
        return -errno;
    /* SECURITY: on such a mount the kernel follows no link, but here it is not the kernel. */
    if (LAYER("lending") && ((uint64_t)fs.f_flags & NO_FOLLOWING))
        return -ELOOP;
    if ((uint64_t)fs.f_type == PROC_SUPER_MAGIC) {
        int r;

        if (fstat(dir, &st) < 0)
            return -errno;
        if (st.st_ino != PROC_ROOT_INODE)
            return jump(locator, dir, name, link);
        r = self_text(locator, name, link->text);
        if (r < 0 || link->text[0])
            return r;
    }
    length = readlinkat(dir, name, link->text, LIMIT_PATH_BYTES);
    if (length < 0)
        return -errno;
    if (length == LIMIT_PATH_BYTES)
        return -ENAMETOOLONG;
    link->text[length] = '\0';
    return length == 0 ? -ENOENT : 0;
}

/* A link that is hidden leads nowhere. */
static int judge_hidden(const struct locator *locator, const char *link)
{
    if (!locator->is_exact || guard_ask(locator->guard, link, PATH_READ) != GUARD_REFUSE)
        return 0;
    (void)stpcpy(locator->hidden, link);
    return -EACCES;
}

/* Where the link at a location leads, by the rules for a last name. */
static int last_link(struct locator *locator, const struct location *location,
                     struct located_link *ret_link)
{
    struct stat st;
    int r = judge_hidden(locator, location->path);

    if (r < 0)
        return r;
    guard_judge_link(locator->guard, location->path, "", &locator->bar);
    if (fstatat(location->dir, location->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    /* SECURITY: with fs.protected_symlinks the kernel follows no such link as a last name, but here
     * it is not the kernel that follows. */
    if (S_ISLNK(st.st_mode) && locate_is_planted(location, &st))
        return -EACCES;
    return read_link(locator, location->dir, location->name, ret_link);
}

/* A walk by hand: the directory reached, and what is still to go. */
struct walk {
    struct locator *locator;
    int at;
    bool is_anchored;
    const char *last; /* the name that comes behind it all, or "" */
    struct trail trail;
};

static void walk_to(struct walk *walk, int fd)
{
    cleanup_close(&walk->at);
    walk->at = fd;
}

static int walk_root(struct walk *walk)
{
    int fd = openat(walk->locator->root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    walk_to(walk, fd);
    walk->is_anchored = true;
    return 0;
}

static int walk_judge(struct walk *walk, const char *name)
{
    scratch char link[LIMIT_PATH_BYTES + NAME_MAX + 2];
    scratch char whole[2 * LIMIT_PATH_BYTES + NAME_MAX + 2];
    int r = locate_path(walk->locator, walk->at, link);

    if (r < 0)
        return r;
    (void)snprintf(link + strlen(link), sizeof(link) - strlen(link), "%s%s",
                   link[strlen(link) - 1] == '/' ? "" : "/", name);
    (void)snprintf(whole, sizeof(whole), "%s/%s", walk->trail.rest, walk->last);
    guard_judge_link(walk->locator->guard, link, whole, &walk->locator->bar);
    return judge_hidden(walk->locator, link);
}

static int walk_link(struct walk *walk, const char *name)
{
    struct located_link link = {.object = -EBADF};
    int r = walk_judge(walk, name);

    if (r == 0)
        r = read_link(walk->locator, walk->at, name, &link);
    if (r < 0)
        return r;
    if (link.object >= 0) {
        walk_to(walk, link.object);
        walk->is_anchored = false;
        /* It has no path to be walked, but counts. */
        return trail_link(&walk->trail, ".");
    }
    r = trail_link(&walk->trail, link.text);
    return r == 0 && link.text[0] == '/' ? walk_root(walk) : r;
}

static int walk_up(struct walk *walk)
{
    int fd;

    if (locate_is_same(walk->at, walk->locator->root_fd))
        return 0;
    fd = openat(walk->at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    walk_to(walk, fd);
    return 0;
}

static int walk_name(struct walk *walk, const char *name)
{
    autoclose int fd = -EBADF;
    struct stat st;

    if (strcmp(name, "..") == 0)
        return walk_up(walk);
    fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return walk_link(walk, name);
    walk_to(walk, take_fd(&fd));
    return 0;
}

static int walk_dir(struct locator *locator, int start, const char *path, const char *last,
                    bool *ret_anchored)
{
    struct walk walk = {.locator = locator, .at = -EBADF, .last = last};
    char name[NAME_MAX + 1];
    struct stat st;
    int r = 0;

    if (path[0] == '/')
        r = walk_root(&walk);
    else
        walk.at = fcntl(start, F_DUPFD_CLOEXEC, 3);
    (void)snprintf(walk.trail.rest, sizeof(walk.trail.rest), "%s", path);
    while (r == 0 && (r = trail_next(&walk.trail, name)) > 0)
        r = walk_name(&walk, name);
    if (r == 0 && fstat(walk.at, &st) < 0)
        r = -errno;
    if (r == 0 && !S_ISDIR(st.st_mode))
        r = -ENOTDIR;
    if (r < 0) {
        cleanup_close(&walk.at);
        return r;
    }
    *ret_anchored = walk.is_anchored;
    return walk.at;
}

void locate_judge_links(struct locator *locator, int start, const char *path)
{
    bool is_anchored;
    autoclose int fd = walk_dir(locator, start, path, "", &is_anchored);

    (void)fd;
}

/* A relative path that leaves the directory it starts in: the same from the root. */
static int open_from_root(const struct locator *locator, int start, const char *path)
{
    scratch char from[LIMIT_PATH_BYTES];
    scratch char whole[2 * LIMIT_PATH_BYTES];
    int r = locate_path(locator, start, from);

    if (r < 0)
        return r;
    if (!locate_is_inside(locator, start))
        return -EXDEV;
    (void)snprintf(whole, sizeof(whole), "%s/%s", from, path);
    return strlen(whole) < LIMIT_PATH_BYTES ? open_inside(locator, whole, O_DIRECTORY) : -EXDEV;
}

const char *locate_start(const struct locator *locator, int start)
{
    struct dir_key key;
    const char *known = dirs_find(locator->dirs, start, &key);
    scratch char path[LIMIT_PATH_BYTES];

    if (known)
        return known;
    if (locate_is_proc(start) || !locate_is_inside(locator, start) ||
        locate_path(locator, start, path) < 0)
        return NULL;
    dirs_add(locator->dirs, &key, start, path);
    return dirs_find(locator->dirs, start, &key);
}

static int open_dir(struct locator *locator, int *start, const char *path, const char *last,
                    bool *ret_anchored)
{
    int fd;

    *ret_anchored = path[0] == '/';
    if (!path[0])
        return take_fd(start);
    if (path[0] == '/') {
        fd = open_inside(locator, path, O_DIRECTORY);
    } else {
        fd = locate_openat2(*start, path, O_PATH | O_DIRECTORY,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (fd == -EXDEV)
            fd = open_from_root(locator, *start, path);
    }
    if (fd == -ENOENT || fd == -ELOOP || fd == -EXDEV)
        fd = walk_dir(locator, *start, path, last, ret_anchored);
    return fd;
}

/* Splits off the last name. "." where there is none: "/", "x/.", "..". */
static int split(const char *path, char dir[static LIMIT_PATH_BYTES], struct location *location)
{
    size_t end = strlen(path);
    size_t begin;

    if (end == 0)
        return -ENOENT;
    while (end > 0 && path[end - 1] == '/')
        end--;
    location->has_slash = path[end] == '/';
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    if (begin == end || strncmp(path + begin, ".", end - begin) == 0 ||
        (end - begin == 2 && strncmp(path + begin, "..", 2) == 0)) {
        begin = strlen(path);
        (void)snprintf(location->name, sizeof(location->name), ".");
    } else if (end - begin <= NAME_MAX) {
        memcpy(location->name, path + begin, end - begin);
        location->name[end - begin] = '\0';
    } else {
        location->name[0] = '\0'; /* too long; what is before it fails first */
    }
    memcpy(dir, path, begin);
    dir[begin] = '\0';
    return 0;
}

/* The path of the directory of a location. What was reached from a descriptor of the caller's may
 * be outside. */
static int find_path(const struct locator *locator, struct location *location)
{
    struct dir_key key;
    const char *known = dirs_find(locator->dirs, location->dir, &key);
    int r;

    location->is_known = known && !locator->is_exact;
    if (location->is_known) {
        (void)stpcpy(location->path, known);
        location->is_anchored = true;
        return 0;
    }
    r = locate_path(locator, location->dir, location->path);
    if (r < 0)
        return r;
    if (location->path[0] != '/')
        return -ENOTDIR;
    /* SECURITY: somebody outside may have moved it away since it was reached, and out of what is
     * shown. Then its path says nothing. */
    if (locator->is_exact)
        location->is_anchored = known && strcmp(known, location->path) == 0;
    if (!location->is_anchored)
        location->is_anchored = locate_is_inside(locator, location->dir);
    /* There what a name leads to changes with every process. */
    if (location->is_anchored && !locate_is_proc(location->dir))
        dirs_add(locator->dirs, &key, location->dir, location->path);
    return 0;
}

int locate(struct locator *locator, int *start, const char *path, struct location *ret_location)
{
    scratch char dir[LIMIT_PATH_BYTES];
    int r = split(path, dir, ret_location);
    size_t length;

    if (r < 0)
        return r;
    ret_location->dir =
        open_dir(locator, start, dir, ret_location->name, &ret_location->is_anchored);
    if (ret_location->dir < 0)
        return ret_location->dir;
    if (!ret_location->name[0]) {
        r = locate_search(ret_location);
        return r < 0 ? r : -ENAMETOOLONG;
    }
    r = find_path(locator, ret_location);
    if (r < 0)
        return r;
    if (strcmp(ret_location->name, ".") == 0)
        return 0;
    length = strlen(ret_location->path);
    if (length == 1)
        length = 0; /* the root */
    (void)snprintf(ret_location->path + length, sizeof(ret_location->path) - length, "/%s",
                   ret_location->name);
    return 0;
}

int locate_follow(struct locator *locator, const struct locate_steps *steps, const char *path,
                  struct location *at, struct located_link *ret_link)
{
    for (unsigned hops = 0; hops <= LIMIT_SYMLINKS; hops++) {
        autoclose int start = steps->find ? -EBADF : take_fd(&at->dir);
        int r =
            steps->find ? steps->find(steps->context, path, at) : locate(locator, &start, path, at);

        if (r == 0)
            r = steps->visit(steps->context, at);
        if (r <= 0)
            return r;
        r = last_link(locator, at, ret_link);
        if (r < 0 || ret_link->object >= 0)
            return r < 0 ? r : 1;
        if (at->has_slash && strlen(ret_link->text) + 1 >= sizeof(ret_link->text))
            return -ENAMETOOLONG;
        if (at->has_slash)
            memcpy(ret_link->text + strlen(ret_link->text), "/", 2);
        path = ret_link->text;
    }
    return -ELOOP;
}
