/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program can do with a terminal.
 *   t_tty type          typing into every terminal that it finds, by ioctl
 *   t_tty reach N...    opening terminals: its own, /dev/pts/N of the host, a master
 */
#include "verdict.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>

static void say(const char *what, long result)
{
    verdict_say(verdict_word(verdict_of(result)), what);
}

static void type_into(const char *name, int fd)
{
    static const char typed = '!';
    static char paste[2] = {3, 0}; /* TIOCLINUX: paste the selection */
    char what[64];

    snprintf(what, sizeof(what), "%s-TIOCSTI", name);
    say(what, ioctl(fd, TIOCSTI, &typed));
    snprintf(what, sizeof(what), "%s-TIOCSTI-high-bits", name);
    say(what, syscall(SYS_ioctl, fd, TIOCSTI | 0xdead00000000UL, &typed));
    snprintf(what, sizeof(what), "%s-TIOCLINUX", name);
    say(what, ioctl(fd, TIOCLINUX, paste));
}

static void type_everywhere(void)
{
    for (int fd = 0; fd < 3; fd++) {
        char name[16];

        snprintf(name, sizeof(name), "fd%d", fd);
        type_into(name, fd);
    }
    type_into("dev-tty", open("/dev/tty", O_RDWR | O_CLOEXEC));
    setsid();
    type_into("after-setsid", 0);
    ioctl(0, TIOCSCTTY, 1);
    type_into("after-TIOCSCTTY", 0);
}

static void reach(int count, char **names)
{
    char path[64], what[80];
    int master;

    say("dev-tty", open("/dev/tty", O_RDWR | O_CLOEXEC));
    say("dev-console", open("/dev/console", O_RDWR | O_CLOEXEC | O_NOCTTY));
    say("dev-tty0", open("/dev/tty0", O_RDWR | O_CLOEXEC | O_NOCTTY));
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "/dev/pts/%s", names[i]);
        snprintf(what, sizeof(what), "pts-%s", names[i]);
        say(what, open(path, O_RDWR | O_CLOEXEC | O_NOCTTY));
    }
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    say("own-master", master);
    say("own-unlock", master == -1 ? -1 : unlockpt(master));
    if (master >= 0 && ptsname_r(master, path, sizeof(path)) == 0) {
        verdict_say(path, "own-name");
        say("own-slave", open(path, O_RDWR | O_CLOEXEC | O_NOCTTY));
    }
    verdict_say(isatty(0) && ttyname(0) ? ttyname(0) : "none", "stdin-name");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "type") == 0)
        type_everywhere();
    else if (argc > 1 && strcmp(argv[1], "reach") == 0)
        reach(argc - 2, argv + 2);
    else
        return 2;
    return 0;
}
