/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bindrace bind PATH TRIES SECONDS: makes a socket at PATH again and again. Prints
 * how many were made and refused.
 * bindrace flip LINK ONE OTHER: LINK leads to ONE and to OTHER by turns, until killed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int flip(const char *path, char **targets)
{
    char next[4096];

    snprintf(next, sizeof(next), "%s.next", path);
    for (unsigned i = 0;; i++) {
        unlink(next);
        if (symlink(targets[i % 2], next) < 0 || rename(next, path) < 0)
            return 1;
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    long made = 0, refused = 0;
    time_t until;

    if (argc < 5)
        return 2;
    if (strcmp(argv[1], "flip") == 0)
        return flip(argv[2], argv + 3);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", argv[2]);
    until = time(NULL) + atol(argv[4]);
    for (long i = 0; i < atol(argv[3]) && time(NULL) < until; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
            made++;
        else
            refused += errno == EACCES;
        close(fd);
        unlink(address.sun_path);
    }
    printf("%ld %ld\n", made, refused);
    return 0;
}
