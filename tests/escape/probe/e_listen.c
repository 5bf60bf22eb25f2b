/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unix sockets of the host's. e_listen NAME...: a name is a path, or @NAME for
 * an abstract one, with ":dgram" or ":seqpacket" behind it for these types.
 * Writes "ready", then one line for each that is reached, until it is ended.
 */
#include "verdict.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { SOCKETS_MAX = 32 };

static int listen_on(char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *colon = strchr(name, ':');
    int type = !colon ? SOCK_STREAM : strcmp(colon, ":dgram") == 0 ? SOCK_DGRAM : SOCK_SEQPACKET;
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (length >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    if (bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == -1)
        return -1;
    if (name[0] != '@')
        chmod(address.sun_path, 0777);
    if (type != SOCK_DGRAM && listen(fd, 64) == -1)
        return -1;
    return fd;
}

static void take(int fd, const char *name)
{
    char byte;
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

    if (peer >= 0) {
        if (write(peer, "hello\n", 6) != 6)
            perror("e_listen");
        close(peer);
    } else if (recv(fd, &byte, 1, 0) < 0) {
        return;
    }
    printf("reached %s\n", name);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct pollfd fds[SOCKETS_MAX];
    nfds_t count = 0;

    /* Who connects may be gone before it is greeted. */
    signal(SIGPIPE, SIG_IGN);

    for (; (int)count + 1 < argc && count < SOCKETS_MAX; count++) {
        fds[count].fd = listen_on(argv[count + 1]);
        fds[count].events = POLLIN;
        if (fds[count].fd == -1) {
            fprintf(stderr, "e_listen: %s: %s\n", argv[count + 1], strerror(errno));
            return 1;
        }
    }
    printf("ready\n");
    fflush(stdout);
    while (poll(fds, count, -1) > 0)
        for (nfds_t i = 0; i < count; i++)
            if (fds[i].revents)
                take(fds[i].fd, argv[i + 1]);
    return 0;
}
