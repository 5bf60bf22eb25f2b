/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that held calls can cost: runs COMMAND below a filter that holds what bawn holds of the
 * calls of common tools, and makes these calls for it without a look at any rule.
 *
 *     bench_held COMMAND...
 *
 * It trusts its command: paths are short, and it knows no umask. All run on one core, where an
 * answer wakes nobody elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

#define HOLD(call)                                                                                 \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)

static int fail(const char *what)
{
    (void)fprintf(stderr, "bench_held: %s: %s\n", what, strerror(errno));
    return EXIT_FAILURE;
}

static int filter(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        HOLD(unlink),
        HOLD(mkdir),
        HOLD(rmdir),
        HOLD(rename),
        HOLD(unlinkat),
        HOLD(mkdirat),
        HOLD(renameat2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* Sends a descriptor (fd >= 0), or takes one. */
static int pass(int socket, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);

    if (fd < 0) {
        if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
            return -1;
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
        return fd;
    }
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &fd, sizeof(fd));
    return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static void read_path(const struct seccomp_notif *call, int arg, char path[static PATH_BYTES])
{
    struct iovec here = {path, PATH_BYTES - 1};
    struct iovec there = {(void *)(uintptr_t)call->data.args[arg], PATH_BYTES - 1};
    ssize_t got = process_vm_readv((pid_t)call->pid, &here, 1, &there, 1, 0);

    path[got > 0 ? got : 0] = '\0';
}

/* The directory that a path of the call starts in: the one beside it, or the current one. */
static int open_dir(const struct seccomp_notif *call, int arg)
{
    char path[64];

    if (arg < 0 || (int)call->data.args[arg] == AT_FDCWD)
        (void)snprintf(path, sizeof(path), "/proc/%u/cwd", call->pid);
    else
        (void)snprintf(path, sizeof(path), "/proc/%u/fd/%d", call->pid, (int)call->data.args[arg]);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int64_t open_for(int listener, const struct seccomp_notif *call, int dir, const char *path)
{
    int fd = openat(dir, path, (int)call->data.args[2] | O_CLOEXEC, (mode_t)call->data.args[3]);
    struct seccomp_notif_addfd add = {
        .id = call->id,
        .srcfd = (uint32_t)fd,
        .newfd_flags = (uint32_t)(call->data.args[2] & O_CLOEXEC),
    };
    int added;

    if (fd < 0)
        return -errno;
    added = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    if (added < 0)
        added = -errno;
    (void)close(fd);
    return added;
}

/* Calls with a directory beside the path. */
static bool has_dir(int number)
{
    return number == SYS_openat || number == SYS_unlinkat || number == SYS_mkdirat ||
           number == SYS_renameat2;
}

static int64_t rename_for(const struct seccomp_notif *call, int dir, const char *path)
{
    bool is_at = has_dir(call->data.nr);
    int to = open_dir(call, is_at ? 2 : -1);
    char other[PATH_BYTES];
    int r;

    read_path(call, is_at ? 3 : 1, other);
    r = (int)syscall(SYS_renameat2, dir, path, to, other, is_at ? call->data.args[4] : 0);
    r = r < 0 ? -errno : 0;
    (void)close(to);
    return r;
}

static int64_t make(int listener, const struct seccomp_notif *call)
{
    bool is_at = has_dir(call->data.nr);
    int dir = open_dir(call, is_at ? 0 : -1);
    char path[PATH_BYTES];
    int64_t r;

    read_path(call, is_at, path);
    switch (call->data.nr) {
    case SYS_openat:
        r = open_for(listener, call, dir, path);
        break;
    case SYS_unlink:
    case SYS_unlinkat:
        r = unlinkat(dir, path, is_at ? (int)call->data.args[2] : 0) < 0 ? -errno : 0;
        break;
    case SYS_mkdir:
    case SYS_mkdirat:
        r = mkdirat(dir, path, (mode_t)call->data.args[is_at ? 2 : 1]) < 0 ? -errno : 0;
        break;
    case SYS_rmdir:
        r = unlinkat(dir, path, AT_REMOVEDIR) < 0 ? -errno : 0;
        break;
    default:
        r = rename_for(call, dir, path);
    }
    (void)close(dir);
    return r;
}

static void serve(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};

    while (poll(&ready, 1, -1) >= 0 && !(ready.revents & (POLLHUP | POLLERR))) {
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {0};
        int64_t result;

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
            continue;
        result = make(listener, &call);
        answer.id = call.id;
        if (result < 0)
            answer.error = (int32_t)result;
        else
            answer.val = result;
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

int main(int argc, char **argv)
{
    int sockets[2];
    int listener, status;
    cpu_set_t one;
    pid_t pid;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    (void)umask(0);
    if (argc < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return fail("start");
    pid = fork();
    if (pid < 0)
        return fail("fork");
    if (pid == 0) {
        listener = filter();
        if (listener < 0 || pass(sockets[1], listener) < 0)
            _exit(fail("filter"));
        (void)close(listener);
        (void)execvp(argv[1], argv + 1);
        _exit(fail(argv[1]));
    }
    (void)close(sockets[1]);
    listener = pass(sockets[0], -1);
    if (listener < 0)
        return fail("take the listener");
    serve(listener);
    return waitpid(pid, &status, 0) == pid && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
