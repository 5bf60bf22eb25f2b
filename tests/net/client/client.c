/* SPDX-License-Identifier: Apache-2.0 */
/* client HOST PORT PATH: prints the body of what is there. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int dial(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int fd = -1;
    int failed = getaddrinfo(host, port, &hints, &found);

    if (failed) {
        fprintf(stderr, "client: %s: %s\n", host, gai_strerror(failed));
        return -1;
    }
    for (struct addrinfo *one = found; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype, 0);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) < 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        perror("client: connect");
    return fd;
}

int main(int argc, char **argv)
{
    char answer[65536] = "";
    size_t length = 0;
    ssize_t count;
    const char *body;
    int fd;

    if (argc != 4)
        return 2;
    fd = dial(argv[1], argv[2]);
    if (fd < 0)
        return 1;
    dprintf(fd, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[3], argv[1]);
    while (length + 1 < sizeof(answer) &&
           (count = read(fd, answer + length, sizeof(answer) - 1 - length)) > 0)
        length += (size_t)count;
    answer[length] = '\0';
    body = strstr(answer, "\r\n\r\n");
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || !body)
        return 1;
    fputs(body + 4, stdout);
    return 0;
}
