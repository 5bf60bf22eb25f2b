/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/words.h"

#include "base/text.h"

#include <string.h>

void words_add(struct strbuf *out, const char *word)
{
    /* A "%" alone is the empty word. */
    if (!*word)
        strbuf_add(out, "%");
    for (const char *at = word; *at; at++) {
        unsigned char byte = (unsigned char)*at;

        if (byte > ' ' && byte < 0x7f && byte != '%')
            strbuf_add_bytes(out, at, 1);
        else
            strbuf_addf(out, "%%%02x", byte);
    }
    strbuf_add(out, " ");
}

void words_add_number(struct strbuf *out, uint64_t number)
{
    strbuf_addf(out, "%llu ", (unsigned long long)number);
}

void words_add_time(struct strbuf *out, struct timespec when)
{
    /* Before 1970 seconds are negative: kept as the bits that they are. */
    words_add_number(out, (uint64_t)when.tv_sec);
    words_add_number(out, (uint64_t)when.tv_nsec);
}

char *words_line(char **cursor)
{
    char *line = *cursor, *end = strchr(line, '\n');

    if (!end)
        return NULL;
    *end = '\0';
    *cursor = end + 1;
    return line;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

char *words_next(char **line)
{
    char *word = *line, *to = word, *end = strchr(word, ' ');

    if (!end || end == word)
        return NULL;
    *end = '\0';
    *line = end + 1;
    if (strcmp(word, "%") == 0) {
        *word = '\0';
        return word;
    }
    for (const char *at = word; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        if (hex_value(at[1]) < 0 || hex_value(at[2]) < 0)
            return NULL;
        *to++ = (char)(hex_value(at[1]) * 16 + hex_value(at[2]));
        at += 2;
    }
    *to = '\0';
    return word;
}

bool words_next_number(char **line, uint64_t *ret_number)
{
    const char *word = words_next(line);

    return word && text_parse_count(word, UINT64_MAX, ret_number);
}

bool words_next_time(char **line, struct timespec *ret_when)
{
    uint64_t seconds, nanoseconds;

    if (!words_next_number(line, &seconds) || !words_next_number(line, &nanoseconds) ||
        nanoseconds >= 1000000000)
        return false;
    *ret_when = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)nanoseconds};
    return true;
}
