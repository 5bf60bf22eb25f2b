/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a held call can cost: runs COMMAND below a filter that holds what bawn holds of
 * the calls of bench_calls, and makes these calls for it without a look at any rule.
 *
 *     bench_held COMMAND...
 *
 * It trusts its command: paths are short, and relative to one directory. It knows no umask.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
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

static int64_t open_for(int listener, const struct seccomp_notif *call, const char *path)
{
    int fd = openat(AT_FDCWD, path, (int)call->data.args[2], (mode_t)call->data.args[3]);
    struct seccomp_notif_addfd add = {
        .id = call->id, .srcfd = (uint32_t)fd, .newfd_flags = O_CLOEXEC};
    int added;

    if (fd < 0)
        return -errno;
    added = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    if (added < 0)
        added = -errno;
    (void)close(fd);
    return added;
}

static int64_t make(int listener, const struct seccomp_notif *call)
{
    char path[PATH_BYTES];
    char other[PATH_BYTES];
    int r = -1;

    read_path(call, call->data.nr == SYS_openat, path);
    switch (call->data.nr) {
    case SYS_openat:
        return open_for(listener, call, path);
    case SYS_unlink:
        r = unlink(path);
        break;
    case SYS_mkdir:
        r = mkdir(path, (mode_t)call->data.args[1]);
        break;
    case SYS_rmdir:
        r = rmdir(path);
        break;
    default:
        read_path(call, 1, other);
        r = rename(path, other);
    }
    return r < 0 ? -errno : 0;
}

/* Where its command is by now. */
static void follow(const struct seccomp_notif *call)
{
    static bool is_there;
    char path[64];

    if (is_there)
        return;
    (void)snprintf(path, sizeof(path), "/proc/%u/cwd", call->pid);
    is_there = chdir(path) == 0;
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
        follow(&call);
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
    pid_t pid;

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
        (void)execv(argv[1], argv + 1);
        _exit(fail(argv[1]));
    }
    (void)close(sockets[1]);
    listener = pass(sockets[0], -1);
    if (listener < 0)
        return fail("take the listener");
    serve(listener);
    return waitpid(pid, &status, 0) == pid && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
