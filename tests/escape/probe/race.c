/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race DIR LINK NAME SWAPS SECONDS: one process exchanges a directory and a
 * symbolic link SWAPS times, another makes, writes, renames and removes
 * DIR/NAME meanwhile. Prints swaps and tries. The witness is outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char target[4096], other[4096];

static long swap(const char *a, const char *b, long swaps, time_t until)
{
    long done = 0;

    while (done < swaps && time(NULL) < until)
        if (syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
            done++;
    if (done % 2)
        syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
    return done;
}

static void attack(void)
{
    int fd = open(target, O_WRONLY | O_CREAT, 0666);

    if (fd >= 0) {
        if (write(fd, "escaped\n", 8) < 0)
            perror("write");
        close(fd);
    }
    if (truncate(target, 0) == 0 && rename(target, other) < 0)
        unlink(target);
    if (symlink("/etc/passwd", target) < 0)
        unlink(target);
    unlink(target);
    unlink(other);
    mkdir(target, 0777);
    rmdir(target);
}

int main(int argc, char **argv)
{
    int ends[2], status;
    long swaps = 0, tries = 0;
    time_t until;
    pid_t child;

    if (argc < 6 || pipe(ends) < 0)
        return 2;
    snprintf(target, sizeof target, "%s/%s", argv[1], argv[3]);
    snprintf(other, sizeof other, "%s/%s.moved", argv[1], argv[3]);
    until = time(NULL) + atol(argv[5]);
    child = fork();
    if (child == 0) {
        swaps = swap(argv[1], argv[2], atol(argv[4]), until);
        _exit(write(ends[1], &swaps, sizeof swaps) < 0);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        attack();
        tries++;
    }
    if (read(ends[0], &swaps, sizeof swaps) < 0)
        return 2;
    printf("%ld %ld\n", swaps, tries);
    return 0;
}
