/* SPDX-License-Identifier: Apache-2.0 */
/*
 * r_freeze FILE: stops whoever is born next in this pid namespace, at the number that it will have,
 * and makes FILE when one was met before it became another program. Never ends by itself.
 */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>

static int last_pid(int load)
{
    char text[128] = "";

    if (pread(load, text, sizeof(text) - 1, 0) <= 0)
        exit(1);
    return atoi(strrchr(text, ' ') + 1);
}

/* The program that a process runs is that of pid 1 until its exec. */
static int is_newborn(int pid)
{
    char path[32], name[32] = "", first[32] = "";
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    fd = open(path, O_RDONLY);
    if (fd == -1 || read(fd, name, sizeof(name) - 1) <= 0)
        name[0] = '\0';
    close(fd);
    fd = open("/proc/1/comm", O_RDONLY);
    if (fd == -1 || read(fd, first, sizeof(first) - 1) <= 0)
        exit(1);
    close(fd);
    return strcmp(name, first) == 0;
}

int main(int argc, char **argv)
{
    int load = open("/proc/loadavg", O_RDONLY);
    int next = last_pid(load) + 1;

    for (unsigned tries = 1; argc > 1; tries++) {
        if (kill(next, SIGSTOP) == 0) {
            if (is_newborn(next)) {
                close(open(argv[1], O_WRONLY | O_CREAT, 0644));
                for (;;)
                    pause();
            }
            kill(next, SIGCONT);
            next++;
        } else if (tries % 1024 == 0) {
            next = last_pid(load) + 1;
        }
    }
    return 2;
}
