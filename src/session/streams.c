/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams and signals of a run: a terminal is replaced, a pipe is handed on. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "session/control.h"
#include "session/prompt.h"
#include "session/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEAF_MS = 2000 };

static int write_for_it(struct session *session, int fd, struct bawn_error *err)
{
    if (!session->scribe)
        session->scribe = scribe_new(session->request->image, err);
    return session->scribe ? scribe_add(session->scribe, fd, fd, err) : -ENOMEM;
}

/* Which of the streams is a terminal, by preference. There is one. */
static int find_terminal(uint32_t flags, const int order[3])
{
    int i = 0;

    while (i < 2 && !(flags & (uint32_t)EXEC_TTY_0 << order[i]))
        i++;
    return order[i];
}

/* The keys are another's, or may be: in "bawn run ... | less" they are less's. */
static void look_at_keys(struct session *session, struct launch_command *command)
{
    static const int in_order[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    static const int out_order[] = {STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO};
    uint32_t both = EXEC_TTY_0 | EXEC_TTY_1;

    if (!(command->flags & EXEC_TTY) || session->request->is_detached)
        return;
    session->keys_fd = find_terminal(command->flags, in_order);
    session->screen_fd = find_terminal(command->flags, out_order);
    session->terminal.waits =
        (command->flags & both) != both || terminal_is_background(session->keys_fd);
    session->terminal.is_shared = !(command->flags & EXEC_TTY_1);
    command->flags |= EXEC_LED | (session->terminal.waits ? (uint32_t)EXEC_BACK : 0);
}

int session_look_at_streams(struct session *session, struct launch_command *command,
                            struct bawn_error *err)
{
    const struct image *image = session->request->image;
    int given[3] = {-EBADF, -EBADF, -EBADF};
    int result = 0;

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int kind = stream_judge(fd, fd, image, server_streams(&session->server), err);

        if (kind == STREAM_RELAYED)
            kind = given[fd] = relays_add(&session->relays, &session->loop, fd, fd, err);
        else if (kind == STREAM_WRITTEN)
            kind = given[fd] = write_for_it(session, fd, err);
        if (kind < 0)
            return kind;
        if (kind != STREAM_TERMINAL || given[fd] >= 0)
            continue;
        if (!(command->flags & EXEC_TTY))
            (void)terminal_read_state(fd, &command->state, &command->size);
        command->flags |= 1U << fd;
        session->has_host_terminal = true;
    }
    look_at_keys(session, command);
    if (session->scribe)
        result = session_channel(session, err);
    if (session->scribe && result >= 0)
        result = scribe_start(session->scribe, result, err);
    if (result < 0)
        return result;
    /* Pid 1 is born with them; session_restore_streams takes ours back. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (given[fd] >= 0 && dup2(given[fd], fd) < 0)
            return error_errno(err, errno, "relay a stream");
    }
    return 0;
}

static int refuse_further(int fd, int kind, struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "run.descriptor", "--fd %d: %s", fd,
                    kind == STREAM_TERMINAL ? "a terminal comes in only as a standard stream"
                    : kind == STREAM_RELAYED
                        ? "a socket of the host's network comes in only as a standard stream"
                        : "a file to write that the policy does not let the command write by its "
                          "name comes in only as a standard stream");
    error_hint(err, kind == STREAM_WRITTEN ? "grant the file with --rw, or give a pipe"
                                           : "give it as a standard stream, or give a pipe");
    return -EINVAL;
}

int session_look_at_further(struct session *session, struct launch_command *command,
                            struct bawn_error *err)
{
    const struct session_request *request = session->request;

    for (unsigned i = 0; i < request->further_count; i++) {
        int fd = request->further[i];
        int kind = stream_judge(fd, fd, request->image, server_streams(&session->server), err);

        if (kind < 0)
            return kind;
        if (kind != STREAM_PASSES)
            return refuse_further(fd, kind, err);
        command->further[command->further_count++] = fd;
    }
    return 0;
}

void session_restore_streams(struct session *session)
{
    for (unsigned i = 0; i < session->request->further_count; i++)
        (void)close(session->request->further[i]);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (session->relays.of[fd])
            (void)dup2(relays_outside(&session->relays, fd), fd);
        if (session->scribe && session->scribe->of[fd].outside >= 0)
            (void)dup2(session->scribe->of[fd].outside, fd);
    }
    if (session->scribe)
        scribe_handed_in(session->scribe);
    relays_handed_in(&session->relays);
}

void session_let_go(const struct session *session)
{
    autoclose int none = -EBADF;
    struct stat status;

    if (session->has_host_terminal || session->request->needs_output)
        return;
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) {
        if (fstat(fd, &status) < 0 || !S_ISFIFO(status.st_mode))
            continue;
        if (none < 0)
            none = file_open_null(O_RDWR, NULL);
        if (none >= 0)
            (void)dup2(none, fd);
    }
}

int session_take_terminal(struct session *session, int master_fd, struct bawn_error *err)
{
    struct terminal *terminal = &session->terminal;
    int result = terminal_start(terminal, &session->loop, session->keys_fd, session->screen_fd,
                                master_fd, err);

    session->master_fd = master_fd;
    terminal->taken = session_keys_taken;
    terminal->asked_to_stop = session_stop_typed;
    terminal->context = session;
    terminal->keeps_drawn = !session->request->asks_nobody && session->request->owner_fd < 0;
    prompt_look(session);
    return result;
}

void session_ask_to_end(struct session *session)
{
    if (session->control)
        control_signal_all(session->control, SIGTERM);
    (void)launch_signal(&session->launch, 0, SIGTERM, NULL);
    session->pause.is_over = true;
    session_wake_command(session, false);
}

static int on_deaf(void *context)
{
    const struct session *session = context;

    launch_kill(&session->launch);
    return 0;
}

/* SECURITY: what is to end the command does so, if need be without pid 1: somebody may have stopped
 * that. A command that is told and goes on is left alone, as outside. */
static int pass_on(struct session *session, int signal)
{
    bool ends = signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;

    /* There is no command to be told, and the owner's may have others. */
    if (signal == SIGTERM && !session->request->argv)
        return on_deaf(session);
    if (ends && session->deaf_timer.at_ms == 0)
        loop_set_timer(&session->loop, &session->deaf_timer, DEAF_MS, 0, on_deaf, session);
    if (ends)
        prompt_refuse(session);
    (void)launch_signal(&session->launch, 0, signal, NULL);
    if (ends)
        session_wake_command(session, signal == SIGHUP);
    return 0;
}

int session_hear_signal(void *context, uint32_t events)
{
    struct session *session = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(session->signal_fd, &info, sizeof(info)) != sizeof(info))
        return 0;
    switch (info.ssi_signo) {
    case SIGWINCH:
        terminal_resize(&session->terminal);
        prompt_resize(session);
        break;
    case SIGCONT:
        session_resume(session);
        break;
    case SIGTSTP:
        session_asked_to_stop(session);
        break;
    default:
        return pass_on(session, (int)info.ssi_signo);
    }
    return 0;
}

int session_watch_signals(struct session *session, struct bawn_error *err)
{
    static const int signals[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                  SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&set, signals[i]);
    /* Of writing past a limit the error is enough, and that of a command's truncate is the
     * command's. */
    sigaddset(&set, SIGXFSZ);
    if (sigprocmask(SIG_BLOCK, &set, &session->signals_before) < 0)
        return error_errno(err, errno, "block signals");
    sigdelset(&set, SIGXFSZ);
    session->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (session->signal_fd < 0)
        return error_errno(err, errno, "signalfd");
    session->signal_source = (struct loop_source){.fd = session->signal_fd,
                                                  .events = POLLIN,
                                                  .ready = session_hear_signal,
                                                  .context = session};
    return loop_add(&session->loop, &session->signal_source, err);
}
