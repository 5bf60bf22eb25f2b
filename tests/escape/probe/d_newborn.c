// SPDX-License-Identifier: Apache-2.0
// d_newborn SECONDS COUNT: opens the memory of each process as soon as its id is taken. Says how
// many were born, whether that of its own child could be opened, and in how many of the others was
// a program at the place where bawn lies and programs that are started do not.
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM_AT = 0x400000 };

static int open_memory(int pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", pid);
    return open(path, O_RDWR | O_CLOEXEC);
}

static bool has_program(int fd)
{
    char bytes[4];

    return pread(fd, bytes, 4, PROGRAM_AT) == 4 && memcmp(bytes, "\177ELF", 4) == 0;
}

static bool opens_own(void)
{
    int pid = fork();
    int fd;

    if (pid == 0) {
        pause();
        _exit(0);
    }
    fd = open_memory(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return fd >= 0;
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    int count = argc > 2 ? atoi(argv[2]) : 100;
    int load = open("/proc/loadavg", O_RDONLY);
    bool own = opens_own();
    int last = 0, born = 0, opened = 0;

    close(open("ready", O_CREAT | O_WRONLY, 0644));
    while (born < count && time(NULL) < end) {
        char text[128] = "";
        int pid, fd;

        if (pread(load, text, sizeof(text) - 1, 0) <= 0)
            return 1;
        pid = atoi(strrchr(text, ' ') + 1);
        if (pid == last || pid == getpid())
            continue;
        last = pid;
        born++;
        fd = open_memory(pid);
        opened += fd >= 0 && has_program(fd);
        if (fd >= 0)
            close(fd);
    }
    printf("%d %s %d\n", born, own ? "ok" : "refused", opened);
    return 0;
}
