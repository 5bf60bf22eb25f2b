/* SPDX-License-Identifier: Apache-2.0 */
/* bawn attach: the terminal of a detached session, or what it says. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "session/terminal.h"
#include "verbs_session/own.h"
#include "verbs_session/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    LEAVE_KEY = 0x1c, /* Ctrl-\ */
    UTF8_BYTES = 4,
    STREAM_BYTES = 16384,
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
    bool is_json;
    char rest[UTF8_BYTES]; /* as data: the beginning of a character that was not read whole */
    size_t rest_length;
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

static bool write_all(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, length);

        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return true;
}

/* How many bytes at the end begin a character and do not end it. */
static size_t cut_length(const char *bytes, size_t length)
{
    for (size_t back = 1; back < UTF8_BYTES && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

        if (byte >= 0x80 && byte < 0xc0)
            continue;
        return whole > back ? back : 0;
    }
    return 0;
}

/* One line: {"output": "..."}. JSON has no bytes: those that are no text are shown as \xNN. */
static bool write_json(const char *bytes, size_t length)
{
    autostrbuf struct strbuf text = {0};
    struct strbuf line = {0};

    if (length == 0)
        return true;
    for (size_t i = 0; i < length; i++) {
        size_t run = strnlen(bytes + i, length - i);

        strbuf_add_bytes(&text, bytes + i, run);
        i += run;
        if (i < length)
            strbuf_add(&text, "\\x00");
    }
    json_open(&line, NULL, '{');
    json_put_text(&line, "output", &text);
    json_close(&line, '}');
    return front_print(&line) == 0;
}

/* What was read, as it is or as data. The end of the stream: length 0. */
static bool tell(struct attach *attach, const char *bytes, size_t length)
{
    char all[STREAM_BYTES + UTF8_BYTES];
    size_t cut;

    if (!attach->is_json)
        return write_all(bytes, length);
    memcpy(all, attach->rest, attach->rest_length);
    memcpy(all + attach->rest_length, bytes, length);
    cut = length > 0 ? cut_length(all, attach->rest_length + length) : 0;
    length += attach->rest_length - cut;
    memcpy(attach->rest, all + length, cut);
    attach->rest_length = cut;
    return write_json(all, length);
}

static int on_stream(void *context, uint32_t events)
{
    struct attach *attach = context;
    char bytes[STREAM_BYTES];
    ssize_t count = read(attach->stream, bytes, sizeof(bytes));

    (void)events;
    if (count > 0)
        return tell(attach, bytes, (size_t)count) ? 0 : -EIO;
    if (count == 0 || errno != EINTR) {
        (void)tell(attach, "", 0);
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
    if (attach->is_json) {
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
    struct attach attach = {
        .signals.fd = -EBADF, .stream = -EBADF, .is_json = front->json, .err = err};
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
