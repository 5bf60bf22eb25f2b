/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/pty.h"

#include "base/cleanup.h"
#include "kernel/sys.h"
#include "launch/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int pty_open(int *ret_master, int *ret_slave)
{
    autoclose int master = -EBADF;
    autoclose int slave = -EBADF;
    int locked = 0;

    master = openat(AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0)
        return -errno;
    /* SECURITY: by the master, not by a name: what lies at /dev/pts/N need not be its slave. */
    slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return -errno;
    *ret_master = take_fd(&master);
    *ret_slave = take_fd(&slave);
    return 0;
}

int pty_set(int slave, const struct termios *state, const struct winsize *size)
{
    if (state && tcsetattr(slave, TCSANOW, state) < 0)
        return -errno;
    if (size && ioctl(slave, TIOCSWINSZ, size) < 0)
        return -errno;
    return 0;
}

int pty_lead(int slave)
{
    return ioctl(slave, TIOCSCTTY, 0) < 0 ? -errno : 0;
}

static long join_session(int slave, unsigned flags)
{
    long result = sys_bare(SYS_setpgid, 0, 0, 0, 0);
    pid_t group = (pid_t)sys_bare(SYS_getpid, 0, 0, 0, 0);

    /* From the background: SIGTTOU is blocked. */
    if (result >= 0 && !(flags & EXEC_BACK))
        result = sys_bare(SYS_ioctl, slave, TIOCSPGRP, (long)&group, 0);
    return result;
}

static long begin_session(int slave)
{
    long result = sys_bare(SYS_setsid, 0, 0, 0, 0);

    return result < 0 ? result : sys_bare(SYS_ioctl, slave, TIOCSCTTY, 0, 0);
}

int pty_take(int slave, unsigned flags)
{
    long result = flags & EXEC_LED ? join_session(slave, flags) : begin_session(slave);

    for (int stream = 0; stream < 3 && result >= 0; stream++) {
        if (!(flags & (unsigned)EXEC_TTY_0 << stream))
            continue;
        /* Onto itself it would stay close-on-exec. */
        result = slave == stream ? sys_bare(SYS_fcntl, slave, F_SETFD, 0, 0)
                                 : sys_bare(SYS_dup3, slave, stream, 0, 0);
    }
    return result < 0 ? (int)result : 0;
}

void pty_front(int slave, pid_t group, bool is_front)
{
    pid_t own = getpgrp();
    pid_t now = tcgetpgrp(slave);

    if (now == own || now == group || kill(-now, 0) < 0)
        (void)tcsetpgrp(slave, is_front ? group : own);
}
