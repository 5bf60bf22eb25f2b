/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/control.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* SECURITY: both sides may be linked with different C libraries. */
_Static_assert(sizeof(struct termios) == 60 && sizeof(struct winsize) == 8,
               "the layout of messages is the kernel's and both C libraries'");
_Static_assert(sizeof(struct control_message) == 96, "another layout is another CONTROL_VERSION");

union control_room {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int) * CONTROL_FDS)];
};

int control_send(int sock, const struct control_message *message, const void *bytes, size_t size,
                 const int *fds, size_t fd_count)
{
    union control_room control = {0};
    struct iovec parts[] = {{(void *)(uintptr_t)message, sizeof(*message)},
                            {(void *)(uintptr_t)bytes, size}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = size ? 2 : 1};
    ssize_t sent;

    if (fd_count > 0) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
    }
    do
        sent = sendmsg(sock, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

/* The kernel rounds the room up: one descriptor more than asked for may come. */
static bool take_fds(struct msghdr *header, int fds[CONTROL_FDS])
{
    size_t count = 0;
    bool fits = true;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        size_t length = part->cmsg_len - CMSG_LEN(0);

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < length / sizeof(int); i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
            fits = fits && count < CONTROL_FDS;
            if (fits)
                fds[count++] = fd;
            else
                (void)close(fd);
        }
    }
    return fits;
}

static void drop_fds(int fds[CONTROL_FDS])
{
    for (int i = 0; i < CONTROL_FDS; i++) {
        if (fds[i] >= 0)
            (void)close(take_fd(&fds[i]));
    }
}

int control_receive(int sock, struct control_message *message, void *bytes, size_t room,
                    size_t *ret_size, int fds[CONTROL_FDS])
{
    union control_room control = {0};
    struct iovec parts[] = {{message, sizeof(*message)}, {bytes, room}};
    struct msghdr header = {.msg_iov = parts,
                            .msg_iovlen = 2,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t got;
    bool fits;

    for (int i = 0; i < CONTROL_FDS; i++)
        fds[i] = -EBADF;
    do
        got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? -EPIPE : -errno;
    if (got == 0)
        return -EPIPE;
    fits = take_fds(&header, fds);
    if (!fits || (size_t)got < sizeof(*message) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ||
        message->version != CONTROL_VERSION || message->kind >= CONTROL_COUNT) {
        drop_fds(fds);
        return -EPROTO;
    }
    if (ret_size)
        *ret_size = (size_t)got - sizeof(*message);
    return 0;
}

int control_strings_split(const struct control_message *message, char *bytes, size_t size,
                          struct control_strings *ret_strings)
{
    size_t args = message->args, envs = message->envs;
    size_t count = 0;
    autofree char **strings = NULL;
    char *end = bytes + size;

    if (args == 0 || args > CONTROL_STRINGS_MAX || envs > CONTROL_STRINGS_MAX ||
        args + envs > CONTROL_STRINGS_MAX || size == 0 || end[-1] != '\0')
        return -EPROTO;
    strings = calloc(args + envs + 2, sizeof(*strings));
    if (!strings)
        return -ENOMEM;
    for (char *at = bytes; at < end; at += strlen(at) + 1, count++) {
        if (count == args + envs)
            return -EPROTO;
        strings[count < args ? count : count + 1] = at;
    }
    if (count != args + envs)
        return -EPROTO;
    ret_strings->envp = strings + args + 1;
    ret_strings->argv = take_ptr(&strings);
    return 0;
}

static size_t measure(char *const *strings, uint32_t *ret_count)
{
    size_t size = 0;

    for (*ret_count = 0; *strings; strings++, ++*ret_count)
        size += strlen(*strings) + 1;
    return size;
}

int control_strings_join(struct control_message *message, char *const *argv, char *const *envp,
                         char **ret_bytes, size_t *ret_size)
{
    size_t size = measure(argv, &message->args) + measure(envp, &message->envs);
    char *bytes, *at;

    if (size > CONTROL_BYTES_MAX || message->args + message->envs > CONTROL_STRINGS_MAX)
        return -E2BIG;
    bytes = at = malloc(size + 1);
    if (!bytes)
        return -ENOMEM;
    for (; *argv; argv++)
        at = stpcpy(at, *argv) + 1;
    for (; *envp; envp++)
        at = stpcpy(at, *envp) + 1;
    *ret_bytes = bytes;
    *ret_size = size;
    return 0;
}
