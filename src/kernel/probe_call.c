/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: single system calls, and devices that only some uses need. */
#include "kernel/probe_try.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KVM_GET_API_VERSION_CALL 0xae00 /* <linux/kvm.h> is not on every build machine */

/* Its own: a filter around us that refuses the calls does so whatever they are about. */
PROBE_WORK(try_take_fd)
{
    long pidfd = syscall(SYS_pidfd_open, getpid(), 0);

    (void)env;
    if (pidfd < 0)
        return probe_fail(result, "pidfd_open");
    if (syscall(SYS_pidfd_getfd, pidfd, pidfd, 0) < 0)
        return probe_fail(result, "pidfd_getfd");
    if (syscall(SYS_setns, -1, 0) >= 0 || errno != EBADF)
        return probe_fail(result, "setns");
    return true;
}

/* KERNEL(6.18): some want CAP_NET_ADMIN for it, for a filter tells of what TCP keeps secret. */
PROBE_WORK(try_bar)
{
    struct sock_filter all = {BPF_RET | BPF_K, 0, 0, UINT32_MAX};
    struct sock_fprog program = {.len = 1, .filter = &all};
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;

    (void)env;
    if (sock < 0)
        return probe_fail(result, "socket");
    if (setsockopt(sock, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0)
        return probe_fail(result, "SO_ATTACH_FILTER");
    return setsockopt(sock, SOL_SOCKET, SO_LOCK_FILTER, &yes, sizeof(yes)) == 0 ||
           probe_fail(result, "SO_LOCK_FILTER");
}

PROBE_WORK(try_pidfd)
{
    int pidfd = -1;
    struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd};
    struct pollfd ready = {.events = POLLIN};
    long pid = syscall(SYS_clone3, &args, sizeof(args));

    (void)env;
    if (pid == 0)
        _exit(0);
    if (pid < 0)
        return probe_fail(result, "clone3");
    ready.fd = pidfd;
    if (poll(&ready, 1, TRY_INNER_LIMIT_MS) != 1)
        return probe_fail_with(result, ETIMEDOUT, "poll the pidfd");
    /* By number: whether P_PIDFD works too is not what is asked. */
    return waitpid((pid_t)pid, NULL, __WALL) == pid || probe_fail(result, "waitpid");
}

PROBE_WORK(try_openat2)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

    (void)env;
    return syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how)) >= 0 ||
           probe_fail(result, "openat2");
}

PROBE_WORK(try_close_range)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    (void)env;
    if (fd < 0)
        return probe_fail(result, "open /");
    if (syscall(SYS_close_range, fd, fd, 0) < 0)
        return probe_fail(result, "close_range");
    return fcntl(fd, F_GETFD) < 0 || probe_fail_with(result, EINVAL, "close_range");
}

static int open_device(struct probe_result *result, const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        (void)probe_fail(result, path);
    return fd;
}

PROBE_WORK(try_tun)
{
    (void)env;
    return open_device(result, "/dev/net/tun") >= 0;
}

PROBE_WORK(try_kvm)
{
    int fd = open_device(result, "/dev/kvm");

    (void)env;
    if (fd < 0)
        return false;
    return ioctl(fd, KVM_GET_API_VERSION_CALL, 0) > 0 || probe_fail(result, "KVM_GET_API_VERSION");
}

PROBE_WORK(try_fuse)
{
    (void)env;
    return open_device(result, "/dev/fuse") >= 0;
}
