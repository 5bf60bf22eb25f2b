/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/glob.h"

#include <string.h>

/* Behind a class that opened at pattern[0] == '['; 0 when it is never closed. */
static size_t class_length(const char *pattern, size_t length)
{
    size_t i = 1;

    if (i < length && (pattern[i] == '!' || pattern[i] == '^'))
        i++;
    if (i < length && pattern[i] == ']') /* first in a class, ] is itself */
        i++;
    while (i < length && pattern[i] != ']') {
        if (pattern[i] == '\\')
            i++;
        i++;
    }
    return i < length ? i + 1 : 0;
}

const char *glob_classify(const char *pattern, size_t length, char *out, size_t *ret_length,
                          enum glob_kind *ret_kind)
{
    bool leading_star = false;
    bool wild = false;
    size_t used = 0;

    if (length == 2 && pattern[0] == '*' && pattern[1] == '*') {
        *ret_kind = GLOB_ANY_DEPTH;
        *ret_length = 0;
        out[0] = '\0';
        return NULL;
    }
    for (size_t i = 0; i < length; i++) {
        if (pattern[i] == '\\') {
            if (++i == length)
                return "a \\ at the end escapes nothing";
            out[used++] = pattern[i];
        } else if (pattern[i] == '[') {
            size_t skip = class_length(pattern + i, length - i);

            if (skip == 0)
                return "a [ without its ]";
            wild = true;
            i += skip - 1;
        } else if (pattern[i] == '*' && used == 0 && !wild) {
            leading_star = true; /* "***" is "*" */
        } else if (pattern[i] == '*' || pattern[i] == '?') {
            wild = true;
        } else {
            out[used++] = pattern[i];
        }
    }
    if (wild) {
        memcpy(out, pattern, length);
        used = length;
    }
    out[used] = '\0';
    *ret_length = used;
    *ret_kind = wild ? GLOB_GENERAL : leading_star ? GLOB_SUFFIX : GLOB_LITERAL;
    return NULL;
}

/* Whether a byte is in the class at pattern[0] == '['. */
static bool class_has(const char *pattern, size_t length, unsigned char byte)
{
    bool negated = pattern[1] == '!' || pattern[1] == '^';
    size_t i = negated ? 2 : 1;
    size_t end = length - 1; /* the closing ] */
    bool found = false;

    while (i < end) {
        unsigned char low;
        unsigned char high;

        if (pattern[i] == '\\' && i + 1 < end)
            i++;
        low = (unsigned char)pattern[i++];
        high = low;
        if (i + 1 < end && pattern[i] == '-') {
            i++;
            if (pattern[i] == '\\' && i + 1 < end)
                i++;
            high = (unsigned char)pattern[i++];
        }
        if (byte >= low && byte <= high)
            found = true;
    }
    return found != negated;
}

void glob_escape(struct strbuf *out, const char *path)
{
    while (*path) {
        size_t plain = strcspn(path, "*?[\\");

        strbuf_add_bytes(out, path, plain);
        path += plain;
        if (!*path)
            break;
        strbuf_add_bytes(out, "\\", 1);
        strbuf_add_bytes(out, path++, 1);
    }
}

/* Matches one byte against the element at pattern[at]. Returns the element's length, 0: no match.
 */
static size_t element_match(const char *pattern, size_t length, size_t at, char byte)
{
    size_t size;

    switch (pattern[at]) {
    case '?':
        return 1;
    case '[':
        size = class_length(pattern + at, length - at);
        return size && class_has(pattern + at, size, (unsigned char)byte) ? size : 0;
    case '\\':
        return at + 1 < length && pattern[at + 1] == byte ? 2 : 0;
    default:
        return pattern[at] == byte ? 1 : 0;
    }
}

bool glob_match(const char *pattern, size_t pattern_length, const char *name, size_t name_length)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = pattern_length; /* behind the last * seen, and how much of the name it has */
    size_t star_name = 0;
    bool have_star = false;

    while (n < name_length) {
        size_t step = 0;

        if (p < pattern_length && pattern[p] == '*') {
            have_star = true;
            star = ++p;
            star_name = n;
            continue;
        }
        if (p < pattern_length)
            step = element_match(pattern, pattern_length, p, name[n]);
        if (step) {
            p += step;
            n++;
        } else if (have_star) {
            /* Only the last star need ever take more: what it skips an earlier one could not. */
            p = star;
            n = ++star_name;
        } else {
            return false;
        }
    }
    while (p < pattern_length && pattern[p] == '*')
        p++;
    return p == pattern_length;
}
