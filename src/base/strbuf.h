/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows. A failed allocation sticks: the text ends up NULL, and is checked once, at the
 * end. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *text; /* NUL-terminated once anything was added */
    size_t length;
    size_t size;
    bool failed;
};

void strbuf_done(struct strbuf *buf);
void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_bytes(struct strbuf *buf, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void strbuf_addf(struct strbuf *buf, const char *format, ...);

/* Adds the bytes made printable on one line. */
void strbuf_add_escaped(struct strbuf *buf, const char *bytes);

/* Gives the text away ("" when nothing was added). NULL when an allocation failed. */
char *strbuf_take(struct strbuf *buf);

struct bawn_error;
/* Gives the text away as the result of a call: 0, or -ENOMEM with its message. */
int strbuf_give(struct strbuf *buf, char **ret_text, struct bawn_error *err);

#define autostrbuf __attribute__((cleanup(strbuf_done)))

#endif
