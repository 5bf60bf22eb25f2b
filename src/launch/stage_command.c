/* SPDX-License-Identifier: Apache-2.0 */
/* Between pid 1 and the user's program: the last instructions of ours. */
#include "kernel/sys.h"
#include "launch/own.h"
#include "launch/pty.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The streams, each where it belongs. They may be numbered 0 to 2 themselves, in another order. */
static int take_streams(const struct stage_command *command)
{
    int from[3];

    if (command->flags & EXEC_OWN)
        return 0;
    for (int i = 0; i < 3; i++) {
        from[i] = fcntl(command->fds[i], F_DUPFD_CLOEXEC, 3);
        if (from[i] < 0)
            return -errno;
    }
    for (int i = 0; i < 3; i++) {
        if (dup2(from[i], i) < 0)
            return -errno;
    }
    return 0;
}

/* What the caller ignores stays ignored, as with any program; pid 1 changed the mask alone. */
static void unblock_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* As execvp: EACCES of one directory counts only when none has the program. */
static int exec_search(const struct stage_command *command)
{
    const char *name = command->argv[0];
    const char *dir = command->path;
    int errnum = ENOENT;

    if (strchr(name, '/')) {
        (void)execve(name, command->argv, command->envp);
        return errno;
    }
    while (*name && dir) {
        size_t length = strcspn(dir, ":");
        char path[4096];

        if (snprintf(path, sizeof(path), "%.*s%s%s", (int)length, dir, length ? "/" : "./", name) <
            (int)sizeof(path)) {
            (void)execve(path, command->argv, command->envp);
            if (errno == EACCES)
                errnum = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                return errno;
        }
        dir = dir[length] ? dir + length + 1 : NULL;
    }
    return errnum;
}

_Noreturn void stage_command(const struct stage_command *command,
                             volatile struct stage_failure *failure)
{
    int result = take_streams(command);

    /* A session of its own, or a group in that of pid 1, which has no terminal. */
    if (result == 0 && command->slave_fd >= 0)
        result = pty_take(command->slave_fd, command->flags & EXEC_TTY);
    else if (result == 0 && setpgid(0, 0) < 0)
        result = -errno;
    failure->at = FAILED_STREAMS;
    if (result == 0 && chdir(command->cwd) < 0) {
        failure->at = FAILED_CWD;
        result = -errno;
    }
    unblock_signals();
    if (result == 0) {
        failure->at = FAILED_EXEC;
        result = -exec_search(command);
    }
    failure->errnum = -result;
    _exit(127);
}
