/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockswap NAME TO TRIES SECONDS: one thread makes a socket at NAME and removes
 * it, another renames NAME to TO, and exchanges them. Prints how often the socket
 * was there and the tries. The witness is outside.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static atomic_bool is_over;
static atomic_long made;

static void *make(void *nothing)
{
    while (!is_over) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        made += bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
        for (volatile int i = rand() % 3000; i > 0;)
            i--;
        unlink(address.sun_path);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    long tries = 0;
    pthread_t thread;
    time_t until;

    if (argc < 5)
        return 2;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    if (pthread_create(&thread, NULL, make, NULL) != 0)
        return 2;
    for (until = time(NULL) + atol(argv[4]); tries < atol(argv[3]) && time(NULL) < until; tries++) {
        rename(argv[1], argv[2]);
        syscall(SYS_renameat2, AT_FDCWD, argv[2], AT_FDCWD, argv[1], 2 /* RENAME_EXCHANGE */);
    }
    is_over = true;
    pthread_join(thread, NULL);
    printf("%ld %ld\n", (long)made, tries);
    return 0;
}
