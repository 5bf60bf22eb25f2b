/* SPDX-License-Identifier: Apache-2.0 */
#include "session/drawn.h"

#include <stdint.h>
#include <string.h>

enum { BEL = 7, CAN = 24, SUB = 26, ESC = 27, C1_LEAD = 0xc2 };

static const char *const screens[] = {"\033[?1049h", "\033[?1047h", "\033[?47h"};

/* Behind the last sequence that goes there, or NULL. */
static const char *find_entry(const char *bytes, size_t length)
{
    const char *last = NULL;

    for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
        size_t size = strlen(screens[i]);
        const char *at = bytes;

        while ((at = memmem(at, (size_t)(bytes + length - at), screens[i], size))) {
            at += size;
            if (!last || at > last)
                last = at;
        }
    }
    return last;
}

void drawn_done(struct drawn *drawn)
{
    strbuf_done(&drawn->text);
    drawn->is_whole = false;
}

void drawn_take(struct drawn *drawn, const char *bytes, size_t length, bool is_full_screen)
{
    const char *entry = is_full_screen ? find_entry(bytes, length) : NULL;

    if (entry || !is_full_screen)
        drawn_done(drawn);
    if (entry) {
        drawn->is_whole = true;
        length -= (size_t)(entry - bytes);
        bytes = entry;
    }
    if (!drawn->is_whole)
        return;
    strbuf_add_bytes(&drawn->text, bytes, length);
    if (drawn->text.failed || drawn->text.length > DRAWN_BYTES)
        drawn_done(drawn);
}

bool drawn_is_cut(const char *bytes, size_t length)
{
    for (size_t back = 1; back < 4 && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

        if (byte >= 0x80 && byte < 0xc0)
            continue;
        return whole > back;
    }
    return false;
}

/* Whether it switches between screens, alone or among others. */
static bool names_screen(const char *params, size_t length)
{
    static const char *const numbers[] = {"47", "1047", "1049", "2026"};

    for (size_t at = 0; at < length;) {
        size_t run = 0;

        while (at + run < length && params[at + run] >= '0' && params[at + run] <= '9')
            run++;
        for (size_t i = 0; run > 0 && i < sizeof(numbers) / sizeof(*numbers); i++)
            if (run == strlen(numbers[i]) && memcmp(params + at, numbers[i], run) == 0)
                return true;
        at += run + 1;
    }
    return false;
}

static bool is_one_of(char byte, const char *set)
{
    return byte && strchr(set, byte);
}

/* params is what lies between "ESC [" and the final byte. */
static bool is_drawing(const char *params, size_t length, char final)
{
    char last = length > 0 ? params[length - 1] : 0;

    if (last >= ' ' && last <= '/')
        return (last == ' ' && final == 'q') || (last == '!' && final == 'p') ||
               (last == '$' && is_one_of(final, "rtvxz"));
    if (length > 0 && params[0] == '?')
        return (is_one_of(final, "hl") && !names_screen(params + 1, length - 1)) ||
               is_one_of(final, "JK");
    if (length > 0 && params[0] >= '<' && params[0] <= '>')
        return false;
    return is_one_of(final, "@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu");
}

/* The length of the sequence that begins here; 0: it does not end. */
static size_t sequence_length(const char *bytes, size_t length, bool *ret_is_drawing)
{
    size_t end = 2;

    while (end < length && bytes[end] >= ' ' && bytes[end] <= '?')
        end++;
    if (end == length)
        return 0;
    *ret_is_drawing =
        bytes[end] >= '@' && bytes[end] <= '~' && is_drawing(bytes + 2, end - 2, bytes[end]);
    return end + 1;
}

/* The same of a title and its like. */
static size_t string_length(const char *bytes, size_t length)
{
    for (size_t end = 2; end < length; end++) {
        if ((bytes[end] == BEL && bytes[1] == ']') || bytes[end] == CAN || bytes[end] == SUB)
            return end + 1;
        if (bytes[end] == ESC)
            return end + 1 < length && bytes[end + 1] == '\\' ? end + 2 : end;
    }
    return 0;
}

static size_t escape_length(const char *bytes, size_t length, bool *ret_is_drawing)
{
    *ret_is_drawing = false;
    if (length < 2)
        return 0;
    if (bytes[1] == '[')
        return sequence_length(bytes, length, ret_is_drawing);
    if (is_one_of(bytes[1], "]PX^_"))
        return string_length(bytes, length);
    if (bytes[1] >= ' ' && bytes[1] <= '/') {
        *ret_is_drawing = is_one_of(bytes[1], "()*+-./#");
        return length < 3 ? 0 : 3;
    }
    *ret_is_drawing = is_one_of(bytes[1], "78DEHMNO=>no|}~");
    return 2;
}

bool drawn_again(const struct drawn *drawn, struct strbuf *out)
{
    const char *bytes = drawn->text.text;
    size_t length = drawn->text.length;
    size_t used;

    if (!drawn->is_whole)
        return false;
    strbuf_add(out, "\033[m\033[H\033[2J");
    for (size_t i = 0; i < length; i += used) {
        unsigned char byte = (unsigned char)bytes[i];
        bool is_kept = byte >= ' ' || is_one_of((char)byte, "\b\t\n\v\f\r\016\017");

        used = 1;
        if (byte == ESC)
            used = escape_length(bytes + i, length - i, &is_kept);
        /* What was begun and not ended is not there yet. */
        if (used == 0)
            break;
        /* Controls of eight bits are in nobody's output, but of who wants to be cunning. */
        if (byte == C1_LEAD && i + 1 < length && (unsigned char)bytes[i + 1] < 0xa0)
            return false;
        if (is_kept)
            strbuf_add_bytes(out, bytes + i, used);
    }
    return !out->failed;
}
