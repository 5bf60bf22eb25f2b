/* SPDX-License-Identifier: Apache-2.0 */
/* bawn attach: the terminal of a detached session, or what it says. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/loop.h"
#include "session/terminal.h"
#include "verbs_session/own.h"
#include "verbs_session/shown.h"
#include "verbs_session/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    LEAVE_KEY = 0x1c, /* Ctrl-\ */
};

struct attach {
    struct bawn_session *session;
    struct loop loop;
    struct loop_source source, stream_source;
    struct signals signals;
    struct terminal terminal;
    int stream;
    bool has_answered;  /* the session has ended, or makes no sense */
    int result, status; /* then: status, unless result is negative */
    bool is_stream_ended;
    struct shown shown;
    struct bawn_error *err;
};

static int on_answer(void *context, uint32_t events)
{
    struct attach *attach = context;
    int job;

    (void)events;
    attach->result = bawn_session_next(attach->session, &job, attach->err);
    if (attach->result == BAWN_EVENT_NONE)
        return 0;
    if (attach->result > 0)
        attach->result = bawn_session_wait(attach->session, 0, &attach->status, attach->err);
    attach->has_answered = true;
    loop_end(&attach->loop);
    return 0;
}

static int on_signal(void *context, int signal)
{
    struct attach *attach = context;
    struct winsize size;

    if (signal != SIGWINCH) {
        loop_end(&attach->loop);
        return 0;
    }
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return bawn_session_resize(attach->session, &size, NULL);
}

static int on_stream(void *context, uint32_t events)
{
    struct attach *attach = context;
    char bytes[SHOWN_BYTES];
    ssize_t count = read(attach->stream, bytes, sizeof(bytes));

    (void)events;
    if (count > 0)
        return shown_put(&attach->shown, bytes, (size_t)count) ? 0 : -EIO;
    if (count == 0 || errno != EINTR) {
        (void)shown_end(&attach->shown);
        attach->is_stream_ended = true;
        loop_remove(&attach->loop, &attach->stream_source);
    }
    return 0;
}

static int watch(struct attach *attach, struct loop_source *source, int fd, loop_ready ready,
                 struct bawn_error *err)
{
    *source = (struct loop_source){.fd = fd, .events = POLLIN, .ready = ready, .context = attach};
    return loop_add(&attach->loop, source, err);
}

/* With a terminal on both sides. */
static int relay_terminal(struct attach *attach, const struct front *front, struct bawn_error *err)
{
    int result;

    if (!front->quiet)
        (void)fprintf(stderr, "bawn: attached to %s; Ctrl-\\ detaches\n",
                      bawn_session_sid(attach->session));
    result =
        signals_watch(&attach->signals, &attach->loop, &attach->terminal, on_signal, attach, err);
    if (result == 0)
        result = terminal_start(&attach->terminal, &attach->loop, STDIN_FILENO, STDOUT_FILENO,
                                attach->stream, err);
    attach->terminal.leave_key = LEAVE_KEY;
    if (result == 0)
        result = loop_run(&attach->loop, -1, err);
    terminal_stop(&attach->terminal);
    signals_done(&attach->signals);
    return result;
}

/* Only what it says; whoever ends us detaches. */
static int relay_output(struct attach *attach, struct bawn_error *err)
{
    int result = watch(attach, &attach->stream_source, attach->stream, on_stream, err);

    if (result == 0)
        result = loop_run(&attach->loop, -1, err);
    while (result == 0 && attach->has_answered && !attach->is_stream_ended)
        result = on_stream(attach, 0);
    return result < 0 ? error_errno(err, -result, "write standard output") : 0;
}

static int tell_end(const struct attach *attach)
{
    struct strbuf out = {0};

    if (attach->result < 0)
        return attach->result;
    if (attach->shown.as == SHOWN_JSON) {
        front_put_end(&out, attach->session, attach->status);
        (void)front_print(&out);
    }
    return attach->status;
}

static int relay(struct attach *attach, const struct front *front, bool has_terminal,
                 struct bawn_error *err)
{
    int result = loop_init(&attach->loop, err);

    if (result == 0)
        result = watch(attach, &attach->source, bawn_session_fd(attach->session), on_answer, err);
    if (result < 0)
        return result;
    result = has_terminal ? relay_terminal(attach, front, err) : relay_output(attach, err);
    if (result < 0)
        return result;
    if (attach->has_answered)
        return tell_end(attach);
    if (!front->quiet && has_terminal)
        (void)fprintf(stderr, "bawn: detached from %s\n", bawn_session_sid(attach->session));
    return 0;
}

int front_attach(struct front *front, struct bawn_error *err)
{
    struct attach attach = {.signals.fd = -EBADF,
                            .stream = -EBADF,
                            .shown.as = front->json ? SHOWN_JSON : SHOWN_RAW,
                            .err = err};
    /* As data it is looked at, not used. */
    bool is_terminal = !front->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    bool has_terminal = false;
    struct winsize size = {0};
    int result = bawn_session_open(front_sid(front), &attach.session, err);

    if (is_terminal)
        (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    if (result == 0)
        result = attach.stream = bawn_session_attach(attach.session, &size, &has_terminal, err);
    if (result >= 0)
        result = relay(&attach, front, is_terminal && has_terminal, err);
    if (attach.stream >= 0)
        (void)close(attach.stream);
    bawn_session_close(attach.session);
    return result;
}
