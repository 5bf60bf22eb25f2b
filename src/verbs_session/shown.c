/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs_session/shown.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs_session/own.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { UTF8_BYTES = 4, ESCAPE = 0x1b };
#define COLOUR_END "\033[0m"

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

/* JSON has no bytes: those that are no text are shown as \xNN. Returns how many were used. */
static size_t add_json(struct strbuf *out, const char *bytes, size_t length, bool is_end)
{
    autostrbuf struct strbuf text = {0};
    size_t used = length - (is_end ? 0 : cut_length(bytes, length));

    if (used == 0)
        return 0;
    for (size_t i = 0; i < used; i++) {
        size_t run = strnlen(bytes + i, used - i);

        strbuf_add_bytes(&text, bytes + i, run);
        i += run;
        if (i < used)
            strbuf_add(&text, "\\x00");
    }
    json_open(out, NULL, '{');
    json_put_text(out, "output", &text);
    json_close(out, '}');
    strbuf_add(out, "\n");
    return used;
}

static void add_escaped(struct strbuf *out, const char *bytes, size_t length)
{
    autofree char *text = text_escape_new(bytes, length, TEXT_LINES);

    if (!text)
        out->failed = true;
    else
        strbuf_add(out, text);
}

/* A sequence that sets colours: its length; 0: it is none; length: it may become one. */
static size_t colour_length(const char *bytes, size_t length)
{
    size_t end = 2;

    if (length < 2)
        return length;
    if (bytes[1] != '[')
        return 0;
    while (end < length && end < SHOWN_REST && strchr("0123456789;:", bytes[end]) && bytes[end])
        end++;
    if (end == length)
        return end < SHOWN_REST ? length : 0;
    return bytes[end] == 'm' ? end + 1 : 0;
}

static bool is_plain(char byte)
{
    return byte != ESCAPE && byte != '\r';
}

/* Up to the next escape or return, and that. Returns how many were used; 0: more is needed. */
static size_t add_safe_part(struct shown *shown, struct strbuf *out, const char *bytes,
                            size_t length, bool is_end)
{
    size_t run = 0;

    while (run < length && is_plain(bytes[run]))
        run++;
    if (run == length && !is_end)
        run -= cut_length(bytes, length);
    if (run > 0) {
        add_escaped(out, bytes, run);
        return run;
    }
    if (is_plain(bytes[0]))
        return 0;
    if (bytes[0] == '\r') {
        if (length == 1 && !is_end)
            return 0;
        /* What would be written over stays to be seen. */
        if (length == 1 || (bytes[1] != '\n' && bytes[1] != '\r'))
            strbuf_add(out, "\n");
        return 1;
    }
    run = colour_length(bytes, length);
    if (run == length && bytes[run - 1] != 'm') {
        if (!is_end)
            return 0;
        run = 0;
    }
    if (run == 0) {
        add_escaped(out, bytes, 1);
        return 1;
    }
    strbuf_add_bytes(out, bytes, run);
    shown->has_colour = true;
    return run;
}

static size_t add_safe(struct shown *shown, struct strbuf *out, const char *bytes, size_t length,
                       bool is_end)
{
    size_t used = 0, part;

    do {
        part = used < length ? add_safe_part(shown, out, bytes + used, length - used, is_end) : 0;
        used += part;
    } while (part > 0);
    return used;
}

/* The end of it all: bytes is "". */
static bool put(struct shown *shown, const char *bytes, size_t length, bool is_end)
{
    char all[SHOWN_BYTES + SHOWN_REST];
    autostrbuf struct strbuf out = {0};
    size_t used;

    memcpy(all, shown->rest, shown->rest_length);
    memcpy(all + shown->rest_length, bytes, length);
    length += shown->rest_length;
    used = shown->as == SHOWN_JSON ? add_json(&out, all, length, is_end)
                                   : add_safe(shown, &out, all, length, is_end);
    shown->rest_length = length - used;
    memcpy(shown->rest, all + used, shown->rest_length);
    if (is_end && shown->has_colour)
        strbuf_add(&out, COLOUR_END);
    return !out.failed && write_all(out.text, out.length);
}

bool shown_put(struct shown *shown, const char *bytes, size_t length)
{
    return shown->as == SHOWN_RAW ? write_all(bytes, length) : put(shown, bytes, length, false);
}

bool shown_end(struct shown *shown)
{
    return shown->as == SHOWN_RAW || put(shown, "", 0, true);
}
