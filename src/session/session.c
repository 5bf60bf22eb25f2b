/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "session/control.h"
#include "session/output.h"
#include "session/own.h"
#include "session/prompt.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#ifndef W_EXITCODE
#define W_EXITCODE(status, signal) ((status) << 8 | (signal))
#endif

enum {
    STATUS_TIME = 124,
    STATUS_FAILED = 125,
    STATUS_NOT_RUN = 126,
    STATUS_NOT_FOUND = 127,
    STATUS_SIGNAL = 128,
    END_MS = 1000 /* for who makes calls, when nobody is left inside */
};

static int end_with(struct session *session, int wait_status)
{
    session->has_ended = true;
    session->wait_status = wait_status;
    loop_end(&session->loop);
    return 0;
}

static int take_terminal(struct session *session, int master_fd)
{
    if (!session->request->is_detached)
        return session_take_terminal(session, master_fd, NULL);
    session->master_fd = master_fd;
    if (output_new(&session->loop, master_fd, true, &session->output, NULL) < 0)
        return -ENOMEM;
    recorder_start(session);
    return 0;
}

/* Not the command's fault. */
static int refuse_start(struct session *session, const struct sync_message *message)
{
    const struct image *image = session->request->image;
    struct bawn_error *err = &session->failure;

    if (message->flags == NOEXEC_STREAMS)
        return error_errno(err, message->value, "give the command its streams");
    (void)error_errno(err, message->value, "enter %s, where the command starts",
                      image_string(image, image->cwd));
    error_hint(err, message->value == EACCES
                        ? "the sandbox's user may not enter it: cd elsewhere, or change its mode"
                        : "cd to a directory that the policy grants");
    return -message->value;
}

/* About the command of the session. */
static int on_own_message(struct session *session, const struct sync_message *message, int fd)
{
    switch (message->point) {
    case SYNC_STARTED:
        return fd >= 0 ? take_terminal(session, fd) : 0;
    case SYNC_NOEXEC:
        if (message->flags != NOEXEC_EXEC)
            return refuse_start(session, message);
        session->exec_errno = message->value;
        loop_end(&session->loop);
        return 0;
    case SYNC_STOPPED:
        session_command_stopped(session, message->value);
        return 0;
    case SYNC_EXITED:
        session_report(session, 0, NULL);
        session->is_pool_full = message->is_full;
        if (message->flags > session->threads_peak)
            session->threads_peak = message->flags;
        return end_with(session, message->value);
    default:
        return -EPROTO;
    }
}

static int on_message(void *context, uint32_t events)
{
    struct session *session = context;
    struct sync_message message;
    char bytes[sizeof(session->failure)];
    size_t size = sizeof(bytes);
    int fds[SYNC_FDS];
    int result = sync_receive(session->launch.sock, &message, bytes, &size, fds, NULL);

    (void)events;
    /* Pid 1 is gone without a word: killed, and all inside with it. */
    if (result < 0)
        return end_with(session, SIGKILL);
    /* The last steps of the set-up come after it was ready. */
    if (message.point == SYNC_FAILED) {
        result = error_take(bytes, size, &session->failure);
        return result < 0 ? result : -EPROTO;
    }
    if (message.point == SYNC_SIGNALLED) {
        loop_stop_timer(&session->loop, &session->deaf_timer);
        session_signal_passed_on(session, &message);
    } else if (message.job == 0)
        return on_own_message(session, &message, fds[0]);
    else
        control_job_message(session->control, &message, fds[0]);
    return 0;
}

static int watch(struct session *session, struct loop_source *source, int fd, loop_ready ready,
                 struct bawn_error *err)
{
    *source = (struct loop_source){.fd = fd, .events = POLLIN, .ready = ready, .context = session};
    return loop_add(&session->loop, source, err);
}

static int on_server(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;
    int result;

    (void)events;
    /* It ends by itself when nobody is left inside. */
    if (!aide_reap(&session->server.aide, &status) || status == 0)
        return 0;
    result = session_lost(session, WHO_CALLS, status);
    /* Killed, most likely for the memory that was taken inside: then that ends too. */
    return WIFSIGNALED(status) ? end_with(session, SIGKILL) : result;
}

/* The first call that the sandbox may not make itself. */
static int on_notify(void *context, uint32_t events)
{
    struct session *session = context;
    struct supervisor_options options = {.image = session->request->image,
                                         .notify_fd = session->launch.notify_fd,
                                         .root_fd = session->launch.root_fd,
                                         .init_pid = session->launch.pid,
                                         .dial_fd = session->net.dial_fd,
                                         .answer_fd = -EBADF,
                                         .net = session->net.number};
    int result;

    /* KERNEL: POLLERR means that a signal came while it was looked, and no more. */
    if (!(events & (POLLIN | POLLHUP)))
        return 0;
    loop_remove(&session->loop, &session->notify_source);
    if (!(events & POLLIN))
        return 0;
    result = session_channel(session, &session->failure);
    if (result >= 0)
        result =
            server_start(&session->server, session->group, result, &options, &session->failure);
    cleanup_close(&session->net.dial_fd);
    session->net.dial_fd = -EBADF;
    return result < 0 ? result
                      : aide_watch(&session->server.aide, &session->loop, on_server, session, NULL);
}

static void log_sandbox(const struct session *session, const struct launch_command *command)
{
    const struct log *log = session->request->log;
    char pid[16], ms[24];

    if (!log)
        return;
    (void)snprintf(pid, sizeof(pid), "%d", (int)session->launch.pid);
    (void)snprintf(ms, sizeof(ms), "%lld", (long long)(clock_ms() - session->started_ms));
    log_event(log, "sandbox", MEMBER_TEXT("init", pid), MEMBER_TEXT("after_ms", ms),
              MEMBER_TEXT("skeleton", session->request->skeleton ? "kept" : "none"),
              MEMBER_TEXT("terminal", command->flags & EXEC_TTY ? "yes" : "no"),
              MEMBER_TEXT("calls", session->launch.notify_fd >= 0 ? "held" : "not held"));
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (session->group->paths[i][0])
            log_event(log, "control-group", MEMBER_TEXT("path", session->group->paths[i]));
    }
}

static int fix_size(struct session *session, struct launch_command *command, struct bawn_error *err)
{
    const struct winsize *size = &session->request->size;

    if (size->ws_col == 0 && size->ws_row == 0)
        return 0;
    if (!(command->flags & EXEC_TTY))
        return terminal_refuse_size(err);
    terminal_fix_size(&command->size, size);
    session->terminal.fixed = *size;
    return 0;
}

static int begin_record(void *context, struct bawn_error *err)
{
    return session_require_audit(context, err);
}

static void prepare_record(void *context)
{
    session_prepare_audit(context);
}

static int start_sandbox(struct session *session, struct bawn_error *err)
{
    const struct image *image = session->request->image;
    bool is_routed = image->flags & (IMAGE_VETH | IMAGE_ENGINE);
    struct launch_command command = {.flags = EXEC_OWN | EXEC_ENDS,
                                     .cwd = image_string(image, image->cwd),
                                     .argv = session->request->argv};
    struct launch_request request = {.image = image,
                                     .skeleton = session->request->skeleton,
                                     .holds = session->request->holds,
                                     .holds_context = session->request->holds_context,
                                     .begins = begin_record,
                                     .spares = prepare_record,
                                     .begins_context = session,
                                     .own_argv = session->request->own_argv,
                                     .first = command.argv && !is_routed ? &command : NULL,
                                     .cgroup_fd = cgroup_clone_fd(session->group),
                                     .is_delegated = session->group->inside >= 0};
    char **variables = NULL;
    int result = launch_environ(image, session->request->command_environ, &variables, err);

    command.envp = variables;
    if (result == 0 && session->request->is_detached)
        result = session_detach_streams(session, &command, err);
    if (result == 0)
        result = session_look_at_streams(session, &command, err);
    if (result == 0)
        result = session_look_at_further(session, &command, err);
    if (result == 0)
        result = fix_size(session, &command, err);
    if (request.cgroup_fd < 0 && session_wants_group(session)) {
        request.make_groups = session_make_groups;
        request.groups_context = session;
    }
    if (result == 0)
        result = session_hide_registry(session, &request.hidden, err);
    if (result == 0)
        result = session_note_copies(session, err);
    if (result == 0)
        result = session_open_layers(session, &request.layers, err);
    if (result == 0)
        result = session_open_room(session, err);
    if (result == 0) {
        result = launch_start(&request, &session->launch, err);
        session->request->is_stale =
            result < 0 && !(session->audit.is_required && session->audit.failure.errnum);
    }
    /* Then the command comes when its network works, and somebody will take that down. */
    if (result == 0 && (image->flags & IMAGE_VETH))
        result = session_guard_veth(session, err);
    if (result == 0 && (image->flags & IMAGE_ENGINE))
        result = session_start_engine(session, err);
    if (result == 0 && is_routed && command.argv)
        result = launch_exec(&session->launch, &command, err);
    if (result == 0)
        result = session_find_copies(session, err);
    if (result == 0)
        log_sandbox(session, &command);
    /* From here on the supervisor knows what the command does: no core file, no debugger. Not
     * earlier: the child could not write its id maps. */
    if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        result = error_errno(err, errno, "set not dumpable");
    session_restore_streams(session);
    if (command.flags & EXEC_WITNESS)
        (void)close(command.witness_fd);
    environ_free(variables);
    return result;
}

static int run(struct session *session, struct bawn_error *err)
{
    int result = session_limit(session, err);

    if (result == 0)
        result = session_watch_signals(session, err);
    if (result == 0)
        result = session_open_watch(session, err);
    if (result == 0)
        result = session_listen(session, err);
    if (result == 0)
        result = start_sandbox(session, err);
    if (result == 0)
        result = session_watch_names(session, err);
    if (result == 0)
        result = session_open_net(session, err);
    if (result == 0)
        result = watch(session, &session->sync_source, session->launch.sock, on_message, err);
    if (result == 0 && session->witness_fd >= 0)
        result = session_await_exec(session, err);
    if (result == 0 && session->launch.notify_fd >= 0)
        result = watch(session, &session->notify_source, session->launch.notify_fd, on_notify, err);
    if (result == 0)
        result = session_publish(session, err);
    if (result < 0)
        return result;
    session_set_clock(session);
    session_begin_audit(session);
    result = loop_run(&session->loop, -1, err);
    if (result < 0 && session->failure.errnum > 0)
        *err = session->failure;
    else if (result < 0)
        (void)error_errno(err, -result, "watch over the sandbox");
    return result;
}

static bool is_missing(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR;
}

/* Whether the caller has it. */
static bool find_outside(const struct session_request *request, const char *name,
                         char path[LIMIT_PATH_BYTES])
{
    const char *places = environ_get(request->environ, "PATH");

    return places && program_next(&places, name, path);
}

static int refuse_exec(struct session *session, struct bawn_error *err)
{
    const char *given = session->request->argv[0];
    int errnum = session->exec_errno;
    char path[LIMIT_PATH_BYTES];
    char name[256];

    text_escape(name, sizeof(name), given, strlen(given), TEXT_ONE_LINE);
    session->request->is_unrun = true;
    if (is_missing(errnum) && !strchr(given, '/') && find_outside(session->request, given, path)) {
        (void)program_refuse(given, path, session->request->preset, err);
        return STATUS_NOT_FOUND;
    }
    (void)error_errno(err, errnum, "run %s", name);
    if (is_missing(errnum))
        error_hint(err,
                   "the sandbox has no such program, or lacks what the program needs; 'bawn check "
                   "exec %s' says whether the policy shows it",
                   name);
    else if (errnum == EACCES && (session->request->image->flags & IMAGE_ASKS))
        error_hint(err,
                   "it is not executable inside; nobody can be asked about the command itself, but "
                   "about what a shell starts: bawn run -- sh; 'bawn why exec %s' says more",
                   name);
    else if (errnum == EACCES)
        error_hint(err, "it is not executable inside; 'bawn why exec %s' says more", name);
    return is_missing(errnum) ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

int session_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? STATUS_SIGNAL + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

/* The status to exit with, from how the command ended. */
static int exit_status(const struct session *session)
{
    return session->is_timed_out ? STATUS_TIME : session_status_of(session->wait_status);
}

/* How it ended, for those who were connected. */
static int final_wait_status(const struct session *session)
{
    if (session->is_timed_out)
        return W_EXITCODE(STATUS_TIME, 0);
    if (session->scribe && scribe_judge(session->scribe, NULL) < 0)
        return W_EXITCODE(STATUS_FAILED, 0);
    if (session->exec_errno)
        return W_EXITCODE(is_missing(session->exec_errno) ? STATUS_NOT_FOUND : STATUS_NOT_RUN, 0);
    return session->has_ended ? session->wait_status : W_EXITCODE(STATUS_FAILED, 0);
}

/* The last record: what whoever started it is told. */
static int record_end(struct session *session, int result, struct bawn_error *err)
{
    int status = result < 0 ? STATUS_FAILED : session_status_of(final_wait_status(session));
    int recorded = session_end_audit(session, status, result < 0 ? err : NULL);

    if (recorded == 0 || result < 0)
        return result;
    if (err)
        *err = session->failure;
    return recorded;
}

static int end(struct session *session, int result, struct bawn_error *err)
{
    prompt_done(session);
    terminal_stop(&session->terminal);
    relays_stop(&session->relays);
    if (session->scribe)
        scribe_settle(session->scribe);
    output_collect(session->output); /* or there may be no room for what we say ourselves */
    session_close_net(session);
    if (session->has_ended)
        session_account(session);
    output_free(session->output);
    launch_end(&session->launch);
    aide_end(&session->veth_guard, END_MS);
    aide_end(&session->engine, END_MS);
    /* Nobody is left to write more. */
    if (session->scribe)
        (void)scribe_has_ended(session->scribe, true);
    aide_end(&session->server.aide, END_MS);
    aide_end(&session->watcher, 0);
    session_end_copies(session);
    session_tell_room(session);
    session_settle_layers(session);
    session_hear(session);
    asks_done(session);
    result = record_end(session, result, err);
    recorder_end(session,
                 result < 0 ? STATUS_FAILED : session_status_of(final_wait_status(session)));
    session_unlimit(session);
    control_unregister(session->control);
    keeper_end(&session->keeper);
    session->group = &session->own_group;
    /* Only now: whoever waits for the end finds nothing left. */
    control_free(session->control, final_wait_status(session));
    /* Descriptors are left to the end of the process, which comes now. */
    loop_done(&session->loop);
    return result;
}

/* Nothing is open yet. */
static void init(struct session *session, struct session_request *request)
{
    session->request = request;
    session->started_ms = clock_ms();
    session->launch = (struct launch)LAUNCH_NONE;
    session->recorder.kept.fd = -EBADF;
    session->recorder.entry.dir_fd = session->recorder.entry.end_fd = -EBADF;
    session->watch_fd = session->net.control_fd = -EBADF;
    session->audit = (struct audit){.fd = -EBADF, .head_fd = -EBADF, .place = LEDGER_NOWHERE};
    chain_init(&session->audit.written);
    chain_init(&session->audit.next);
    session->feed = request->feed ? *request->feed : (struct feed){.fd = -EBADF};
    session->net.dial_fd = session->net.wishes_fd = -EBADF;
    session->channel = session->events_fd = session->engine_log = -EBADF;
    session->signal_fd = session->master_fd = -EBADF;
    session->server.answer_fd = -EBADF;
    session->pipe_fd = session->witness_fd = -EBADF;
    session->group = &session->own_group;
    for (int i = 0; i < CGROUP_PATHS; i++)
        session->own_group.fds[i] = -EBADF;
    session->own_group.inside = -EBADF;
}

int session_run(struct session_request *request, struct bawn_error *err)
{
    /* Not on the stack: of its many pages most runs use few, and a fork copies those in use. A
     * process has one session. */
    static struct session session;
    int result;

    init(&session, request);
    result = loop_init(&session.loop, err);
    if (result == 0)
        result = run(&session, err);
    result = end(&session, result, err);
    /* Another program goes on from here, which can be interrupted. */
    if (request->is_stale)
        (void)sigprocmask(SIG_SETMASK, &session.signals_before, NULL);
    if (result >= 0 && session.scribe && !session.is_timed_out)
        result = scribe_judge(session.scribe, err);
    scribe_free(session.scribe);
    if (result < 0)
        return result;
    return session.exec_errno ? refuse_exec(&session, err) : exit_status(&session);
}
