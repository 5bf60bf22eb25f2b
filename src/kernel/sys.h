/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that not every libc wraps, and constants that not every header has. */
#ifndef KERNEL_SYS_H
#define KERNEL_SYS_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
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

/* A system call that returns a negative errno, and leaves that of libc alone: for who shares it
 * with a process that runs. */
static inline long sys_bare5(long number, long first, long second, long third, long fourth,
                             long fifth)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = fourth;
    register long r8 __asm__("r8") = fifth;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    register long x3 __asm__("x3") = fourth;
    register long x4 __asm__("x4") = fifth;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#else
#error "how a system call is made on this machine has to be added here"
#endif
}
static inline long sys_bare(long number, long first, long second, long third, long fourth)
{
    return sys_bare5(number, first, second, third, fourth, 0);
}

static inline int sys_pidfd_send_signal(int pidfd, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

#endif
