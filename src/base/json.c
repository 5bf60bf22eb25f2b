/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

void json_add_string(struct strbuf *out, const char *value)
{
    size_t length = strlen(value);
    autofree char *shown = NULL;

    if (!text_is_utf8(value, length)) {
        shown = text_escape_new(value, length, TEXT_LINES);
        if (!shown) {
            out->failed = true;
            return;
        }
        value = shown;
    }
    strbuf_add_bytes(out, "\"", 1);
    for (; *value; value++) {
        unsigned char byte = (unsigned char)*value;

        if (byte == '"' || byte == '\\')
            strbuf_addf(out, "\\%c", byte);
        else if (byte == '\n')
            strbuf_add(out, "\\n");
        else if (byte < 0x20 || byte == 0x7f)
            strbuf_addf(out, "\\u%04x", byte);
        else
            strbuf_add_bytes(out, value, 1);
    }
    strbuf_add_bytes(out, "\"", 1);
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
