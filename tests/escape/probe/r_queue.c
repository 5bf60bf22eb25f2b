// SPDX-License-Identifier: Apache-2.0
// r_queue FILE THREADS: threads that write to one file, over and over, while its name is truncated:
// each call on the name waits until all that queue before it have written.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PART = 1 << 20, SIZE = 120 * PART };

static int file;
static char *bytes;

static void *write_on(void *context)
{
    (void)context;
    while (pwrite(file, bytes, SIZE, 0) >= 0)
        ;
    return NULL;
}

/* A large buffer that takes little memory. */
static char *map(void)
{
    int fd = memfd_create("part", MFD_CLOEXEC);
    char *at = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || ftruncate(fd, PART) < 0)
        exit(1);
    for (size_t i = 0; i < SIZE; i += PART)
        if (mmap(at + i, PART, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            exit(1);
    return at;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;

    if (argc != 3)
        return 2;
    file = open(argv[1], O_RDWR | O_CREAT, 0644);
    bytes = map();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    if (pwrite(file, bytes, SIZE, 0) != SIZE)
        return 1;
    for (int i = 0; i < atoi(argv[2]); i++)
        if (pthread_create(&thread, &attributes, write_on, NULL) != 0)
            return 1;
    for (;;)
        if (truncate(argv[1], SIZE) < 0)
            return 1;
}
