/* SPDX-License-Identifier: Apache-2.0 */
/* bawn exec: one more command in a running session. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/loop.h"
#include "session/relay.h"
#include "session/terminal.h"
#include "verbs_session/own.h"
#include "verbs_session/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

struct exec {
    const struct front *front;
    struct bawn_session *session;
    int job;
    char **argv;
    struct loop loop;
    struct loop_source source;
    struct signals signals;
    struct terminal terminal;
    struct relays relays;
    int master_fd;
    int result; /* of the command: its status, or a negative errno */
    struct bawn_error *err;
};

/* What is left of the words: the session, unless "--" comes first, and the command. */
static int split_words(struct exec *exec, const char **ret_sid)
{
    struct options *options = (struct options *)(uintptr_t)&exec->front->options;
    char **words = NULL;
    size_t count = options->words.count;
    size_t first = 0;

    *ret_sid = NULL;
    if (count > 0 && !exec->front->has_dashes) {
        *ret_sid = options->words.items[0];
        first = count > 1 && strcmp(options->words.items[1], "--") == 0 ? 2 : 1;
    }
    if (first >= count) {
        (void)error_set(exec->err, EINVAL, "usage.missing_argument", "exec: a command is missing");
        error_hint(exec->err, "usage: bawn exec [OPTION]... [SID] -- COMMAND [ARGUMENT]...");
        return -EINVAL;
    }
    if (!vec_push(&options->words, NULL))
        return error_memory(exec->err);
    words = (char **)(uintptr_t)options->words.items;
    exec->argv = words + first;
    return 0;
}

static int show_terminal(struct exec *exec)
{
    int in = isatty(STDIN_FILENO) ? STDIN_FILENO : -EBADF;
    int out = isatty(STDOUT_FILENO) ? STDOUT_FILENO : isatty(STDERR_FILENO) ? STDERR_FILENO : in;

    exec->master_fd = bawn_session_terminal(exec->session, exec->job, exec->err);
    if (exec->master_fd < 0)
        return exec->master_fd;
    return terminal_start(&exec->terminal, &exec->loop, in, out, exec->master_fd, exec->err);
}

static int on_answer(void *context, uint32_t events)
{
    struct exec *exec = context;
    int job, status = 0;
    int result = bawn_session_next(exec->session, &job, exec->err);

    (void)events;
    if (result == BAWN_EVENT_NONE)
        return 0;
    if (result == BAWN_EVENT_STARTED)
        return show_terminal(exec);
    if (result == BAWN_EVENT_ENDED)
        result = bawn_session_wait(exec->session, exec->job, &status, exec->err);
    exec->result = result < 0 ? result : status;
    loop_end(&exec->loop);
    return 0;
}

static int on_signal(void *context, int signal)
{
    struct exec *exec = context;

    /* The terminal inside has told it already. */
    if (signal == SIGWINCH)
        return 0;
    return bawn_session_signal(exec->session, exec->job, signal, NULL);
}

/* Its terminals are not handed in: inside they are replaced by one of the sandbox's own. What may
 * be a stream at all the session judges. */
static int send_command(struct exec *exec)
{
    const struct winsize *fixed = &exec->terminal.fixed;
    struct bawn_command command = {.argv = (const char *const *)(uintptr_t)exec->argv,
                                   .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
                                   .cols = fixed->ws_col,
                                   .rows = fixed->ws_row,
                                   .flags = BAWN_COMMAND_TERMINAL};

    if ((fixed->ws_col || fixed->ws_row) && !isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) &&
        !isatty(STDERR_FILENO))
        return terminal_refuse_size(exec->err);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (relay_is_needed(fd))
            command.fds[fd] = relays_add(&exec->relays, &exec->loop, fd, fd, exec->err);
        if (command.fds[fd] < 0)
            return command.fds[fd];
    }
    exec->job = bawn_session_exec(exec->session, &command, exec->err);
    relays_handed_in(&exec->relays);
    return exec->job < 0 ? exec->job : 0;
}

/* The status to end with; of a command that never ran, after saying why. */
static int judge(const struct exec *exec)
{
    int errnum = -exec->result;

    if (errnum == EPIPE && strcmp(exec->err->code, "session.gone") == 0)
        error_hint(exec->err,
                   "all its commands have ended too; 'bawn ps' lists the sessions that run");
    if (errnum <= 0 || strcmp(exec->err->code, "run.exec") != 0)
        return exec->result;
    (void)error_errno(exec->err, errnum, "run %s", exec->argv[0]);
    error_hint(exec->err, errnum == ENOENT || errnum == ENOTDIR
                              ? "inside the sandbox there is no such program"
                              : "it cannot be executed inside");
    (void)front_show_error(exec->front, exec->err);
    return errnum == ENOENT || errnum == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

static int relay(struct exec *exec)
{
    int result = loop_init(&exec->loop, exec->err);

    exec->source = (struct loop_source){.fd = bawn_session_fd(exec->session),
                                        .events = POLLIN,
                                        .ready = on_answer,
                                        .context = exec};
    if (result == 0)
        result = loop_add(&exec->loop, &exec->source, exec->err);
    if (result == 0)
        result =
            signals_watch(&exec->signals, &exec->loop, &exec->terminal, on_signal, exec, exec->err);
    if (result == 0)
        result = send_command(exec);
    if (result == 0)
        result = loop_run(&exec->loop, -1, exec->err);
    terminal_stop(&exec->terminal);
    relays_stop(&exec->relays);
    signals_done(&exec->signals);
    if (exec->master_fd >= 0)
        (void)close(exec->master_fd);
    return result < 0 ? result : judge(exec);
}

int front_exec(struct front *front, struct bawn_error *err)
{
    /* Not on the stack: most of its pages are for a terminal, and would be cleared. */
    static struct exec exec;
    const char *sid;
    int result;

    exec.front = front;
    exec.signals.fd = exec.master_fd = -EBADF;
    exec.err = err;
    result = split_words(&exec, &sid);
    if (result == 0)
        result = front_size(front, &exec.terminal.fixed, err);
    if (result == 0)
        result = bawn_session_open(sid, &exec.session, err);
    if (result == 0)
        result = relay(&exec);
    bawn_session_close(exec.session);
    return result;
}
