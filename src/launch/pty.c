/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/pty.h"

#include "base/cleanup.h"
#include "launch/sync.h"

#include <errno.h>
#include <fcntl.h>
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

int pty_take(int slave, unsigned streams)
{
    if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
        return -errno;
    for (int stream = 0; stream < 3; stream++) {
        if (!(streams & (unsigned)EXEC_TTY_0 << stream))
            continue;
        /* dup2 onto itself would leave it close-on-exec. */
        if ((slave == stream ? fcntl(slave, F_SETFD, 0) : dup2(slave, stream)) < 0)
            return -errno;
    }
    return 0;
}
