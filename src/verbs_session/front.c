/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from the command line and printed, alike for each verb. */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs_session/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

const char *front_sid(const struct front *front)
{
    return front->options.words.count > 0 ? front->options.words.items[0] : NULL;
}

static int read_length(const struct front *front, enum option_id id, const char *name,
                       unsigned short *ret_length, struct bawn_error *err)
{
    const char *value = options_value(&front->options, id);
    uint64_t length = 0;
    char shown[64];

    if (value && (!text_parse_count(value, UINT16_MAX, &length) || length == 0)) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value", "--%s: '%s' is no number from 1 to %d",
                        name, shown, UINT16_MAX);
        error_hint(err, "write a number such as 80");
        return -EINVAL;
    }
    *ret_length = (unsigned short)length;
    return 0;
}

int front_size(const struct front *front, struct winsize *ret_size, struct bawn_error *err)
{
    int result = read_length(front, OPTION_COLS, "cols", &ret_size->ws_col, err);

    return result < 0 ? result : read_length(front, OPTION_ROWS, "rows", &ret_size->ws_row, err);
}

int front_timeout(const struct front *front, unsigned most_s, int *ret_ms, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_GRACE);
    uint64_t seconds = 0;
    char shown[64];

    if (!value)
        return 0;
    if (!text_parse_seconds(value, &seconds) || seconds > most_s) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value", "--timeout: '%s' is no time up to %u min",
                        shown, most_s / 60);
        error_hint(err, "write a time such as 0, 10s or 2m");
        return -EINVAL;
    }
    *ret_ms = (int)(seconds * 1000);
    return 0;
}

int front_print(struct strbuf *text)
{
    bool failed = text->failed;

    if (!failed && text->length > 0 && text->text[text->length - 1] != '\n')
        strbuf_add(text, "\n");
    failed = text->failed || (text->length > 0 && fputs(text->text, stdout) == EOF) ||
             fflush(stdout) == EOF;
    strbuf_done(text);
    return failed ? STATUS_FAILED : 0;
}

/* False: there is no room for it. */
static bool print_json(const struct bawn_error *err)
{
    struct strbuf out = {0};
    bool is_said;

    json_add_error(&out, err, NULL);
    is_said = printf("%s\n", out.failed ? "{}" : out.text) >= 0 && fflush(stdout) == 0;
    strbuf_done(&out);
    return is_said;
}

int front_show_error(const struct front *front, const struct bawn_error *err)
{
    if (!front->json || !print_json(err)) {
        (void)fprintf(stderr, "bawn: %s\n", err->message);
        if (err->hint[0])
            (void)fprintf(stderr, "hint: %s\n", err->hint);
    }
    return STATUS_FAILED;
}

void front_put_end(struct strbuf *out, const struct bawn_session *session, int status)
{
    json_open(out, NULL, '{');
    json_put_string(out, "sid", bawn_session_sid(session));
    json_put_uint(out, "status", (uint64_t)status);
    json_close(out, '}');
}

void put_duration(struct strbuf *out, uint64_t seconds)
{
    if (seconds < 60)
        strbuf_addf(out, "%llu s", (unsigned long long)seconds);
    else if (seconds < 3600)
        strbuf_addf(out, "%llu min", (unsigned long long)seconds / 60);
    else if (seconds < 86400)
        strbuf_addf(out, "%llu h %llu min", (unsigned long long)seconds / 3600,
                    (unsigned long long)seconds / 60 % 60);
    else
        strbuf_addf(out, "%llu d %llu h", (unsigned long long)seconds / 86400,
                    (unsigned long long)seconds / 3600 % 24);
}
