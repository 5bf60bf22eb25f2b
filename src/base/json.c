/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <bawn/error.h>

#include "base/text.h"

#include <string.h>

/* One character, escaped where JSON wants it or where a terminal would misread it. */
static void add_rune(struct strbuf *out, const char *bytes, size_t length, uint32_t rune,
                     bool is_yaml)
{
    if (rune == '"' || rune == '\\')
        strbuf_addf(out, "\\%c", (char)rune);
    else if (rune == '\n')
        strbuf_add(out, "\\n");
    else if (!text_is_deceptive(rune))
        strbuf_add_bytes(out, bytes, length);
    else if (rune < 0x10000)
        strbuf_addf(out, "\\u%04x", rune);
    else if (is_yaml)
        strbuf_addf(out, "\\U%08x", rune);
    else
        strbuf_addf(out, "\\u%04x\\u%04x", 0xd800 + ((rune - 0x10000) >> 10),
                    0xdc00 + ((rune - 0x10000) & 0x3ff));
}

static void add_quoted(struct strbuf *out, const char *value, bool is_yaml)
{
    size_t length = strlen(value);

    strbuf_add_bytes(out, "\"", 1);
    while (length > 0) {
        uint32_t rune;
        size_t used = text_decode(value, length, &rune);

        if (used > 0)
            add_rune(out, value, used, rune, is_yaml);
        else
            strbuf_addf(out, "\\\\x%02x", (unsigned char)*value);
        used += used == 0;
        value += used;
        length -= used;
    }
    strbuf_add_bytes(out, "\"", 1);
}

void json_add_string(struct strbuf *out, const char *value)
{
    add_quoted(out, value, false);
}

void json_add_yaml(struct strbuf *out, const char *value)
{
    add_quoted(out, value, true);
}

/* What stands before a value: a comma unless it is the first, and its key. */
static void json_begin(struct strbuf *out, const char *key)
{
    char last = out->length ? out->text[out->length - 1] : '\0';

    if (last && last != '{' && last != '[' && last != '\n')
        strbuf_add(out, ", ");
    if (key) {
        json_add_string(out, key);
        strbuf_add(out, ": ");
    }
}

void json_open(struct strbuf *out, const char *key, char bracket)
{
    json_begin(out, key);
    strbuf_add_bytes(out, &bracket, 1);
}

void json_close(struct strbuf *out, char bracket)
{
    strbuf_add_bytes(out, &bracket, 1);
}

void json_put_string(struct strbuf *out, const char *key, const char *value)
{
    json_begin(out, key);
    if (value)
        json_add_string(out, value);
    else
        strbuf_add(out, "null");
}

void json_put_text(struct strbuf *out, const char *key, const struct strbuf *text)
{
    json_put_string(out, key, text->text ? text->text : "");
    out->failed = out->failed || text->failed;
}

void json_put_uint(struct strbuf *out, const char *key, uint64_t value)
{
    json_begin(out, key);
    strbuf_addf(out, "%llu", (unsigned long long)value);
}

void json_put_bool(struct strbuf *out, const char *key, bool value)
{
    json_begin(out, key);
    strbuf_add(out, value ? "true" : "false");
}

void json_put_raw(struct strbuf *out, const char *key, const char *document)
{
    json_begin(out, key);
    strbuf_add(out, document);
}

static void add_break(struct strbuf *out, size_t depth)
{
    strbuf_addf(out, "\n%*s", (int)depth * 2, "");
}

void json_add_pretty(struct strbuf *out, const char *document)
{
    size_t depth = 0;

    while (*document) {
        size_t length = 1;

        if (*document == '"') {
            while (document[length] && document[length] != '"')
                length += document[length] == '\\' ? 2 : 1;
            length++;
        }
        if (strchr("{[", *document) && strchr("}]", document[1]))
            length = 2; /* empty: on one line */
        else if (strchr("}]", *document))
            add_break(out, --depth);
        if (*document == '\n')
            break;
        strbuf_add_bytes(out, document, length);
        if (length == 1 && strchr("{[", *document))
            add_break(out, ++depth);
        if (*document == ',') {
            add_break(out, depth);
            length += document[1] == ' ';
        }
        document += length;
    }
    strbuf_add(out, "\n");
}

void json_add_error(struct strbuf *out, const struct bawn_error *err, const char *complaints)
{
    json_open(out, NULL, '{');
    json_put_error(out, err, complaints);
    json_close(out, '}');
}

void json_put_error(struct strbuf *out, const struct bawn_error *err, const char *complaints)
{
    json_open(out, "error", '{');
    json_put_string(out, "code", err->code);
    json_put_string(out, "message", err->message);
    json_put_string(out, "hint", err->hint);
    if (complaints)
        json_put_raw(out, "complaints", complaints);
    json_close(out, '}');
}
