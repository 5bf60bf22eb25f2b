/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f_flood DIR THREADS COUNT SECONDS: opens COUNT different names in DIR for writing, in many
 * threads at once, for so long at most. Meanwhile another process makes and removes a directory
 * that nobody is asked about, and measures how long that takes. Prints how many were let in, how
 * many were refused, other errors, and the longest of the other process's calls in milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 200 };

static const char *dir;
static unsigned long count;
static time_t until;
static atomic_ulong next, let_in, refused, others;

static void *ask(void *unused)
{
    unsigned long i;

    while (time(NULL) < until && (i = next++) < count) {
        char path[4096];
        int fd;

        (void)snprintf(path, sizeof(path), "%s/asked-%lu", dir, i);
        fd = open(path, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0) {
            let_in++;
            (void)close(fd);
        } else if (errno == EACCES) {
            refused++;
        } else {
            others++;
        }
    }
    return unused;
}

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1000000;
}

/* Until it is killed: the longest so far. */
static void beside(double *longest_ms)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/beside", dir);
    for (;;) {
        double began = now_ms();

        if (mkdir(path, 0700) < 0 || rmdir(path) < 0) {
            *longest_ms = 1e9;
            _exit(1);
        }
        if (now_ms() - began > *longest_ms)
            *longest_ms = now_ms() - began;
        (void)usleep(20000);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int wanted = argc == 5 ? atoi(argv[2]) : 0;
    double *longest_ms =
        mmap(NULL, sizeof(*longest_ms), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    if (wanted < 1 || wanted > THREADS_MAX || longest_ms == MAP_FAILED)
        return 2;
    dir = argv[1];
    count = strtoul(argv[3], NULL, 10);
    until = time(NULL) + atoi(argv[4]);
    child = fork();
    if (child < 0)
        return 2;
    if (child == 0)
        beside(longest_ms);
    for (int i = 0; i < wanted; i++)
        if (pthread_create(&threads[i], NULL, ask, NULL) != 0)
            return 2;
    for (int i = 0; i < wanted; i++)
        (void)pthread_join(threads[i], NULL);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)printf("%lu %lu %lu %.0f\n", let_in, refused, others, *longest_ms);
    return 0;
}
