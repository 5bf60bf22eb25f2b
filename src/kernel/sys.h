/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that not every libc wraps, and constants that not every header has. */
#ifndef KERNEL_SYS_H
#define KERNEL_SYS_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#endif
#ifndef MOVE_MOUNT_T_EMPTY_PATH
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif

/* Under names of our own: <sys/mount.h> and <linux/mount.h> cannot be included together. */
enum {
    SYS_MOUNT_RDONLY = 0x1,
    SYS_MOUNT_NOSUID = 0x2,
    SYS_MOUNT_NODEV = 0x4,
    SYS_MOUNT_NOEXEC = 0x8,
    SYS_MOUNT_IDMAP = 0x100000,
};
struct sys_mount_attr {
    uint64_t attr_set, attr_clr, propagation, userns_fd;
};

/* cgroup_fd: of the control group to be born in, or negative: the caller's. */
static inline long sys_clone3(struct clone_args *args, int cgroup_fd)
{
    if (cgroup_fd >= 0) {
        args->flags |= CLONE_INTO_CGROUP;
        args->cgroup = (__u64)cgroup_fd;
    }
    return syscall(SYS_clone3, args, sizeof(*args));
}

static inline int sys_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = flags, .resolve = resolve};

    return (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
}

static inline int sys_open_tree(int dir_fd, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dir_fd, path, flags);
}

static inline int sys_mount_setattr(int dir_fd, const char *path, unsigned flags,
                                    const struct sys_mount_attr *attr)
{
    return (int)syscall(SYS_mount_setattr, dir_fd, path, flags, attr, sizeof(*attr));
}

static inline int sys_move_mount(int from_fd, const char *from, int to_fd, const char *to,
                                 unsigned flags)
{
    return (int)syscall(SYS_move_mount, from_fd, from, to_fd, to, flags);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
    return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int sys_pidfd_send_signal(int pidfd, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

#endif
