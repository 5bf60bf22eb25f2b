/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from anywhere made safe to show; sizes and times read from text; the nearest known word. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum text_shape {
    TEXT_ONE_LINE, /* newlines and tabs are escaped too */
    TEXT_LINES,    /* newlines and tabs stay */
};

/*
 * Writes the bytes as printable UTF-8: control characters, the C1 range, bidi
 * and zero-width characters, line separators and bytes that are not UTF-8
 * become \xNN or \u{N}. Always ends with NUL; what does not fit is cut
 * before a character and ends in "...". Returns false when it was cut.
 */
bool text_escape(char *out, size_t out_size, const char *bytes, size_t length,
                 enum text_shape shape);

/* The same, in memory of its own: NULL when out of memory. */
char *text_escape_new(const char *bytes, size_t length, enum text_shape shape);

/* Decodes one character. Returns its length in bytes, 0 when it is not valid UTF-8. */
size_t text_decode(const char *text, size_t length, uint32_t *ret_rune);

/* Whether a character hides, reorders or breaks the text around it. */
bool text_is_deceptive(uint32_t rune);

/* Whether the bytes are valid UTF-8. */
bool text_is_utf8(const char *bytes, size_t length);

/* \040 and the like, as the kernel writes spaces in lists of mounts, become what they stand for. */
void text_unescape_octal(char *text);

/* "64", "64K", "2G", "1.5 GiB": powers of 1024. False when it is no size or too large. */
bool text_parse_size(const char *text, uint64_t *ret_bytes);

/* "90", "90s", "10m", "2h", "1d" in seconds. */
bool text_parse_seconds(const char *text, uint64_t *ret_seconds);

/* Decimal digits only, at most max. */
bool text_parse_count(const char *text, uint64_t max, uint64_t *ret_value);

/* The word nearest to text by edit distance, or NULL when none is near enough to be meant. */
const char *text_nearest(const char *text, const char *const *words, size_t count);

bool text_ends_with(const char *text, const char *end);

#endif
