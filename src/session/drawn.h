/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command has drawn on the other screen since it went there, kept so that it can be
 * drawn again: a terminal has no third screen to put a question on.
 *
 * How it works: the bytes themselves are the drawing. Drawn again, all is left out that is
 * not drawing: a question to the terminal would be answered once more, and the command
 * would take the answer for keys; titles, bells and the clipboard are no part of the screen.
 */
#ifndef SESSION_DRAWN_H
#define SESSION_DRAWN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum { DRAWN_BYTES = 256 * 1024 /* of what is more nothing is kept: the command draws anew */ };

struct drawn {
    struct strbuf text; /* "": nothing */
    bool is_whole;
};

/* The next output of the command, which is on the other screen at its end, or is not. */
void drawn_take(struct drawn *drawn, const char *bytes, size_t length, bool is_full_screen);
/* Adds what clears the screen and draws all of it again. False: it is not known. */
bool drawn_again(const struct drawn *drawn, struct strbuf *out);
void drawn_done(struct drawn *drawn);

/* Whether the bytes end within a character of UTF-8. */
bool drawn_is_cut(const char *bytes, size_t length);

#endif
