/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as the library offers them: a launcher of its own, and a connection to it. */
#include "api/api.h"
#include "api/launcher.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "session/registry.h"
#include "wire/control.h"
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

/* A job that ended before somebody asked. */
struct ended {
    uint32_t job;
    int32_t value;
    uint32_t flags;
    bool has_failed;
    struct bawn_error error;
};

/* The terminal of a job, until it is given away. */
struct shown {
    uint32_t job;
    int fd; /* -EBADF: it was not heard of yet */
};

struct bawn_session {
    int sock;
    pid_t launcher; /* 0: not ours */
    uint32_t last_job;
    VEC(struct ended) ended;
    VEC(struct shown) shown;
};

static int session_new(int *sock, pid_t launcher, struct bawn_session **ret_session,
                       struct bawn_error *err)
{
    struct bawn_session *session = calloc(1, sizeof(*session));

    if (!session)
        return error_memory(err);
    session->sock = take_fd(sock);
    session->launcher = launcher;
    *ret_session = session;
    return 0;
}

void bawn_session_close(struct bawn_session *session)
{
    if (!session)
        return;
    (void)close(session->sock);
    while (session->launcher > 0 && waitpid(session->launcher, NULL, 0) < 0 && errno == EINTR)
        ;
    vec_each (&session->shown, shown) {
        if (shown->fd >= 0)
            (void)close(shown->fd);
    }
    vec_done(&session->shown);
    vec_done(&session->ended);
    free(session);
}

int bawn_session_fd(const struct bawn_session *session)
{
    return session->sock;
}

int bawn_session_open(const char *sid, struct bawn_session **ret_session, struct bawn_error *err)
{
    struct registry registry = {.fd = -EBADF};
    char found[SID_BYTES];
    autoclose int sock = registry_connect_user(environ, sid, &registry, found, err);

    registry_close(&registry);
    return sock < 0 ? sock : session_new(&sock, 0, ret_session, err);
}

static int refuse_gone(struct bawn_error *err)
{
    (void)error_set(err, EPIPE, "session.gone", "the session has ended");
    return -EPIPE;
}

static int tell(const struct bawn_session *session, struct control_message *message,
                const char *bytes, size_t size, const int *fds, size_t fd_count,
                struct bawn_error *err)
{
    int r;

    message->version = CONTROL_VERSION;
    r = control_send(session->sock, message, bytes, size, fds, fd_count);
    if (r == -EPIPE || r == -ECONNRESET)
        return refuse_gone(err);
    return r < 0 ? error_errno(err, -r, "speak to the session") : 0;
}

static struct shown *find_shown(struct bawn_session *session, uint32_t job)
{
    vec_each (&session->shown, shown) {
        if (shown->job == job)
            return shown;
    }
    return NULL;
}

/* Keeps the terminal of a job until somebody asks. */
static void keep_terminal(struct bawn_session *session, const struct control_message *message,
                          int *fd)
{
    struct shown *shown = find_shown(session, message->job);

    if (shown && shown->fd < 0 && message->kind == CONTROL_STARTED)
        shown->fd = take_fd(fd);
    else if (shown && shown->fd < 0)
        *shown = session->shown.items[--session->shown.count];
}

/* One message about a job. */
static int hear(struct bawn_session *session, struct ended *ended, uint32_t *ret_kind,
                struct bawn_error *err)
{
    struct control_message message = {0};
    int fds[CONTROL_FDS];
    size_t size = 0;
    char bytes[sizeof(ended->error)];
    int r = control_receive(session->sock, &message, bytes, sizeof(bytes), &size, fds);

    if (r == 0)
        keep_terminal(session, &message, &fds[0]);
    packet_drop_fds(fds, CONTROL_FDS);
    if (r == -EPIPE)
        return refuse_gone(err);
    if (r < 0)
        return error_errno(err, -r, "hear from the session");
    ended->job = message.job;
    ended->value = message.value;
    ended->flags = message.flags;
    ended->has_failed = message.kind == CONTROL_FAILED;
    *ret_kind = message.kind;
    if (ended->has_failed && error_take(bytes, size, &ended->error) == 0)
        return error_set(err, EPROTO, "session.protocol", "the session sent a broken message");
    return 0;
}

static int give(const struct ended *ended, int *ret_status, struct bawn_error *err)
{
    if (ended->has_failed) {
        if (err)
            *err = ended->error;
        return -ended->error.errnum;
    }
    *ret_status =
        WIFSIGNALED(ended->value) ? 128 + WTERMSIG(ended->value) : WEXITSTATUS(ended->value);
    return 0;
}

int bawn_session_wait(struct bawn_session *session, int job, int *ret_status,
                      struct bawn_error *err)
{
    struct ended ended = {0};
    uint32_t kind = CONTROL_COUNT;

    if (job < 0 || (uint32_t)job > session->last_job || (job == 0 && session->launcher == 0))
        return error_set(err, EINVAL, "session.job", "%d: no job of this session", job);
    for (size_t i = 0; i < session->ended.count; i++) {
        struct ended *items = session->ended.items;

        if (items[i].job != (uint32_t)job)
            continue;
        ended = items[i];
        items[i] = items[--session->ended.count];
        return give(&ended, ret_status, err);
    }
    for (;;) {
        int r = hear(session, &ended, &kind, err);

        if (r < 0)
            return r;
        if (kind != CONTROL_EXITED && kind != CONTROL_FAILED)
            continue;
        if (ended.job == (uint32_t)job)
            return give(&ended, ret_status, err);
        if (!vec_push(&session->ended, ended))
            return error_memory(err);
    }
}

int bawn_session_terminal(struct bawn_session *session, int job, struct bawn_error *err)
{
    struct shown *shown = find_shown(session, job > 0 ? (uint32_t)job : 0);
    struct ended ended = {0};
    uint32_t kind = CONTROL_COUNT;
    int fd;

    while (shown && shown->fd < 0) {
        int r = hear(session, &ended, &kind, err);

        if (r < 0)
            return r;
        if ((kind == CONTROL_EXITED || kind == CONTROL_FAILED) && !vec_push(&session->ended, ended))
            return error_memory(err);
        shown = find_shown(session, (uint32_t)job);
    }
    if (!shown)
        return error_set(err, ENOTTY, "session.no_terminal",
                         "%d: the job has no terminal, was not run, or its terminal was given away",
                         job);
    fd = shown->fd;
    *shown = session->shown.items[--session->shown.count];
    return fd;
}

int bawn_session_may_auto_allow(struct bawn_session *session, struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_METRICS};
    struct ended heard = {0};
    uint32_t kind = CONTROL_COUNT;
    int r = tell(session, &message, NULL, 0, NULL, 0, err);

    while (r == 0) {
        r = hear(session, &heard, &kind, err);
        if (r == 0 && kind == CONTROL_METRICS)
            return heard.flags & CONTROL_PROVEN ? 1 : 0;
        if (r == 0 && (kind == CONTROL_EXITED || kind == CONTROL_FAILED) &&
            !vec_push(&session->ended, heard))
            r = error_memory(err);
    }
    return r;
}

int bawn_session_signal(struct bawn_session *session, int job, int signal, struct bawn_error *err)
{
    struct control_message message = {
        .kind = CONTROL_SIGNAL, .job = (uint32_t)job, .value = signal};

    if (job < 0 || (uint32_t)job > session->last_job || signal <= 0 || signal >= NSIG)
        return error_set(err, EINVAL, "session.job", "%d: no job of this session, or no signal",
                         job);
    return tell(session, &message, NULL, 0, NULL, 0, err);
}

static char *const *strings(const char *const *given, char *const *otherwise)
{
    return given ? (char *const *)(uintptr_t)given : otherwise;
}

/* Streams that are there, and what stands for those that are not. */
static int fill_streams(const struct bawn_command *command, int none, int fds[3],
                        struct bawn_error *err)
{
    struct stat status;

    for (int i = 0; i < 3; i++) {
        fds[i] = command && command->fds[i] >= 0 ? command->fds[i] : none;
        if (fstat(fds[i], &status) < 0 || S_ISDIR(status.st_mode))
            return error_set(err, EBADF, "session.stream", "standard stream %d: not a stream", i);
    }
    return 0;
}

/* A terminal takes the place of the streams that are not there. */
static int ask_terminal(const struct bawn_command *command, struct control_message *message,
                        struct bawn_error *err)
{
    if (command->cols == 0 && command->rows == 0)
        return 0;
    if (command->cols == 0 || command->rows == 0)
        return error_set(err, EINVAL, "session.size", "a terminal of %u columns and %u rows",
                         command->cols, command->rows);
    for (int i = 0; i < 3; i++) {
        if (command->fds[i] < 0)
            message->flags |= 1U << i;
    }
    if (!(message->flags & CONTROL_TTY))
        return error_set(err, EINVAL, "session.size",
                         "cols and rows are given, and no stream is -1 to be the terminal");
    control_terminal_state(&message->state);
    message->size = (struct winsize){.ws_col = command->cols, .ws_row = command->rows};
    return 0;
}

int bawn_session_exec(struct bawn_session *session, const struct bawn_command *command,
                      struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_EXEC, .job = session->last_job + 1};
    autoclose int none = -EBADF;
    autofree char *bytes = NULL;
    int fds[3] = {-EBADF, -EBADF, -EBADF};
    size_t size;
    int r = 0;

    for (int i = 0; i < 3 && none < 0; i++) {
        if (command->fds[i] < 0)
            none = file_open_null(O_RDWR, err);
    }
    r = fill_streams(command, none, fds, err);
    if (r == 0)
        r = ask_terminal(command, &message, err);
    for (int i = 0; r == 0 && i < 3; i++) {
        if (isatty(fds[i]))
            r = error_set(err, ENOTTY, "session.stream", "standard stream %d is a terminal", i);
    }
    if (r < 0)
        return r;
    r = control_strings_join(&message, strings(command->argv, NULL),
                             strings(command->environ, environ), &bytes, &size);
    if (r < 0)
        return error_errno(err, -r, "send the command");
    if ((message.flags & CONTROL_TTY) &&
        !vec_push(&session->shown, ((struct shown){.job = message.job, .fd = -EBADF})))
        return error_memory(err);
    r = tell(session, &message, bytes, size, fds, 3, err);
    if (r < 0)
        return r;
    session->last_job++;
    return (int)session->last_job;
}

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
        failed = posix_spawn(ret_pid, path, &actions, NULL, args,
                             strings(command ? command->environ : NULL, environ));
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
    struct ended first = {0};
    uint32_t kind = CONTROL_COUNT;
    int status;
    int r = hear(session, &first, &kind, err);

    if (r < 0)
        return r;
    if (kind == CONTROL_STARTED)
        return 0;
    r = first.has_failed ? give(&first, &status, err) : 0;
    return r < 0 ? r : error_set(err, EPROTO, "session.protocol", "the launcher did not start");
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

    if (command && (command->cols || command->rows))
        return error_set(err, ENOTSUP, "session.size",
                         "the first command can have no terminal of its own: start the session "
                         "without one, and the command with bawn_session_exec");
    r = bawn_plan_compile(plan, 0, &plan_fd, err);
    if (r == 0)
        r = fill_streams(command, none, fds, err);
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
        r = session_new(&ours, pid, &session, err);
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
