/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: mounts of every kind the native sandbox is built from, in a namespace of their own. */
#include "kernel/probe_try.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000 /* KERNEL(5.12) */
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

static bool make_private(struct probe_result *result)
{
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
           probe_fail(result, "make / private");
}

/* An own tmpfs as the working directory. Any directory serves as its place. */
bool mount_base(struct probe_result *result)
{
    static const char *const places[] = {"/tmp", "/mnt", "/dev", "/proc"};
    const char *place = NULL;
    struct stat own;
    struct stat st;

    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !place; i++)
        if (stat(places[i], &st) == 0 && S_ISDIR(st.st_mode))
            place = places[i];
    if (!place)
        return probe_fail_with(result, ENOENT, "a directory to mount on");
    if (!make_private(result))
        return false;
    if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") < 0)
        return probe_fail(result, "mount tmpfs");
    if (chdir(place) < 0 || stat(".", &own) < 0)
        return probe_fail(result, "chdir");
    /* Whoever says that it is mounted, and it is not, would have us leave things on the host. */
    return own.st_dev != st.st_dev || probe_fail_with(result, ENOSYS, "mount tmpfs, to see it");
}

static bool make_dirs(struct probe_result *result, const char *const *names)
{
    for (; *names; names++)
        if (mkdir(*names, 0700) < 0)
            return probe_fail(result, "mkdir");
    return true;
}

static bool make_file(struct probe_result *result, const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return probe_fail(result, "create a file");
    (void)close(fd);
    return true;
}

static bool enter_base(struct probe_result *result, const struct probe_env *env)
{
    return try_enter(result, env, CLONE_NEWNS) && mount_base(result);
}

PROBE_WORK(try_mount_ns)
{
    return enter_base(result, env);
}

PROBE_WORK(use_pivot_root)
{
    (void)env;
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return probe_fail(result, "pivot_root");
    return umount2(".", MNT_DETACH) == 0 || probe_fail(result, "umount the old root");
}

PROBE_WORK(try_pivot_root)
{
    return enter_base(result, env) && use_pivot_root(result, env);
}

PROBE_WORK(use_open_tree)
{
    int tree;

    (void)env;
    if (!make_dirs(result, (const char *[]){"a", "b", NULL}))
        return false;
    tree = open_tree(AT_FDCWD, "a", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return probe_fail(result, "open_tree");
    return move_mount(tree, "", AT_FDCWD, "b", MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
           probe_fail(result, "move_mount");
}

PROBE_WORK(try_open_tree)
{
    return enter_base(result, env) && use_open_tree(result, env);
}

PROBE_WORK(use_mount_setattr)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    int tree;

    (void)env;
    if (!make_dirs(result, (const char *[]){"a", NULL}))
        return false;
    if (mount("tmpfs", "a", "tmpfs", 0, "size=1m") < 0)
        return probe_fail(result, "mount tmpfs");
    tree = open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return probe_fail(result, "open_tree");
    if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
        return probe_fail(result, "mount_setattr");
    if (mkdirat(tree, "a/x", 0700) == 0 || errno != EROFS)
        return probe_fail_with(result, EINVAL, "read-only below");
    return true;
}

PROBE_WORK(try_mount_setattr)
{
    return enter_base(result, env) && use_mount_setattr(result, env);
}

PROBE_WORK(use_proc)
{
    (void)env;
    if (!make_dirs(result, (const char *[]){"proc", NULL}))
        return false;
    if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return probe_fail(result, "mount proc");
    return access("proc/1/stat", R_OK) == 0 || probe_fail(result, "read proc/1/stat");
}

static PROBE_WORK(mount_proc)
{
    return mount_base(result) && use_proc(result, env);
}

PROBE_WORK(try_fresh_proc)
{
    if (!try_enter(result, env, CLONE_NEWNS | CLONE_NEWPID))
        return false;
    /* procfs shows the pid namespace of whoever mounts it: that must be a child in it. */
    if (probe_child_run(mount_proc, env, TRY_INNER_LIMIT_MS, result) < 0)
        return probe_fail(result, "fork in the namespace");
    return result->errnum == 0;
}

PROBE_WORK(use_devpts)
{
    int master, number;

    (void)env;
    if (!make_dirs(result, (const char *[]){"pts", NULL}))
        return false;
    if (mount("devpts", "pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666") < 0)
        return probe_fail(result, "mount devpts");
    master = open("pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0)
        return probe_fail(result, "open ptmx");
    return ioctl(master, TIOCGPTN, &number) == 0 || probe_fail(result, "TIOCGPTN");
}

PROBE_WORK(try_devpts)
{
    return enter_base(result, env) && use_devpts(result, env);
}

PROBE_WORK(use_overlay)
{
    (void)env;
    if (!make_dirs(result, (const char *[]){"l", "l/dir", "u", "w", "m", NULL}) ||
        !make_file(result, "l/file"))
        return false;
    if (mount("overlay", "m", "overlay", MS_NOSUID | MS_NODEV,
              "lowerdir=l,upperdir=u,workdir=w,userxattr") < 0)
        return probe_fail(result, "mount overlay");
    if (!make_file(result, "m/new"))
        return false;
    /* Without working whiteouts these are EIO although the mount itself went well. */
    if (unlink("m/file") < 0)
        return probe_fail(result, "unlink in the overlay");
    if (rmdir("m/dir") < 0)
        return probe_fail(result, "rmdir in the overlay");
    return access("l/file", F_OK) == 0 || probe_fail(result, "lower layer unchanged");
}

PROBE_WORK(try_overlay)
{
    return enter_base(result, env) && use_overlay(result, env);
}

/* Stays in a user namespace until its parent has taken hold of it. env->extra: a socket pair. */
static PROBE_WORK(hold_user_ns)
{
    const int *pair = env->extra;
    char byte = 0;

    (void)close(pair[0]);
    if (!try_enter(result, env, 0))
        return false;
    if (write(pair[1], &byte, 1) != 1)
        return probe_fail(result, "write");
    return read(pair[1], &byte, 1) == 0 || probe_fail(result, "read");
}

static const char *format_ns_path(char out[static 40], pid_t pid)
{
    static const char head[] = "/proc/", tail[] = "/ns/user";
    char digits[16];
    size_t count = 0, used = 0;

    for (unsigned rest = (unsigned)pid; rest || count == 0; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    for (size_t i = 0; head[i]; i++)
        out[used++] = head[i];
    while (count > 0)
        out[used++] = digits[--count];
    for (size_t i = 0; i < sizeof(tail); i++)
        out[used++] = tail[i];
    return out;
}

/* A descriptor of a new user namespace with the caller's id mapped, or -1. */
static int open_user_ns(struct probe_result *result, const struct probe_env *env)
{
    struct probe_result inner = {0};
    struct probe_env inner_env = *env;
    struct probe_child child;
    char path[40], byte;
    int pair[2];
    int fd = -1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        (void)probe_fail(result, "socketpair");
        return -1;
    }
    inner_env.extra = pair;
    if (probe_child_start(&child, hold_user_ns, &inner_env) < 0) {
        (void)probe_fail(result, "fork");
        return -1;
    }
    (void)close(pair[1]);
    if (read(pair[0], &byte, 1) == 1) {
        fd = open(format_ns_path(path, child.pid), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            (void)probe_fail(result, "open ns/user");
    }
    (void)close(pair[0]);
    probe_child_finish(&child, TRY_INNER_LIMIT_MS, &inner);
    if (fd < 0)
        (void)probe_fail_with(result, inner.errnum, "a second user namespace");
    return fd;
}

PROBE_WORK(use_idmap)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
    int tree, user_ns;

    if (!make_private(result))
        return false;
    user_ns = open_user_ns(result, env);
    if (user_ns < 0)
        return false;
    tree = open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return probe_fail(result, "open_tree");
    attr.userns_fd = (unsigned)user_ns;
    return mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0 ||
           probe_fail(result, "mount_setattr");
}

/* Only who owns the filesystem may map its ids: root outside a user namespace. Others get as far as
 * they can, so that the reason is the kernel's. */
PROBE_WORK(try_idmap)
{
    if (unshare(CLONE_NEWNS) < 0 && !try_enter(result, env, CLONE_NEWNS))
        return false;
    return use_idmap(result, env);
}
