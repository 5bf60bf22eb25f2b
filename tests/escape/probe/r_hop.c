/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is never where it was: r_hop MIB THREADS SECONDS. A process that has it forks and
 * ends, again and again, beside one with many threads, which takes long to look through. Prints
 * what is left of it in the end. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1024 * 1024, STACK_BYTES = 16384 };

static int idle(void *context)
{
    (void)context;
    return pause();
}

static void make_threads(int count)
{
    const int flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

    for (int i = 0; i < count; i++) {
        char *stack =
            mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (stack == MAP_FAILED || clone(idle, stack + STACK_BYTES, flags, NULL) < 0)
            return;
    }
}

static void hop(size_t mib, time_t end)
{
    const struct timespec rest = {.tv_nsec = 300000};
    char *memory =
        mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t taken = 0;

    if (memory == MAP_FAILED)
        _exit(1);
    (void)madvise(memory, mib * MIB, MADV_HUGEPAGE); /* a fork is quick then */
    while (time(NULL) < end) {
        if (taken < mib)
            memset(memory + taken++ * MIB, 1, MIB);
        if (fork() > 0)
            _exit(0);
        (void)nanosleep(&rest, NULL);
    }
    printf("kept %zu\n", taken);
    exit(0);
}

int main(int argc, char **argv)
{
    time_t end;

    if (argc != 4)
        return 2;
    make_threads(atoi(argv[2]));
    end = time(NULL) + atoi(argv[3]);
    if (fork() == 0)
        hop((size_t)atoi(argv[1]), end);
    while (time(NULL) <= end)
        sleep(1);
    return 0;
}
