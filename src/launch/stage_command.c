/* SPDX-License-Identifier: Apache-2.0 */
/* Between pid 1 and the user's program: the last instructions of ours. Every call is a bare one,
 * for errno is pid 1's. */
#include "kernel/sys.h"
#include "launch/own.h"
#include "launch/pty.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The streams, each where it belongs. They may be numbered 0 to 2 themselves, in another order. */
static int take_streams(const struct stage_command *command)
{
    int from[3];
    long result = 0;

    if (command->flags & EXEC_OWN)
        return 0;
    for (int i = 0; i < 3 && result >= 0; i++) {
        result = sys_bare(SYS_fcntl, command->fds[i], F_DUPFD_CLOEXEC, 3, 0);
        from[i] = (int)result;
    }
    for (int i = 0; i < 3 && result >= 0; i++)
        result = sys_bare(SYS_dup3, from[i], i, 0, 0);
    return result < 0 ? (int)result : 0;
}

/* Others that were named. One may have the number of another, or of the socket. */
static int take_further(struct stage_command *command)
{
    int from[LIMIT_FURTHER_FDS];
    int above = 0;
    long result = 0;

    for (unsigned i = 0; i < command->further_count; i++)
        above = command->numbers[i] >= above ? command->numbers[i] + 1 : above;
    if (above > command->sock) {
        result = sys_bare(SYS_fcntl, command->sock, F_DUPFD_CLOEXEC, above, 0);
        command->sock = result < 0 ? command->sock : (int)result;
    }
    for (unsigned i = 0; i < command->further_count && result >= 0; i++) {
        result = sys_bare(SYS_fcntl, command->further[i], F_DUPFD_CLOEXEC, above, 0);
        from[i] = (int)result;
    }
    for (unsigned i = 0; i < command->further_count && result >= 0; i++)
        result = sys_bare(SYS_dup3, from[i], command->numbers[i], 0, 0);
    return result < 0 ? (int)result : 0;
}

/* What the caller ignores stays ignored, as with any program; pid 1 changed the mask alone. */
static void unblock_signals(void)
{
    const uint64_t none = 0;

    (void)sys_bare(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none));
}

/* Returns the errno. */
static int exec(const struct stage_command *command, const char *path)
{
    return (int)-sys_bare(SYS_execve, (long)path, (long)command->argv, (long)command->envp, 0);
}

/* Else who says EACCES is a directory on the way, which says nothing of the program. */
static bool is_there(const char *path)
{
    return sys_bare(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0) == 0;
}

/* As a shell: a file that may not be run counts only when no directory has one that may. */
static int exec_search(const struct stage_command *command)
{
    const char *name = command->argv[0];
    const char *dir = command->path;
    size_t name_bytes = strlen(name) + 1;
    int result = ENOENT;

    if (strchr(name, '/'))
        return exec(command, name);
    while (*name && dir) {
        size_t length = strcspn(dir, ":");
        char path[4096] = ".";

        if (length + 1 + name_bytes < sizeof(path)) {
            size_t end = length ? length : 1;
            int errnum;

            memcpy(path, dir, length);
            path[end] = '/';
            memcpy(path + end + 1, name, name_bytes);
            errnum = exec(command, path);
            if (errnum == EACCES && is_there(path))
                result = EACCES;
            else if (errnum != EACCES && errnum != ENOENT && errnum != ENOTDIR)
                return errnum;
        }
        dir = dir[length] ? dir + length + 1 : NULL;
    }
    return result;
}

_Noreturn static void refuse(const struct stage_command *command, enum noexec what, int errnum)
{
    struct sync_message message = {
        .point = SYNC_NOEXEC, .job = command->job, .value = errnum, .flags = what};

    (void)sync_send(command->sock, &message, NULL, 0, NULL, 0, NULL);
    _exit(127);
}

_Noreturn void stage_command(const struct stage_command *given)
{
    struct stage_command own = *given;
    struct stage_command *command = &own;
    long result = take_streams(command);

    /* A session of its own on its terminal, or a group in that of pid 1. */
    if (result == 0 && command->slave_fd >= 0)
        result = pty_take(command->slave_fd, command->flags);
    else if (result == 0)
        result = sys_bare(SYS_setpgid, 0, 0, 0, 0);
    if (result >= 0)
        result = take_further(command);
    if (result < 0)
        refuse(command, NOEXEC_STREAMS, (int)-result);
    result = sys_bare(SYS_chdir, (long)command->cwd, 0, 0, 0);
    if (result < 0)
        refuse(command, NOEXEC_CWD, (int)-result);
    unblock_signals();
    refuse(command, NOEXEC_EXEC, exec_search(command));
}
