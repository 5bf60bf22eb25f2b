/* SPDX-License-Identifier: Apache-2.0 */
/*
 * r_group leave COMMAND...  runs COMMAND in a process group that a child of its own has made
 * r_group first MIB FILE    takes MIB in a thread, after the first thread has ended; then writes to
 *                           FILE for ever
 */
#include "verdict.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static int leave(char **command)
{
    pid_t child = fork();

    if (child == 0) {
        for (;;)
            pause();
    }
    if (child == -1 || setpgid(child, child) == -1 || setpgid(0, child) == -1)
        return 1;
    for (int number = 1; number < 64; number++)
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
    execv(command[0], command);
    return 1;
}

static size_t bytes;
static const char *file;

static void *take(void *context)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0644);

    pthread_join(*(pthread_t *)context, NULL);
    if (at == MAP_FAILED || fd == -1)
        exit(1);
    memset(at, 1, bytes);
    for (;;) {
        if (write(fd, ".", 1) != 1)
            exit(1);
        usleep(20 * 1000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_t first;
    pthread_t thread;

    if (argc > 2 && strcmp(argv[1], "leave") == 0)
        return leave(argv + 2);
    if (argc < 4 || strcmp(argv[1], "first") != 0)
        return 2;
    bytes = (size_t)atoi(argv[2]) << 20;
    file = argv[3];
    first = pthread_self();
    if (pthread_create(&thread, NULL, take, &first) != 0)
        return 1;
    pthread_exit(NULL);
}
