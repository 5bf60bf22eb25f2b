/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON into a strbuf: commas, nesting and escapes are taken care of. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/strbuf.h"

#include <stdint.h>

/*
 * Values are added in order; inside an object each takes its key, inside an
 * array and at the top key is NULL. Bytes that are not UTF-8 are shown as \xNN
 * text, since JSON has no bytes.
 *
 *     json_open(&out, NULL, '{');
 *     json_put_string(&out, "path", path);
 *     json_open(&out, "rules", '[');
 *     json_close(&out, ']');
 *     json_close(&out, '}');
 */
void json_open(struct strbuf *out, const char *key, char bracket);
void json_close(struct strbuf *out, char bracket);
void json_put_string(struct strbuf *out, const char *key, const char *value); /* NULL: null */
/* The text of another strbuf; a failed allocation there is one here, never a null. */
void json_put_text(struct strbuf *out, const char *key, const struct strbuf *text);
void json_put_uint(struct strbuf *out, const char *key, uint64_t value);
void json_put_bool(struct strbuf *out, const char *key, bool value);
/* A document that is JSON already. */
void json_put_raw(struct strbuf *out, const char *key, const char *document);

/* {"error": {...}}, as every command prints it; complaints is a JSON array, or NULL. */
struct bawn_error;
void json_add_error(struct strbuf *out, const struct bawn_error *err, const char *complaints);
/* The same as one more member of an object. */
void json_put_error(struct strbuf *out, const struct bawn_error *err, const char *complaints);

/* A document as json_open and its like write it, laid out for people: one value a line. */
void json_add_pretty(struct strbuf *out, const char *document);

/*
 * The next member of an object whose text is ours: *at begins behind the bracket. Spans are of that
 * text; a string has its quotes. False: there is none, or what stands there is no JSON.
 */
struct json_member {
    const char *key, *value;
    size_t key_length, value_length;
};
bool json_next(const char **at, struct json_member *ret_member);
/* The same in an array: without a key. */
bool json_next_item(const char **at, struct json_member *ret_item);
bool json_is(const struct json_member *member, const char *key);
/* A value as one word: a string that is one loses its quotes. */
void json_add_word(struct strbuf *out, const char *value, size_t length);

/* The string alone, quoted, without a comma before it; and quoted for YAML, which writes characters
 * past U+FFFF in another way and all others in the same. */
void json_add_string(struct strbuf *out, const char *value);
void json_add_yaml(struct strbuf *out, const char *value);

#endif
