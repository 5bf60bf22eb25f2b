/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "session/own.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>

enum { STATUS_TIME = 124, STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

static int on_message(void *context, uint32_t events)
{
    struct session *session = context;
    struct sync_message message;
    int fds[SYNC_FDS];
    int result = sync_receive(session->launch.sock, &message, NULL, NULL, fds, NULL);

    (void)events;
    if (result < 0) {
        /* Pid 1 is gone without a word: killed, and all inside with it. */
        session->has_ended = true;
        session->wait_status = SIGKILL;
        loop_end(&session->loop);
        return 0;
    }
    switch (message.point) {
    case SYNC_STARTED:
        session->has_started = true;
        return fds[0] >= 0 ? session_take_terminal(session, fds[0], NULL) : 0;
    case SYNC_NOEXEC:
        session->exec_errno = message.value;
        loop_end(&session->loop);
        return 0;
    case SYNC_EXITED:
        session->has_ended = true;
        session->wait_status = message.value;
        loop_end(&session->loop);
        return 0;
    default:
        return -EPROTO;
    }
}

static int on_notify(void *context, uint32_t events)
{
    struct session *session = context;
    int result = supervisor_serve(session->supervisor, NULL);

    (void)events;
    if (result == -EPIPE) {
        loop_remove(&session->loop, &session->notify_source);
        return 0;
    }
    return result;
}

static int watch(struct session *session, struct loop_source *source, int fd, loop_ready ready,
                 struct bawn_error *err)
{
    *source = (struct loop_source){.fd = fd, .events = EPOLLIN, .ready = ready, .context = session};
    return loop_add(&session->loop, source, err);
}

static int start_supervisor(struct session *session, struct bawn_error *err)
{
    struct supervisor_options options = {.image = session->request->image,
                                         .notify_fd = session->launch.notify_fd,
                                         .root_fd = session->launch.root_fd};
    int result;

    if (session->launch.notify_fd < 0)
        return 0;
    result = supervisor_new(&options, &session->supervisor, err);
    if (result == 0)
        result = watch(session, &session->notify_source, session->launch.notify_fd, on_notify, err);
    return result;
}

static int join_group(void *context, struct bawn_error *err)
{
    return cgroup_join(context, err);
}

static int start_sandbox(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    struct launch_command command = {.flags = EXEC_OWN | EXEC_ENDS,
                                     .cwd = image_string(image, image->cwd),
                                     .argv = session->request->argv};
    struct launch_request request = {.image = image,
                                     .skeleton = session->request->skeleton,
                                     .first = &command,
                                     .cgroup_fd = cgroup_clone_fd(&session->group)};
    char **variables = NULL;
    int result = launch_environ(image, session->request->environ, &variables, err);

    if (result < 0)
        return result;
    command.envp = variables;
    session_look_at_streams(&command);
    if (session->group.kind != CGROUP_NONE && request.cgroup_fd < 0) {
        request.join = join_group;
        request.join_context = &session->group;
    }
    result = launch_start(&request, &session->launch, err);
    session->request->is_stale = result < 0;
    launch_environ_free(variables);
    return result;
}

static int run(struct session *session, struct bawn_error *err)
{
    int result = session_limit(session, err);

    if (result == 0)
        result = session_watch_signals(session, err);
    if (result == 0)
        result = start_sandbox(session, err);
    if (result == 0)
        result = start_supervisor(session, err);
    if (result == 0)
        result = watch(session, &session->sync_source, session->launch.sock, on_message, err);
    if (result < 0)
        return result;
    session_set_clock(session);
    result = loop_run(&session->loop, -1, err);
    return result < 0 ? error_errno(err, -result, "watch over the sandbox") : 0;
}

static int refuse_exec(const struct session *session, struct bawn_error *err)
{
    const char *name = session->request->argv[0];
    int errnum = session->exec_errno;

    (void)error_errno(err, errnum, "run %s", name);
    if (errnum == ENOENT || errnum == ENOTDIR)
        error_hint(err,
                   "inside the sandbox there is no such program, or not what it needs; "
                   "'bawn check exec %s' says whether the policy shows it",
                   name);
    else if (errnum == EACCES)
        error_hint(err, "it is not executable inside; 'bawn why exec %s' says more", name);
    session_say(session, err);
    return errnum == ENOENT || errnum == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

int session_status(const struct session *session)
{
    if (session->is_timed_out)
        return STATUS_TIME;
    return WIFSIGNALED(session->wait_status) ? STATUS_SIGNAL + WTERMSIG(session->wait_status)
                                             : WEXITSTATUS(session->wait_status);
}

static void end(struct session *session)
{
    terminal_stop(&session->terminal);
    if (session->has_ended)
        session_account(session);
    supervisor_free(session->supervisor);
    launch_end(&session->launch);
    session_unlimit(session);
    loop_done(&session->loop);
    if (session->signal_fd >= 0)
        (void)close(session->signal_fd);
    if (session->master_fd >= 0)
        (void)close(session->master_fd);
}

int session_run(struct session_request *request, struct bawn_error *err)
{
    struct session session = {
        .request = request,
        .launch = {.pidfd = -EBADF, .sock = -EBADF, .notify_fd = -EBADF, .root_fd = -EBADF},
        .signal_fd = -EBADF,
        .master_fd = -EBADF};
    int result;

    (void)clock_gettime(CLOCK_MONOTONIC, &session.started);
    for (int i = 0; i < CGROUP_PATHS; i++)
        session.group.fds[i] = -EBADF;
    result = loop_init(&session.loop, err);
    if (result == 0)
        result = run(&session, err);
    end(&session);
    if (result < 0)
        return result;
    return session.exec_errno ? refuse_exec(&session, err) : session_status(&session);
}
