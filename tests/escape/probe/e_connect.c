/* SPDX-License-Identifier: Apache-2.0 */
/* Connects and sends to unix sockets: e_connect NAME..., as e_listen names them. */
#include "verdict.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static socklen_t address_of(const char *name, size_t length, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (length >= sizeof(address->sun_path))
        exit(2);
    memcpy(address->sun_path, name, length);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void try_name(const char *name)
{
    const char *colon = strchr(name, ':');
    int type = !colon ? SOCK_STREAM : strcmp(colon, ":dgram") == 0 ? SOCK_DGRAM : SOCK_SEQPACKET;
    struct sockaddr_un address;
    socklen_t size = address_of(name, colon ? (size_t)(colon - name) : strlen(name), &address);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

    verdict_say(verdict_word(verdict_of(connect(fd, (struct sockaddr *)&address, size))), name);
    close(fd);
    if (type == SOCK_DGRAM) {
        char what[256];

        fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        snprintf(what, sizeof(what), "%s-sendto", name);
        verdict_say(verdict_word(verdict_of(
                        sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&address, size))),
                    what);
        close(fd);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        try_name(argv[i]);
    return 0;
}
