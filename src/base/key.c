/* SPDX-License-Identifier: Apache-2.0 */
#include "base/key.h"

#include <stdlib.h>
#include <string.h>

enum state { PLAIN, ESCAPED, SEQUENCE, SINGLE };

enum { ESC = 27, SHIFTED_MOST = 2 };

static const char paste_end[] = "\033[201~";

/* "N;MODIFIERS": a key by its number, where it is one that is typed without a modifier or with
 * shift; so that Alt-o is not o. */
static enum key numbered(const char *sequence)
{
    char *end;
    unsigned long number = strtoul(sequence, &end, 10);
    unsigned long modifiers = 1;

    if (*end == ';')
        modifiers = strtoul(end + 1, &end, 10);
    if (*end != '\0')
        return KEY_OTHER;
    if (modifiers == 5 && (number == 'c' || number == 'z' || number == 'l'))
        return (enum key)(number & 0x1f);
    if (modifiers > SHIFTED_MOST || number >= 0x7f || number == 0)
        return KEY_OTHER;
    if (modifiers == SHIFTED_MOST && number >= 'a' && number <= 'z')
        number -= 'a' - 'A';
    return (enum key)number;
}

static enum key end_sequence(struct key_reader *keys, char final)
{
    const char *sequence = keys->sequence;

    keys->state = PLAIN;
    keys->sequence[keys->count < sizeof(keys->sequence) ? keys->count : 0] = '\0';
    if (keys->count == sizeof(keys->sequence))
        return KEY_OTHER;
    switch (final) {
    case 'A':
        return keys->count ? KEY_OTHER : KEY_UP;
    case 'B':
        return keys->count ? KEY_OTHER : KEY_DOWN;
    case 'H':
        return keys->count ? KEY_OTHER : KEY_HOME;
    case 'F':
        return keys->count ? KEY_OTHER : KEY_END;
    case 'u':
        return numbered(sequence);
    case '~':
        keys->is_pasted = strcmp(sequence, "200") == 0;
        if (keys->is_pasted)
            return KEY_NONE;
        return strcmp(sequence, "5") == 0   ? KEY_PAGE_UP
               : strcmp(sequence, "6") == 0 ? KEY_PAGE_DOWN
               : strcmp(sequence, "1") == 0 ? KEY_HOME
               : strcmp(sequence, "4") == 0 ? KEY_END
                                            : KEY_OTHER;
    default:
        return KEY_OTHER;
    }
}

static enum key take_pasted(struct key_reader *keys, char byte)
{
    if (byte == paste_end[keys->matched])
        keys->matched++;
    else
        keys->matched = byte == paste_end[0];
    if (keys->matched < sizeof(paste_end) - 1)
        return KEY_NONE;
    keys->matched = 0;
    keys->is_pasted = false;
    return KEY_OTHER;
}

static enum key take_plain(struct key_reader *keys, char byte)
{
    if (byte == ESC) {
        keys->state = ESCAPED;
        return KEY_NONE;
    }
    if (byte == '\n')
        return KEY_ENTER;
    return byte > 0 ? (enum key)byte : KEY_OTHER;
}

enum key key_take(struct key_reader *keys, char byte)
{
    if (keys->is_pasted)
        return take_pasted(keys, byte);
    switch ((enum state)keys->state) {
    case PLAIN:
        return take_plain(keys, byte);
    case ESCAPED:
        if (byte == ESC)
            return KEY_ESCAPE;
        keys->state = byte == '[' ? SEQUENCE : byte == 'O' ? SINGLE : PLAIN;
        keys->count = 0;
        /* A letter with Alt is another key. */
        return keys->state == PLAIN ? KEY_OTHER : KEY_NONE;
    case SINGLE:
        return end_sequence(keys, byte);
    case SEQUENCE:
        break;
    }
    if (byte == ESC) {
        keys->state = ESCAPED;
        return KEY_OTHER;
    }
    if (byte >= '@' && byte <= '~')
        return end_sequence(keys, byte);
    if (keys->count < sizeof(keys->sequence))
        keys->sequence[keys->count++] = byte;
    return KEY_NONE;
}

bool key_is_open(const struct key_reader *keys)
{
    return keys->state != PLAIN;
}

enum key key_end(struct key_reader *keys)
{
    bool is_escape = keys->state == ESCAPED;

    keys->state = PLAIN;
    return is_escape ? KEY_ESCAPE : KEY_OTHER;
}
