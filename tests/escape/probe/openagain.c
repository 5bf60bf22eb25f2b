/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a file to read, and by openat2 once more through its descriptor. openagain PATH. */
#include "verdict.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct open_how how = {.flags = O_RDONLY};
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    char path[32];

    if (fd < 0)
        return 2;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    verdict_say(verdict_word(verdict_of(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)))),
                path);
    return 0;
}
