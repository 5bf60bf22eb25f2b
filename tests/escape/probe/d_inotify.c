/* SPDX-License-Identifier: Apache-2.0 */
/*
 * d_inotify FILE MOST: takes inotify instances until there are no more, or MOST.
 * Says how many it has ("N<TAB>instances"), and keeps them until FILE is there.
 */
#include "verdict.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    char count[32];
    long most = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    long got = 0;

    if (most <= 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 1;
    while (got < most && inotify_init1(IN_CLOEXEC) >= 0)
        got++;
    snprintf(count, sizeof(count), "%ld", got);
    verdict_say(count, "instances");
    for (int i = 0; i < 300 && access(argv[1], F_OK) < 0; i++)
        usleep(50000);
    return 0;
}
