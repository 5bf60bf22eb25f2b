/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP service of the host's on 127.0.0.1: e_tcp. Writes its port, then "reached" for each that
 * connects, until it is ended. */
#include "verdict.h"

#include <arpa/inet.h>
#include <sys/socket.h>

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int peer;

    if (bind(fd, (struct sockaddr *)&address, size) == -1 || listen(fd, 64) == -1 ||
        getsockname(fd, (struct sockaddr *)&address, &size) == -1) {
        perror("e_tcp");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    while ((peer = accept(fd, NULL, NULL)) >= 0) {
        close(peer);
        printf("reached\n");
        fflush(stdout);
    }
    return 1;
}
