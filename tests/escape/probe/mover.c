/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mover move FROM TO NAME SECONDS: renames FROM to TO and back, until TO/NAME is
 *     there. Prints how often it tried and how often it succeeded.
 * mover plant FILE SECONDS: makes FILE and removes it, at times that shift.
 *     Prints how often.
 * The two are for two sandboxes on one tree.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int move(const char *from, const char *to, const char *name, time_t until)
{
    long tries = 0, moved = 0;
    char planted[4096];

    snprintf(planted, sizeof planted, "%s/%s", to, name);
    for (; time(NULL) < until; tries++) {
        if (rename(from, to) < 0) {
            usleep(5000);
            continue;
        }
        moved++;
        if (access(planted, F_OK) == 0 || rename(to, from) < 0)
            break;
    }
    printf("%ld %ld\n", tries, moved);
    return 0;
}

static int plant(const char *file, time_t until)
{
    unsigned shift = 0;
    long made = 0;

    while (time(NULL) < until) {
        int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0666);

        if (fd >= 0) {
            made++;
            close(fd);
            usleep(20000);
            unlink(file);
        }
        usleep(1000 + (shift = (shift + 7919) % 60000));
    }
    printf("%ld\n", made);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "move") == 0)
        return move(argv[2], argv[3], argv[4], time(NULL) + atol(argv[5]));
    if (argc == 4 && strcmp(argv[1], "plant") == 0)
        return plant(argv[2], time(NULL) + atol(argv[3]));
    return 2;
}
