/* SPDX-License-Identifier: Apache-2.0 */
/* A session without its starter: a launcher of its own, that reports once. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "session/control.h"
#include "session/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void session_report(struct session *session, int status, const struct bawn_error *error)
{
    struct session_report report = {.status = status, .is_stale = session->request->is_stale};

    if (session->request->report_fd < 0)
        return;
    report.pid = getpid();
    if (session->control)
        memcpy(report.sid, session->control->sid, sizeof(report.sid));
    if (error)
        report.error = *error;
    report.unkept = session->recorder.failure;
    report.unrecorded = session->audit.failure;
    /* Whoever waits for it may be gone; the session is not. */
    (void)send(session->request->report_fd, &report, sizeof(report), MSG_NOSIGNAL);
    (void)close(take_fd(&session->request->report_fd));
}

/* The command's streams: nothing to read; what it says goes to fd. */
static int replace_streams(int fd)
{
    autoclose int none = file_open_null(O_RDWR, NULL);

    if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(fd < 0 ? none : fd, STDOUT_FILENO) < 0 ||
        dup2(fd < 0 ? none : fd, STDERR_FILENO) < 0)
        return -errno;
    return 0;
}

int session_detach_streams(struct session *session, struct launch_command *command,
                           struct bawn_error *err)
{
    int ends[2];
    int result;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "make a pipe");
    session->witness_fd = ends[0];
    command->witness_fd = ends[1];
    command->flags |= EXEC_WITNESS;
    session->has_terminal = isatty(STDIN_FILENO) &&
                            terminal_read_state(STDIN_FILENO, &command->state, &command->size) == 0;
    if (!session->has_terminal &&
        (session->request->size.ws_col || session->request->size.ws_row)) {
        control_terminal_state(&command->state);
        command->size = (struct winsize){.ws_col = 80, .ws_row = 24};
        session->has_terminal = true;
    }
    if (session->has_terminal) {
        command->flags |= EXEC_TTY;
        result = replace_streams(-EBADF);
        return result < 0 ? error_errno(err, -result, "give the streams up") : 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "make a pipe");
    result = replace_streams(ends[1]);
    (void)close(ends[1]);
    if (result < 0) {
        (void)close(ends[0]);
        return error_errno(err, -result, "give the streams up");
    }
    session->pipe_fd = ends[0];
    return output_new(&session->loop, ends[0], false, &session->output, err);
}

/* A command that could not be run has said so before its descriptor closed. */
static int on_exec(void *context, uint32_t events)
{
    struct session *session = context;
    struct pollfd said = {.fd = session->launch.sock, .events = POLLIN};

    (void)events;
    if (poll(&said, 1, 0) != 0)
        return 0;
    loop_remove(&session->loop, &session->witness_source);
    (void)close(take_fd(&session->witness_fd));
    session_report(session, 0, NULL);
    return 0;
}

int session_await_exec(struct session *session, struct bawn_error *err)
{
    session->witness_source = (struct loop_source){
        .fd = session->witness_fd, .events = POLLIN, .ready = on_exec, .context = session};
    return loop_add(&session->loop, &session->witness_source, err);
}

_Noreturn static void become_launcher(struct session_request *request)
{
    struct session session = {.request = request};
    struct bawn_error err = {0};
    int status;

    (void)setsid();
    status = chdir("/") < 0 ? error_errno(&err, errno, "enter /") : session_run(request, &err);
    /* It never came to a report: this is it. */
    session_report(&session, status, &err);
    _exit(status < 0 ? 125 : status);
}

int session_run_detached(struct session_request *request, struct session_report *ret_report,
                         struct bawn_error *err)
{
    int ends[2];
    ssize_t length;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return error_errno(err, errno, "socketpair");
    pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        request->report_fd = ends[1];
        become_launcher(request);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return error_errno(err, errno, "start the session's launcher");
    }
    do
        length = read(ends[0], ret_report, sizeof(*ret_report));
    while (length < 0 && errno == EINTR);
    (void)close(ends[0]);
    if (length != (ssize_t)sizeof(*ret_report))
        return error_set(err, EPIPE, "session.gone", "the session's launcher ended without a word");
    request->is_stale = ret_report->is_stale;
    if (ret_report->status < 0) {
        *err = ret_report->error;
        return ret_report->status;
    }
    return 0;
}
