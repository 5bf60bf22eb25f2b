/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f_ask YES NO SECONDS: opens a path for writing, again and again, while another thread makes the
 * one the other in the same memory: they differ in one byte. Prints how often it was let in, and
 * how often not.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char path[4096];
static volatile char *place; /* the byte that differs */
static char bytes[2];
static atomic_bool is_over;

static void *swap(void *unused)
{
    (void)unused;
    for (unsigned long i = 0; !is_over; i++)
        *place = bytes[i % 7 == 0];
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long let_in = 0, refused = 0, others = 0;
    time_t until = time(NULL) + (argc > 3 ? atoi(argv[3]) : 1);
    pthread_t thread;

    if (argc != 4)
        return 2;
    (void)snprintf(path, sizeof(path), "%s", argv[1]);
    for (size_t i = 0; path[i] && !place; i++) {
        bytes[0] = argv[1][i];
        bytes[1] = argv[2][i];
        place = bytes[0] != bytes[1] ? path + i : NULL;
    }
    if (!place)
        return 2;
    if (pthread_create(&thread, NULL, swap, NULL) != 0)
        return 2;
    while (time(NULL) < until) {
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

        if (fd >= 0) {
            let_in++;
            (void)!write(fd, ".", 1);
            (void)close(fd);
        } else if (errno == EACCES) {
            refused++;
        } else {
            others++;
        }
    }
    is_over = true;
    (void)pthread_join(thread, NULL);
    (void)printf("%lu %lu %lu\n", let_in, refused, others);
    return 0;
}
