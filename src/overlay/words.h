/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of words, as the files of a layer are written: any bytes but NUL may be in a word. */
#ifndef OVERLAY_WORDS_H
#define OVERLAY_WORDS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Adds a word and the space behind it; strbuf_add(out, "\n") ends the line. */
void words_add(struct strbuf *out, const char *word);
void words_add_number(struct strbuf *out, uint64_t number);
void words_add_time(struct strbuf *out, struct timespec when);

/* The next line of a text, which is cut up; NULL at its end. A line that has no end is none: the
 * machine stopped while it was written. */
char *words_line(char **cursor);

/* Takes words off a line, in place. NULL or false: there is none, or it is none of that kind. */
char *words_next(char **line);
bool words_next_number(char **line, uint64_t *ret_number);
bool words_next_time(char **line, struct timespec *ret_when);

#endif
