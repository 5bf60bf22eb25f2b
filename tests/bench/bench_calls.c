/* SPDX-License-Identifier: Apache-2.0 */
/* What single system calls cost where this runs, in an empty directory that it is given: one line
 * each, the name and the least mean of several rounds in nanoseconds. At last two processes at once
 * make files, and work between their calls. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, CALLS = 60, CALLERS = 2, WORK_NS = 50000 };

static int call_stat(void)
{
    struct stat status;

    return stat("there", &status);
}

static int call_open(void)
{
    return close(openat(AT_FDCWD, "there", O_RDONLY | O_CLOEXEC));
}

static int call_write_open(void)
{
    return close(openat(AT_FDCWD, "there", O_WRONLY | O_CLOEXEC));
}

static int call_create(void)
{
    int fd = openat(AT_FDCWD, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return close(fd) < 0 ? -1 : unlink("new");
}

static int call_directory(void)
{
    return mkdir("dir", 0700) < 0 ? -1 : rmdir("dir");
}

static int call_rename(void)
{
    return rename("there", "moved") < 0 ? -1 : rename("moved", "there");
}

static uint64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {
    {"stat", call_stat},
    {"open to read, close", call_open},
    {"open to write, close", call_write_open},
    {"create, close, unlink", call_create},
    {"mkdir, rmdir", call_directory},
    {"rename, twice", call_rename},
};

/* The mean of one round, in nanoseconds; 0 when a call failed. */
static uint64_t time_round(int (*call)(void))
{
    uint64_t begin = now_ns();

    for (int i = 0; i < CALLS; i++) {
        if (call() < 0)
            return 0;
    }
    return (now_ns() - begin) / CALLS;
}

/* As a program does between its calls: this long on a core that nobody else wants. */
static void work(void)
{
    struct timespec time;
    uint64_t until;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    until = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec + WORK_NS;
    do {
        for (volatile int i = 0; i < 1000; i++)
            ;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    } while ((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec < until);
}

static _Noreturn void call_and_work(int number)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "by-%d", number);
    for (int i = 0; i < CALLS; i++) {
        int fd = openat(AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        work();
        if (close(fd) < 0 || unlink(name) < 0)
            _exit(EXIT_FAILURE);
        work();
    }
    _exit(EXIT_SUCCESS);
}

/* The mean of what each of two callers does; 0 when one failed. */
static uint64_t time_callers(void)
{
    uint64_t begin = now_ns();
    bool failed = false;
    int status;

    for (int i = 0; i < CALLERS; i++) {
        pid_t pid = fork();

        if (pid == 0)
            call_and_work(i);
        failed |= pid < 0;
    }
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed ? 0 : (now_ns() - begin) / CALLS;
}

int main(int argc, char **argv)
{
    uint64_t least[sizeof(calls) / sizeof(calls[0])] = {0};
    uint64_t callers = 0;

    if (argc != 2 || chdir(argv[1]) < 0 ||
        close(openat(AT_FDCWD, "there", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0) {
        (void)fprintf(stderr, "bench_calls: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            uint64_t mean = time_round(calls[i].call);

            if (mean == 0) {
                (void)fprintf(stderr, "bench_calls: %s: %s\n", calls[i].name, strerror(errno));
                return EXIT_FAILURE;
            }
            if (least[i] == 0 || mean < least[i])
                least[i] = mean;
        }
        uint64_t mean = time_callers();

        if (mean == 0) {
            (void)fprintf(stderr, "bench_calls: two callers: %s\n", strerror(errno));
            return EXIT_FAILURE;
        }
        if (callers == 0 || mean < callers)
            callers = mean;
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        (void)printf("%llu %s\n", (unsigned long long)least[i], calls[i].name);
    (void)printf("%llu two at once: create, work, close, unlink, work\n",
                 (unsigned long long)callers);
    return unlink("there") < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
