/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: the entry point, the way to fail, and input taken in pieces. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each target defines this one. It returns 0, always. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process when an invariant does not hold; unlike assert it is always compiled in. */
#define fuzz_require(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/*
 * Input as lines: text that a person can write and read serves as a corpus
 * better than packed numbers. A line never contains NUL.
 */
struct fuzz_lines {
    char *text; /* owned; the lines point into it */
    char *next; /* NULL: at the end */
};

static inline struct fuzz_lines fuzz_lines_begin(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = {.text = malloc(size + 1)};

    fuzz_require(lines.text);
    for (size_t i = 0; i < size; i++)
        lines.text[i] = data[i] ? (char)data[i] : '\n';
    lines.text[size] = '\0';
    lines.next = lines.text;
    return lines;
}

/* The next line without its newline, or NULL. */
static inline char *fuzz_line(struct fuzz_lines *lines)
{
    char *line = lines->next;
    char *end = line ? strchr(line, '\n') : NULL;

    lines->next = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return line;
}

static inline void fuzz_lines_end(struct fuzz_lines *lines)
{
    free(lines->text);
}

/* Splits "FIRST REST" at the first space; NULL when there is none. */
static inline char *fuzz_split(char *line)
{
    char *space = strchr(line, ' ');

    if (!space)
        return NULL;
    *space = '\0';
    return space + 1;
}

/* Absolute, no empty component, no "." and "..", no final slash. */
static inline bool fuzz_is_normal(const char *path)
{
    if (*path != '/')
        return false;
    if (path[1] == '\0')
        return true;
    while (*path == '/') {
        size_t length = strcspn(++path, "/");

        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += length;
    }
    return true;
}

/* Whether known inputs are run again, rather than new ones looked for. */
extern bool fuzz_is_replay;

/* A document of a format, through all that is done with one. */
void fuzz_policy(enum config_format format, const uint8_t *data, size_t size);

#endif
