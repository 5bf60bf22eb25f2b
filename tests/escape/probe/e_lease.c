/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to make the host wait: leases and locks on a file that may only be read. e_lease FILE */
#include "verdict.h"

#include <fcntl.h>
#include <sys/file.h>

static void say(const char *what, long result)
{
    verdict_say(verdict_word(verdict_of(result)), what);
}

int main(int argc, char **argv)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

    say("open", fd);
    say("lease-read", fcntl(fd, F_SETLEASE, F_RDLCK));
    fcntl(fd, F_SETLEASE, F_UNLCK);
    say("lease-write", fcntl(fd, F_SETLEASE, F_WRLCK));
    fcntl(fd, F_SETLEASE, F_UNLCK);
    say("lock-write", fcntl(fd, F_SETLK, &lock));
    say("lock-write-ofd", fcntl(fd, F_OFD_SETLK, &lock));
    say("flock-exclusive", flock(fd, LOCK_EX | LOCK_NB));
    return 0;
}
