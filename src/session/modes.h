/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command switched on in the user's terminal and has not switched off:
 * the other screen, mouse reports, a hidden cursor. It is read from the output
 * as it passes, whatever pieces it comes in, so that it can be taken back when
 * the command is killed.
 */
#ifndef SESSION_MODES_H
#define SESSION_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODES_PARAMS = 32,      /* of one sequence; xterm reads no more */
    MODES_TEXT_BYTES = 512, /* room for what modes_leave and modes_enter write */
};

struct modes {
    uint8_t state; /* enum scan_state */
    char string;   /* what began the string: ']' ends with BEL too */
    char prefix;   /* of a control sequence: '?', '>', '<', '=' or 0 */
    char between;  /* its intermediate byte, or 0 */
    uint8_t params_count;
    uint16_t params[MODES_PARAMS];

    uint32_t changed;  /* bit n: row n of the table is not as it was */
    uint8_t key_depth; /* how often key reports were pushed */
    uint16_t key_flags;
    bool has_keypad, has_other_keys, has_style, has_colour, has_charset, has_region;
    uint16_t region[2]; /* its first and last line, where it has one */
};

void modes_scan(struct modes *modes, const char *bytes, size_t length);

/* Whether a sequence is begun and not ended. */
bool modes_is_within(const struct modes *modes);

/* Whether the command draws on the other screen. */
bool modes_is_full_screen(const struct modes *modes);

/* The bytes that bring the terminal back (0 when nothing is switched on), and those that switch
 * on again what a program that draws relies on. Return their count. */
size_t modes_leave(const struct modes *modes, char text[static MODES_TEXT_BYTES]);
size_t modes_enter(const struct modes *modes, char text[static MODES_TEXT_BYTES]);

/*
 * For somebody else who draws and reads keys for a while, on the other screen: entered by
 * ours where the command is not on it. The bytes that leave a plain terminal there, and
 * those that bring back what was. is_drawn: the command's own output was drawn again just
 * before, and has put the cursor where it belongs.
 */
size_t modes_lend(const struct modes *modes, char text[static MODES_TEXT_BYTES]);
size_t modes_take_back(const struct modes *modes, bool is_drawn,
                       char text[static MODES_TEXT_BYTES]);

#endif
