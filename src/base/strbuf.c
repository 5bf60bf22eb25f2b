/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_done(struct strbuf *buf)
{
    free(buf->text);
    memset(buf, 0, sizeof(*buf));
}

static bool strbuf_reserve(struct strbuf *buf, size_t more)
{
    size_t need = buf->length + more + 1;
    size_t size = buf->size ? buf->size : 64;
    char *text;

    if (buf->failed || need < more || need > SIZE_MAX / 2) {
        buf->failed = true;
        return false;
    }
    if (need <= buf->size)
        return true;
    while (size < need)
        size *= 2;
    text = realloc(buf->text, size);
    if (!text) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->size = size;
    return true;
}

void strbuf_add_bytes(struct strbuf *buf, const char *bytes, size_t length)
{
    if (!strbuf_reserve(buf, length))
        return;
    if (length)
        memcpy(buf->text + buf->length, bytes, length);
    buf->length += length;
    buf->text[buf->length] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *text)
{
    strbuf_add_bytes(buf, text, strlen(text));
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    size_t room;
    int length;

    if (!strbuf_reserve(buf, 0))
        return;
    /* Mostly there is room, and one look at the format is enough. */
    room = buf->size - buf->length;
    va_start(args, format);
    length = vsnprintf(buf->text + buf->length, room, format, args);
    va_end(args);
    if (length < 0 || !strbuf_reserve(buf, (size_t)length)) {
        buf->text[buf->length] = '\0';
        buf->failed = true;
        return;
    }
    if ((size_t)length >= room) {
        va_start(args, format);
        (void)vsnprintf(buf->text + buf->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    buf->length += (size_t)length;
}

void strbuf_add_escaped(struct strbuf *buf, const char *bytes)
{
    autofree char *shown = text_escape_new(bytes, strlen(bytes), TEXT_ONE_LINE);

    if (shown)
        strbuf_add(buf, shown);
    else
        buf->failed = true;
}

char *strbuf_take(struct strbuf *buf)
{
    char *text;

    strbuf_add_bytes(buf, "", 0);
    text = buf->failed ? NULL : take_ptr(&buf->text);
    strbuf_done(buf);
    return text;
}

int strbuf_give(struct strbuf *buf, char **ret_text, struct bawn_error *err)
{
    *ret_text = strbuf_take(buf);
    return *ret_text ? 0 : error_memory(err);
}
