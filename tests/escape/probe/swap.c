/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap A B [TIMES]: exchanges what two names stand for, again and again, until
 * killed or so many times. Prints how often. The race of every "check, then use".
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void over(int signum)
{
    (void)signum;
    is_over = 1;
}

int main(int argc, char **argv)
{
    long done = 0, refused = 0, times = argc > 3 ? atol(argv[3]) : -1;

    if (argc < 3)
        return 2;
    signal(SIGTERM, over);
    for (; !is_over && done + refused != times;) {
        if (syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0)
            done++;
        else
            refused++;
    }
    /* An even number of exchanges leaves everything as it was. */
    if (done % 2)
        syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE);
    printf("%ld %ld\n", done, refused);
    return 0;
}
