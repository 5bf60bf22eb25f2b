/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's terminal: runs a command on a fresh one and tells what became of it.
 *   t_host OUTPUT COMMAND...    what it wrote goes to the file OUTPUT
 * Then, on standard output: "exit N", "queued N" (bytes that wait to be read by whoever reads the
 * terminal next), "state same" or "state changed".
 */
#include "verdict.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

static void become_command(int slave, char **argv)
{
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

/* Until the command ended and nothing more comes. */
static int relay(int master, int out_fd, pid_t child)
{
    struct pollfd fd = {master, POLLIN, 0};
    int status = 0, is_over = 0;
    char bytes[4096];

    for (;;) {
        int ready = poll(&fd, 1, 50);
        ssize_t count = ready > 0 ? read(master, bytes, sizeof(bytes)) : 0;

        if (count > 0 && write(out_fd, bytes, (size_t)count) != count)
            exit(1);
        if (is_over && count <= 0)
            return status;
        if (!is_over && waitpid(child, &status, WNOHANG) == child)
            is_over = 1;
    }
}

static int is_same(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, VEOL2 + 1) == 0;
}

int main(int argc, char **argv)
{
    struct termios before, after;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, out_fd, status, queued = 0;
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t child;

    if (argc < 3 || master == -1 || unlockpt(master) == -1)
        return 2;
    /* Held open throughout, so that the terminal keeps its state and its queue. */
    slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    out_fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ioctl(master, TIOCSWINSZ, &size);
    tcgetattr(slave, &before);
    child = fork();
    if (child == 0)
        become_command(slave, argv + 2);
    status = relay(master, out_fd, child);
    tcgetattr(slave, &after);
    printf("exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    printf("state %s\n", is_same(&before, &after) ? "same" : "changed");
    /* Bytes without a newline count only when lines do not. */
    after.c_lflag &= ~(tcflag_t)ICANON;
    tcsetattr(slave, TCSANOW, &after);
    ioctl(slave, FIONREAD, &queued);
    printf("queued %d\n", queued);
    return 0;
}
