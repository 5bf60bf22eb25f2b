/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/control.h"

#include "base/cleanup.h"
#include "base/limits.h"
#include "wire/packet.h"
#include "wire/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* SECURITY: both sides may be linked with different C libraries. */
_Static_assert(sizeof(struct termios) == 60 && sizeof(struct winsize) == 8,
               "the layout of messages is the kernel's and both C libraries'");
_Static_assert(sizeof(struct control_message) == 96, "another layout is another CONTROL_VERSION");
_Static_assert(sizeof(struct bawn_metrics) == 176, "another layout is another CONTROL_VERSION");
_Static_assert(sizeof(struct control_host) == 304, "another layout is another CONTROL_VERSION");
_Static_assert(CONTROL_HOST_BYTES >= LIMIT_HOST_BYTES + sizeof(":65535"), "the longest name fits");

int control_send(int sock, const struct control_message *message, const void *bytes, size_t size,
                 const int *fds, size_t fd_count)
{
    const struct iovec parts[] = {{(void *)(uintptr_t)message, sizeof(*message)},
                                  {(void *)(uintptr_t)bytes, size}};

    return packet_send(sock, parts, fds, fd_count);
}

int control_receive(int sock, struct control_message *message, void *bytes, size_t room,
                    size_t *ret_size, int fds[CONTROL_FDS])
{
    struct iovec parts[] = {{message, sizeof(*message)}, {bytes, room}};
    ssize_t behind = packet_receive(sock, parts, fds, CONTROL_FDS);

    if (behind < 0)
        return (int)behind;
    if (message->version != CONTROL_VERSION || message->kind >= CONTROL_COUNT) {
        packet_drop_fds(fds, CONTROL_FDS);
        return -EPROTO;
    }
    if (ret_size)
        *ret_size = (size_t)behind;
    return 0;
}

int control_strings_split(const struct control_message *message, char *bytes, size_t size,
                          struct control_strings *ret_strings)
{
    autofree char **strings = NULL;

    if (!strings_are_few(message->args, message->envs))
        return -EPROTO;
    strings = calloc((size_t)message->args + message->envs + 2, sizeof(*strings));
    if (!strings)
        return -ENOMEM;
    if (!strings_split(bytes, size, message->args, message->envs, strings))
        return -EPROTO;
    ret_strings->envp = strings + message->args + 1;
    ret_strings->argv = take_ptr(&strings);
    return 0;
}

int control_strings_join(struct control_message *message, char *const *argv, char *const *envp,
                         char **ret_bytes, size_t *ret_size)
{
    size_t size = strings_measure(argv, &message->args) + strings_measure(envp, &message->envs);
    char *bytes;

    if (size > CONTROL_BYTES_MAX || (size_t)message->args + message->envs > STRINGS_MAX)
        return -E2BIG;
    bytes = malloc(size + 1);
    if (!bytes)
        return -ENOMEM;
    (void)strings_add(strings_add(bytes, argv), envp);
    *ret_bytes = bytes;
    *ret_size = size;
    return 0;
}

int control_hosts_count(const struct control_host *hosts, size_t size)
{
    size_t count = size / sizeof(*hosts);

    if (size % sizeof(*hosts) != 0 || count > CONTROL_HOSTS_MAX)
        return -EPROTO;
    for (size_t i = 0; i < count; i++) {
        if (!memchr(hosts[i].host, '\0', sizeof(hosts[i].host)))
            return -EPROTO;
    }
    return (int)count;
}

void control_terminal_state(struct termios *ret_state)
{
    *ret_state = (struct termios){
        .c_iflag = BRKINT | ICRNL | IMAXBEL | IXON | IUTF8,
        .c_oflag = OPOST | ONLCR,
        .c_cflag = CREAD | CS8 | B38400,
        .c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE,
        .c_cc = {[VINTR] = 'C' - '@',
                 [VQUIT] = '\\' - '@',
                 [VERASE] = 0x7f,
                 [VKILL] = 'U' - '@',
                 [VEOF] = 'D' - '@',
                 [VMIN] = 1,
                 [VSTART] = 'Q' - '@',
                 [VSTOP] = 'S' - '@',
                 [VSUSP] = 'Z' - '@',
                 [VREPRINT] = 'R' - '@',
                 [VWERASE] = 'W' - '@',
                 [VLNEXT] = 'V' - '@',
                 [VDISCARD] = 'O' - '@'},
    };
}
