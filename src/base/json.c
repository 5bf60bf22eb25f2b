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

/* How many bytes stand for themselves: nearly all of them do. */
static size_t count_plain(const char *value)
{
    size_t count = 0;

    while (value[count] >= ' ' && value[count] <= '~' && value[count] != '"' &&
           value[count] != '\\')
        count++;
    return count;
}

static void add_quoted(struct strbuf *out, const char *value, bool is_yaml)
{
    size_t length = strlen(value);

    strbuf_add_bytes(out, "\"", 1);
    while (length > 0) {
        uint32_t rune;
        size_t used = count_plain(value);
        bool is_plain = used > 0;

        if (!is_plain)
            used = text_decode(value, length, &rune);
        if (is_plain)
            strbuf_add_bytes(out, value, used);
        else if (used > 0)
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

/* Behind the string that begins there; NULL: it has no end. */
static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
        if (!*at)
            return NULL;
    }
    return at + 1;
}

static const char *skip_value(const char *at)
{
    size_t depth = 0;

    do {
        if (*at == '"')
            at = skip_string(at);
        else if (*at == '{' || *at == '[')
            depth++, at++;
        else if (*at == '}' || *at == ']')
            depth--, at++;
        else if (depth > 0 && *at)
            at++;
        else
            return strspn(at, "-+.0123456789eEtrufalsn")
                       ? at + strspn(at, "-+.0123456789eEtrufalsn")
                       : NULL;
    } while (at && depth > 0);
    return at;
}

/* What stands between values. */
static const char *skip_between(const char *at)
{
    return at + strspn(at, ", \t");
}

bool json_next_item(const char **at, struct json_member *ret_item)
{
    const char *value = skip_between(*at);
    const char *end = *value && *value != ']' && *value != '}' ? skip_value(value) : NULL;

    if (!end)
        return false;
    *ret_item = (struct json_member){.value = value, .value_length = (size_t)(end - value)};
    *at = end;
    return true;
}

bool json_next(const char **at, struct json_member *ret_member)
{
    const char *key = skip_between(*at);
    const char *end = *key == '"' ? skip_string(key) : NULL;
    const char *colon = end ? end + strspn(end, " \t") : "";

    if (*colon != ':')
        return false;
    *at = colon + 1;
    if (!json_next_item(at, ret_member))
        return false;
    ret_member->key = key + 1;
    ret_member->key_length = (size_t)(end - key) - 2;
    return true;
}

bool json_is(const struct json_member *member, const char *key)
{
    return strlen(key) == member->key_length && strncmp(member->key, key, member->key_length) == 0;
}

void json_add_word(struct strbuf *out, const char *value, size_t length)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:%";
    bool is_plain = length > 2 && *value == '"';

    for (size_t i = 1; is_plain && i + 1 < length; i++)
        is_plain = strchr(plain, value[i]) != NULL;
    if (is_plain)
        strbuf_add_bytes(out, value + 1, length - 2);
    else
        strbuf_add_bytes(out, value, length);
}
