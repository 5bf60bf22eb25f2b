/* SPDX-License-Identifier: Apache-2.0 */
/* bawn exec: one more command in a running session. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/loop.h"
#include "program_bawn/own.h"
#include "program_bawn/signals.h"
#include "session/relay.h"
#include "session/stream.h"
#include "session/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { JOB = 1, STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

struct exec {
    const struct front *front;
    struct link link;
    char **argv;
    struct loop loop;
    struct loop_source source;
    struct signals signals;
    struct terminal terminal;
    struct relays relays;
    int master_fd;
    int result; /* of the last answer */
    struct control_message message;
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

static int on_answer(void *context, uint32_t events)
{
    struct exec *exec = context;
    int fds[CONTROL_FDS];
    size_t size = 0;
    char bytes[sizeof(struct bawn_error)];
    int result = control_receive(exec->link.sock, &exec->message, bytes, sizeof(bytes), &size, fds);

    (void)events;
    if (result == 0 && exec->message.kind == CONTROL_STARTED && fds[0] >= 0) {
        int in = isatty(STDIN_FILENO) ? STDIN_FILENO : -EBADF;
        int out = isatty(STDOUT_FILENO)   ? STDOUT_FILENO
                  : isatty(STDERR_FILENO) ? STDERR_FILENO
                                          : in;

        exec->master_fd = fds[0];
        return terminal_start(&exec->terminal, &exec->loop, in, out, exec->master_fd, exec->err);
    }
    if (result == 0 && exec->message.kind == CONTROL_FAILED &&
        error_take(bytes, size, exec->err) == 0)
        result = -EPROTO;
    exec->result = result;
    loop_end(&exec->loop);
    return 0;
}

static int on_signal(void *context, int signal)
{
    struct exec *exec = context;
    struct control_message message = {.kind = CONTROL_SIGNAL, .job = JOB, .value = signal};

    /* The terminal inside has told it already. */
    if (signal == SIGWINCH)
        return 0;
    return link_send(&exec->link, &message, NULL);
}

/* Its terminals are not handed in: inside they are replaced by one of the sandbox's own. */
static int send_command(struct exec *exec)
{
    struct control_message message = {.version = CONTROL_VERSION, .kind = CONTROL_EXEC, .job = JOB};
    autoclose int none = -EBADF;
    autofree char *bytes = NULL;
    int fds[CONTROL_FDS];
    size_t size;
    int result;

    for (int fd = 0; fd < CONTROL_FDS; fd++) {
        /* The session judges too, and knows its network and its files. */
        int kind = stream_judge(fd, fd, NULL, NULL, exec->err);

        fds[fd] = fd;
        if (kind == STREAM_RELAYED)
            fds[fd] = kind = relays_add(&exec->relays, &exec->loop, fd, fd, exec->err);
        if (kind < 0)
            return kind;
        if (kind != STREAM_TERMINAL || fds[fd] != fd)
            continue;
        if (!(message.flags & CONTROL_TTY))
            (void)terminal_read_state(fd, &message.state, &message.size);
        message.flags |= 1U << fd;
        if (none < 0)
            none = file_open_null(O_RDWR, NULL);
        fds[fd] = none;
    }
    terminal_fix_size(&message.size, &exec->terminal.fixed);
    if ((exec->terminal.fixed.ws_col || exec->terminal.fixed.ws_row) &&
        !(message.flags & CONTROL_TTY))
        return terminal_refuse_size(exec->err);
    result = control_strings_join(&message, exec->argv, exec->front->environ, &bytes, &size);
    if (result == 0)
        result = control_send(exec->link.sock, &message, bytes, size, fds, CONTROL_FDS);
    relays_handed_in(&exec->relays);
    return result < 0
               ? error_errno(exec->err, -result, "send the command to session %s", exec->link.sid)
               : 0;
}

static int judge(const struct exec *exec)
{
    int errnum = exec->message.value;

    if (exec->result == -EPROTO)
        return link_refuse_answer(&exec->link, exec->err);
    if (exec->result < 0) {
        (void)error_set(exec->err, EPIPE, "session.gone", "%s: the session has ended",
                        exec->link.sid);
        error_hint(exec->err, "what ran in it has ended too; 'bawn ps' lists those that run");
        return -EPIPE;
    }
    if (exec->message.kind == CONTROL_EXITED)
        return front_status_of(exec->message.value);
    if (exec->message.kind != CONTROL_FAILED)
        return link_refuse_answer(&exec->link, exec->err);
    if (strcmp(exec->err->code, CONTROL_NOT_RUN) != 0)
        return -exec->err->errnum;
    (void)error_errno(exec->err, errnum, "run %s", exec->argv[0]);
    error_hint(exec->err, errnum == ENOENT || errnum == ENOTDIR
                              ? "inside the sandbox there is no such program"
                              : "it cannot be executed inside");
    (void)front_fail(exec->front, exec->err);
    return errnum == ENOENT || errnum == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

static int relay(struct exec *exec)
{
    int result = loop_init(&exec->loop, exec->err);

    exec->source = (struct loop_source){
        .fd = exec->link.sock, .events = POLLIN, .ready = on_answer, .context = exec};
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
    struct exec exec = {.front = front,
                        .link = {.registry.fd = -EBADF, .sock = -EBADF},
                        .signals.fd = -EBADF,
                        .master_fd = -EBADF,
                        .err = err};
    const char *sid;
    int result = split_words(&exec, &sid);

    if (result == 0)
        result = front_size(front, &exec.terminal.fixed, err);
    if (result == 0)
        result = link_open(&exec.link, front, sid, err);
    if (result == 0)
        result = relay(&exec);
    link_close(&exec.link);
    return result;
}
