/* SPDX-License-Identifier: Apache-2.0 */
/* bawn logs: what a detached command said. */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs_session/own.h"
#include "verbs_session/shown.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void close_log(struct bawn_log **log)
{
    bawn_log_close(*log);
}
#define autolog __attribute__((cleanup(close_log)))

static int begin(const struct front *front, struct bawn_log *log, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_TAIL);
    uint64_t lines = 0;
    char shown[64];

    if (!value)
        return 0;
    if (text_parse_count(value, UINT32_MAX, &lines))
        return bawn_log_tail(log, lines, err);
    text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "--tail: '%s' is no number of lines", shown);
    error_hint(err, "write a number such as 20");
    return -EINVAL;
}

/* The log as it is shown. */
struct view {
    const struct front *front;
    struct bawn_log *log;
    struct shown shown;
    uint64_t dropped; /* bytes of which that was said */
};

/* Before what comes after it. */
static void tell_dropped(struct view *view)
{
    uint64_t bytes = bawn_log_dropped(view->log) - view->dropped;

    if (bytes > 0 && !view->front->json && !view->front->quiet)
        (void)fprintf(stderr, "bawn: %llu bytes that were said before this are no longer kept\n%s",
                      (unsigned long long)bytes,
                      view->dropped ? ""
                                    : "hint: 'bawn run --detach --log-size SIZE' keeps more\n");
    view->dropped += bytes;
}

/* What is there now. */
static int show(struct view *view, struct bawn_error *err)
{
    char bytes[SHOWN_BYTES];
    int got;

    while ((got = bawn_log_read(view->log, bytes, sizeof(bytes), err)) > 0) {
        tell_dropped(view);
        if (!shown_put(&view->shown, bytes, (size_t)got))
            return error_errno(err, EIO, "write standard output");
    }
    return got;
}

static int tell_end(const struct front *front, struct bawn_log *log)
{
    struct bawn_log_state state;
    struct strbuf out = {0};

    bawn_log_state(log, &state);
    if (front->json) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "sid", state.sid);
        json_put_string(&out, "state", state.state);
        if (strcmp(state.state, "ended") == 0)
            json_put_uint(&out, "status", (uint64_t)state.status);
        else
            json_put_string(&out, "status", NULL);
        json_put_uint(&out, "dropped", bawn_log_dropped(log));
        json_put_string(&out, "incomplete", state.errnum ? strerror(state.errnum) : NULL);
        json_close(&out, '}');
        return front_print(&out);
    }
    if (state.errnum == ENODATA && !front->quiet)
        (void)fprintf(stderr, "bawn: %s: nothing is kept: it was started with --log-size 0\n",
                      state.sid);
    else if (state.errnum && !front->quiet)
        (void)fprintf(stderr, "bawn: %s: what was said after this is not kept: %s\n", state.sid,
                      strerror(state.errnum));
    return STATUS_OK;
}

int front_logs(struct front *front, struct bawn_error *err)
{
    bool is_safe = isatty(STDOUT_FILENO) && !options_has(&front->options, OPTION_RAW);
    bool follows = options_has(&front->options, OPTION_FOLLOW);
    autolog struct bawn_log *log = NULL;
    int result = bawn_log_open(front_sid(front), &log, err);
    struct view view = {.front = front,
                        .log = log,
                        .shown.as = front->json ? SHOWN_JSON
                                    : is_safe   ? SHOWN_SAFE
                                                : SHOWN_RAW};

    if (result == 0)
        result = begin(front, log, err);
    if (result == 0)
        result = show(&view, err);
    while (result == 0 && follows && (result = bawn_log_wait(log, err)) > 0)
        result = show(&view, err);
    if (result < 0)
        return result;
    if (!shown_end(&view.shown))
        return error_errno(err, EIO, "write standard output");
    return tell_end(front, log);
}
