/* SPDX-License-Identifier: Apache-2.0 */
/*
 * r_orphans reap COUNT       children whose parent ends first; how many are left after
 * r_orphans tree FILE        daemons in sessions of their own that write to FILE for ever
 * r_orphans spin             one processor, deaf to every signal that can be ignored
 */
#include "verdict.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

static int processes(void)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (dir && (entry = readdir(dir)))
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    if (dir)
        closedir(dir);
    return count;
}

static void reap(int count)
{
    int before = processes(), after = 0, made = 0;
    char text[32];

    for (; made < count; made++) {
        pid_t child = fork();

        if (child == -1)
            break;
        if (child == 0)
            _exit(fork() == -1);
        waitpid(child, NULL, 0);
    }
    for (int tries = 0; tries < 50 && (after = processes()) > before; tries++)
        usleep(50 * 1000);
    snprintf(text, sizeof(text), "%d", made);
    verdict_say(text, "made");
    snprintf(text, sizeof(text), "%d", after - before);
    verdict_say(text, "left");
}

static void be_deaf(void)
{
    for (int number = 1; number < 64; number++)
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
}

static void tree(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd == -1)
        exit(1);
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        setsid();
        if (fork() != 0)
            _exit(0);
        setpgid(0, 0);
        be_deaf();
        for (int fd_in = 0; fd_in < 3; fd_in++)
            close(fd_in);
        for (;;) {
            if (write(fd, ".", 1) != 1)
                _exit(1);
            usleep(20 * 1000);
        }
    }
    for (int tries = 0; tries < 100 && lseek(fd, 0, SEEK_END) == 0; tries++)
        usleep(20 * 1000);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (argc == 3 && strcmp(way, "reap") == 0)
        reap(atoi(argv[2]));
    else if (argc == 3 && strcmp(way, "tree") == 0)
        tree(argv[2]);
    else if (argc == 2 && strcmp(way, "spin") == 0) {
        be_deaf();
        for (;;)
            ;
    } else
        return 2;
    return 0;
}
