/* SPDX-License-Identifier: Apache-2.0 */
/* A session that the library starts: a launcher of its own, and a connection to it. */
#include "api/api.h"
#include "api/launcher.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "client/client.h"
#include "wire/packet.h"

#include <bawn/run.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CHILD_PLAN_FD = 3, CHILD_OWNER_FD = 4, CHILD_FDS = 5 };

/* "bawn --plan-fd=3 --owner-fd=4 run -- COMMAND..." */
static char **make_args(const struct bawn_command *command)
{
    static const char *const first[] = {"bawn", "--plan-fd=3", "--owner-fd=4", "run", "--"};
    const size_t before = sizeof(first) / sizeof(first[0]);
    size_t count = 0;
    const char **args;

    while (command && command->argv[count])
        count++;
    args = calloc(before + count + 1, sizeof(*args));
    if (!args)
        return NULL;
    memcpy(args, first, sizeof(first));
    if (count)
        memcpy(args + before, command->argv, count * sizeof(*args));
    return (char **)(uintptr_t)args;
}

/* Where the numbers are free in the child too: dup2 onto them takes nothing away. */
static int lift(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 64);
}

static int spawn(const int fds[CHILD_FDS], const struct bawn_command *command, pid_t *ret_pid,
                 struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];
    autofree char **args = make_args(command);
    posix_spawn_file_actions_t actions;
    int lifted[CHILD_FDS];
    char *const *variables =
        command && command->environ ? (char *const *)(uintptr_t)command->environ : environ;
    int r = args ? launcher_find(path, err) : error_memory(err);
    int failed = 0;

    if (r < 0)
        return r;
    failed = posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < CHILD_FDS; i++) {
        lifted[i] = lift(fds[i]);
        if (failed == 0)
            failed =
                lifted[i] < 0 ? errno : posix_spawn_file_actions_adddup2(&actions, lifted[i], i);
    }
    if (failed == 0)
        failed = posix_spawn(ret_pid, path, &actions, NULL, args, variables);
    for (int i = 0; i < CHILD_FDS; i++) {
        if (lifted[i] >= 0)
            (void)close(lifted[i]);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed ? error_errno(err, failed, "start %s", path) : 0;
}

/* Ready, or why not. */
static int await_ready(struct bawn_session *session, struct bawn_error *err)
{
    struct client_heard first = {0};
    int r = client_hear(session, &first, err);

    if (r < 0)
        return r;
    packet_drop_fds(&first.fd, 1);
    if (first.message.kind == CONTROL_STARTED)
        return 0;
    if (first.message.kind != CONTROL_FAILED)
        return error_set(err, EPROTO, "session.protocol", "the launcher did not start");
    if (err)
        *err = first.error;
    return -first.error.errnum;
}

int bawn_run_start(const struct bawn_plan *plan, const struct bawn_command *command,
                   struct bawn_session **ret_session, struct bawn_error *err)
{
    struct bawn_session *session = NULL;
    autoclose int plan_fd = -EBADF;
    autoclose int ours = -EBADF;
    autoclose int theirs = -EBADF;
    autoclose int none = file_open_null(O_RDWR, err);
    int pair[2], fds[CHILD_FDS] = {0};
    pid_t pid = 0;
    int r;

    if (command && (command->cols || command->rows || command->flags))
        return error_set(err, ENOTSUP, "session.size",
                         "the first command can have no terminal of its own: start the session "
                         "without one, and the command with bawn_session_exec");
    r = bawn_plan_compile(plan, 0, &plan_fd, err);
    if (r == 0)
        r = client_fill_streams(command, none, fds, err);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, errno, "socketpair");
    ours = pair[0];
    theirs = pair[1];
    fds[CHILD_PLAN_FD] = plan_fd;
    fds[CHILD_OWNER_FD] = theirs;
    r = spawn(fds, command, &pid, err);
    (void)close(take_fd(&theirs));
    if (r == 0)
        r = client_new(&ours, pid, "", &session, err);
    if (r == 0 && session)
        r = await_ready(session, err);
    if (!session && pid > 0) {
        (void)close(take_fd(&ours));
        (void)waitpid(pid, NULL, 0);
    }
    if (r < 0) {
        bawn_session_close(session);
        return r;
    }
    *ret_session = session;
    return 0;
}
