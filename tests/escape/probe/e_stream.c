/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of many kinds as standard input.
 *   e_stream with KIND COMMAND...   runs COMMAND with one; the far end of a connection says
 * "hello", and writes what it hears to standard error
 *   e_stream try PORT    whether standard input can be made to reach 127.0.0.1:PORT
 *   e_stream name NAME   whether it, and a socket made here, can have an abstract name; holds
 * them for a second
 */
#include "verdict.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listening(void)
{
    struct sockaddr_in address = loopback(0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 || listen(fd, 1) == -1)
        exit(1);
    return fd;
}

static void connected(int ends[2])
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    int listener = listening();

    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (getsockname(listener, (struct sockaddr *)&address, &size) == -1 ||
        connect(ends[0], (struct sockaddr *)&address, size) == -1)
        exit(1);
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}

static int speak_to(int ends[2])
{
    char text[256];
    ssize_t count;

    if (fork() != 0) {
        close(ends[1]);
        return ends[0];
    }
    close(ends[0]);
    alarm(20);
    if (write(ends[1], "hello\n", 6) != 6)
        _exit(1);
    shutdown(ends[1], SHUT_WR);
    while ((count = read(ends[1], text, sizeof(text))) > 0)
        if (write(STDERR_FILENO, text, (size_t)count) != count)
            _exit(1);
    _exit(0);
}

static int make(const char *kind)
{
    int ends[2] = {-1, -1};

    if (strcmp(kind, "tcp") == 0) {
        connected(ends);
        return speak_to(ends);
    }
    if (strcmp(kind, "unix") == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
        return speak_to(ends);
    if (strcmp(kind, "unix-datagram") == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0)
        return ends[0];
    if (strcmp(kind, "unix-new") == 0)
        return socket(AF_UNIX, SOCK_STREAM, 0);
    if (strcmp(kind, "tcp-new") == 0)
        return socket(AF_INET, SOCK_STREAM, 0);
    if (strcmp(kind, "tcp-listening") == 0)
        return listening();
    if (strcmp(kind, "udp") == 0)
        return socket(AF_INET, SOCK_DGRAM, 0);
    if (strcmp(kind, "netlink") == 0)
        return socket(AF_NETLINK, SOCK_RAW, 0);
    if (strcmp(kind, "path") == 0)
        return open("/etc/passwd", O_PATH);
    if (strcmp(kind, "namespace") == 0)
        return open("/proc/self/ns/net", O_RDONLY);
    if (strcmp(kind, "pidfd") == 0)
        return (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (strcmp(kind, "epoll") == 0)
        return epoll_create1(0);
    return strcmp(kind, "eventfd") == 0 ? eventfd(0, 0) : -1;
}

static void try(int port)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    struct sockaddr_in address = loopback(port);

    verdict_say(verdict_word(verdict_of(connect(0, &nobody, sizeof(nobody)))), "disconnect");
    verdict_say(verdict_word(verdict_of(connect(0, (struct sockaddr *)&address, sizeof(address)))),
                "connect");
    verdict_say(verdict_word(verdict_of(
                    sendto(0, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&address, sizeof(address)))),
                "send");
}

static int name_it(int fd, const char *prefix, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s%s", prefix, name);

    return bind(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
}

static void try_name(const char *name)
{
    int own = socket(AF_UNIX, SOCK_STREAM, 0);

    verdict_say(verdict_word(verdict_of(name_it(0, "", name))), "stream");
    verdict_say(verdict_word(verdict_of(name_it(own, "own-", name))), "own");
    fflush(stdout);
    sleep(1);
}

int main(int argc, char **argv)
{
    int fd;

    if (argc == 3 && strcmp(argv[1], "name") == 0) {
        try_name(argv[2]);
        return 0;
    }

    if (argc == 3 && strcmp(argv[1], "try") == 0) {
        try(atoi(argv[2]));
        return 0;
    }
    if (argc < 4 || strcmp(argv[1], "with") != 0)
        return 2;
    fd = make(argv[2]);
    if (fd == -1 || dup2(fd, 0) == -1) {
        perror(argv[2]);
        return 1;
    }
    close(fd);
    execv(argv[3], argv + 3);
    return 1;
}
