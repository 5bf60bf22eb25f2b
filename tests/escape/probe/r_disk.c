/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a directory: r_disk bytes DIR MIB, one file; r_disk inodes DIR COUNT,
 * empty ones; r_disk huge DIR MIB, one file with SIGXFSZ ignored. The answer is
 * "VERDICT<TAB>filled" and "N<TAB>made".
 */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>

enum { MIB = 1 << 20 };

static char block[MIB];

static int make_block(int fd)
{
    ssize_t count = write(fd, block, MIB);

    if (count == MIB)
        return 0;
    if (count < 0)
        return errno;
    return write(fd, block, MIB) < 0 ? errno : 0;
}

static int make_inode(const char *dir_path, int number)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/inode%d", dir_path, number);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd == -1)
        return errno;
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    int made = 0, errnum = 0, fd = -1, max = argc > 3 ? atoi(argv[3]) : 0;
    char path[4096], text[32];
    const char *way = argc > 1 ? argv[1] : "";

    if (argc != 4)
        return 2;
    if (strcmp(way, "huge") == 0)
        signal(SIGXFSZ, SIG_IGN);
    if (strcmp(way, "inodes") != 0) {
        snprintf(path, sizeof(path), "%s/filler", argv[2]);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd == -1) {
            verdict_say(verdict_word(errno), "filled");
            return 1;
        }
    }
    while (made < max && errnum == 0) {
        errnum = fd >= 0 ? make_block(fd) : make_inode(argv[2], made);
        made += errnum == 0;
    }
    snprintf(text, sizeof(text), "%d", made);
    verdict_say(verdict_word(errnum), "filled");
    verdict_say(text, "made");
    return 0;
}
