/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that answer a question, read from a terminal's bytes.
 *
 * SECURITY: what is pasted is no key: nobody answers by a paste. Of sequences only
 * those of the arrows and their like are known; of all others nothing is left over that
 * could be taken for a letter.
 */
#ifndef BASE_KEY_H
#define BASE_KEY_H

#include <stdbool.h>
#include <stddef.h>

enum key {
    KEY_NONE = 0,
    /* Below 0x80: what was typed. */
    KEY_INTERRUPT = 3,
    KEY_REDRAW = 12,
    KEY_ENTER = 13,
    KEY_SUSPEND = 26,
    KEY_ESCAPE = 27,
    KEY_OTHER = 0x100, /* a key that means nothing here */
    KEY_UP,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
};

/* How long after an escape the rest of a sequence may come. */
enum { KEY_ESCAPE_MS = 100, KEY_SEQUENCE_BYTES = 16 };

struct key_reader {
    unsigned char state; /* enum of key.c */
    bool is_pasted;
    char sequence[KEY_SEQUENCE_BYTES]; /* what is between its beginning and its end */
    size_t count;
    size_t matched; /* of the end of a paste */
};

/* What the byte completes; KEY_NONE: more is needed. */
enum key key_take(struct key_reader *keys, char byte);
/* Whether an escape waits for what follows it; and that nothing did, for KEY_ESCAPE_MS. */
bool key_is_open(const struct key_reader *keys);
enum key key_end(struct key_reader *keys);

/* What makes a terminal tell pastes apart, and what takes that back. */
#define KEY_BEGIN "\033[?2004h"
#define KEY_LEAVE "\033[?2004l"

#endif
