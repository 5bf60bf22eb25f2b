/* SPDX-License-Identifier: Apache-2.0 */
#include "session/modes.h"

#include <stdarg.h>
#include <stdio.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

enum scan_state {
    SCAN_TEXT,
    SCAN_C1,       /* after the first byte of a C1 control in UTF-8 */
    SCAN_ESCAPE,   /* after ESC */
    SCAN_CHARSET,  /* after ESC and an intermediate byte */
    SCAN_SEQUENCE, /* after ESC [ */
    SCAN_STRING,   /* a title, a device's string: up to its end nothing is shown */
};

enum { ORIGIN = 6, MODES_LINES_MOST = 9999 };
enum { BEL = 7, SO = 14, SI = 15, CAN = 24, SUB = 26, ESC = 27, DEL = 127, C1_LEAD = 0xc2 };

/* In the order in which they are taken back: the screen after what belongs to it. */
static const struct mode {
    uint16_t number;
    bool is_public; /* without '?' */
    bool is_on;     /* as a terminal starts */
    bool is_screen; /* leaving one of them leaves all */
} mode_table[] = {
    {.number = 9},
    {.number = 1000},
    {.number = 1001},
    {.number = 1002},
    {.number = 1003},
    {.number = 1004},
    {.number = 1005},
    {.number = 1006},
    {.number = 1015},
    {.number = 1016},
    {.number = 2004},
    {.number = 2026},
    {.number = 1},
    {.number = 5},
    {.number = 6},
    {.number = 4, .is_public = true},
    {.number = 47, .is_screen = true},
    {.number = 1047, .is_screen = true},
    {.number = 1049, .is_screen = true},
    {.number = 7, .is_on = true},
    {.number = 25, .is_on = true},
};
_Static_assert(ARRAY_LENGTH(mode_table) <= 32, "a bit for each");

static void leave_screen(struct modes *modes)
{
    for (size_t i = 0; i < ARRAY_LENGTH(mode_table); i++)
        if (mode_table[i].is_screen)
            modes->changed &= ~(1U << i);
}

static void note_mode(struct modes *modes, uint16_t number, bool turned_on)
{
    for (size_t i = 0; i < ARRAY_LENGTH(mode_table); i++) {
        const struct mode *mode = &mode_table[i];

        if (mode->number != number || mode->is_public != (modes->prefix == 0))
            continue;
        if (mode->is_screen && !turned_on)
            leave_screen(modes);
        if (turned_on != mode->is_on)
            modes->changed |= 1U << i;
        else
            modes->changed &= ~(1U << i);
    }
}

/* Key reports: a stack of flags that programs push and pop. */
static void note_keys(struct modes *modes)
{
    uint16_t first = modes->params[0];

    if (modes->prefix == '>' && modes->key_depth < UINT8_MAX) {
        modes->key_depth++;
        modes->key_flags = first;
    } else if (modes->prefix == '<') {
        uint16_t popped = first ? first : 1;

        modes->key_depth = popped < modes->key_depth ? (uint8_t)(modes->key_depth - popped) : 0;
    } else if (modes->prefix == '=') {
        modes->key_flags = first;
        if (first && modes->key_depth == 0)
            modes->key_depth = 1;
    }
}

static bool has_params(const struct modes *modes)
{
    for (size_t i = 0; i < modes->params_count; i++)
        if (modes->params[i])
            return true;
    return false;
}

static void end_sequence(struct modes *modes, char final)
{
    modes->state = SCAN_TEXT;
    if (modes->between) {
        if (modes->between == ' ' && final == 'q')
            modes->has_style = has_params(modes);
        return;
    }
    if (final == 'u')
        note_keys(modes);
    if ((final == 'h' || final == 'l') && (modes->prefix == '?' || modes->prefix == 0))
        for (size_t i = 0; i < modes->params_count; i++)
            note_mode(modes, modes->params[i], final == 'h');
    if (final == 'm' && modes->prefix == '>' && modes->params[0] == 4)
        modes->has_other_keys = modes->params_count > 1 && modes->params[1];
    if (final == 'm' && modes->prefix == 0)
        modes->has_colour = has_params(modes);
    if (final == 'r' && modes->prefix == 0) {
        modes->has_region = has_params(modes);
        modes->region[0] = modes->params[0];
        modes->region[1] = modes->params_count > 1 ? modes->params[1] : 0;
    }
}

static void begin_sequence(struct modes *modes)
{
    modes->state = SCAN_SEQUENCE;
    modes->prefix = modes->between = 0;
    modes->params_count = 1;
    modes->params[0] = 0;
}

static void scan_sequence(struct modes *modes, char byte)
{
    if (byte >= '0' && byte <= '9') {
        unsigned value = modes->params[modes->params_count - 1] * 10U + (unsigned)(byte - '0');

        modes->params[modes->params_count - 1] =
            value < UINT16_MAX ? (uint16_t)value : (uint16_t)UINT16_MAX;
    } else if (byte == ';' || byte == ':') {
        /* One more than the terminal reads goes to the last. */
        if (modes->params_count < MODES_PARAMS)
            modes->params_count++;
        modes->params[modes->params_count - 1] = 0;
    } else if (byte >= '<' && byte <= '?') {
        modes->prefix = byte;
    } else if (byte >= ' ' && byte <= '/') {
        modes->between = byte;
    } else if (byte >= '@' && byte <= '~') {
        end_sequence(modes, byte);
    }
}

static void scan_escape(struct modes *modes, char byte)
{
    modes->state = SCAN_TEXT;
    switch (byte) {
    case '[':
        begin_sequence(modes);
        break;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        modes->state = SCAN_STRING;
        modes->string = byte;
        break;
    case 'c': /* reset to the initial state */
        *modes = (struct modes){0};
        break;
    case '=':
    case '>':
        modes->has_keypad = byte == '=';
        break;
    default:
        if (byte >= ' ' && byte <= '/') {
            modes->state = SCAN_CHARSET;
            modes->between = byte;
        }
    }
}

static void scan_byte(struct modes *modes, unsigned char byte)
{
    if (byte == ESC) {
        modes->state = SCAN_ESCAPE;
        return;
    }
    if (byte == CAN || byte == SUB) {
        modes->state = SCAN_TEXT;
        return;
    }
    switch ((enum scan_state)modes->state) {
    case SCAN_TEXT:
        if (byte == C1_LEAD)
            modes->state = SCAN_C1;
        else if (byte == SO || byte == SI)
            modes->has_charset = byte == SO;
        break;
    case SCAN_C1:
        modes->state = SCAN_TEXT;
        if (byte >= 0x80 && byte < 0xa0)
            scan_escape(modes, (char)(byte - 0x40));
        break;
    case SCAN_ESCAPE:
        if (byte >= ' ' && byte < DEL)
            scan_escape(modes, (char)byte);
        break;
    case SCAN_CHARSET:
        if (modes->between == '(' && byte >= '0')
            modes->has_charset = byte != 'B';
        if (byte >= '0')
            modes->state = SCAN_TEXT;
        break;
    case SCAN_SEQUENCE:
        if (byte < DEL)
            scan_sequence(modes, (char)byte);
        break;
    case SCAN_STRING:
        if (byte == BEL && modes->string == ']')
            modes->state = SCAN_TEXT;
        break;
    }
}

void modes_scan(struct modes *modes, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        /* Nearly all there is. */
        if (modes->state == SCAN_TEXT && byte >= ' ' && byte != C1_LEAD)
            continue;
        scan_byte(modes, byte);
    }
}

bool modes_is_within(const struct modes *modes)
{
    return modes->state != SCAN_TEXT;
}

bool modes_is_full_screen(const struct modes *modes)
{
    for (size_t i = 0; i < ARRAY_LENGTH(mode_table); i++)
        if (mode_table[i].is_screen && modes->changed & 1U << i)
            return true;
    return false;
}

__attribute__((format(printf, 3, 4))) static void put(char *text, size_t *used, const char *format,
                                                      ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text + *used, MODES_TEXT_BYTES - *used, format, arguments);
    va_end(arguments);
    /* Half a sequence would be worse than none. */
    if (length > 0 && (size_t)length < MODES_TEXT_BYTES - *used)
        *used += (size_t)length;
}

/* But for those that are left alone. */
static void put_some(const struct modes *modes, char *text, size_t *used, bool entering,
                     uint32_t alone)
{
    for (size_t i = 0; i < ARRAY_LENGTH(mode_table); i++) {
        const struct mode *mode = &mode_table[i];

        if (modes->changed & ~alone & 1U << i)
            put(text, used, "\033[%s%u%c", mode->is_public ? "" : "?", mode->number,
                entering != mode->is_on ? 'h' : 'l');
    }
}

static void put_table(const struct modes *modes, char *text, size_t *used, bool entering)
{
    put_some(modes, text, used, entering, 0);
}

size_t modes_leave(const struct modes *modes, char text[static MODES_TEXT_BYTES])
{
    size_t used = 0;

    /* A sequence or a title that was begun would swallow all that comes after it. */
    if (modes->state != SCAN_TEXT)
        put(text, &used, "%c", CAN);
    if (modes->has_colour)
        put(text, &used, "\033[m");
    if (modes->has_charset)
        put(text, &used, "\033(B%c", SI);
    if (modes->key_depth)
        put(text, &used, "\033[<%uu", modes->key_depth);
    if (modes->has_other_keys)
        put(text, &used, "\033[>4m");
    if (modes->has_keypad)
        put(text, &used, "\033>");
    if (modes->has_style)
        put(text, &used, "\033[0 q");
    /* Setting the region moves the cursor. */
    if (modes->has_region)
        put(text, &used, "\0337\033[r\0338");
    put_table(modes, text, &used, false);
    return used;
}

size_t modes_enter(const struct modes *modes, char text[static MODES_TEXT_BYTES])
{
    size_t used = 0;

    put_table(modes, text, &used, true);
    if (modes->has_keypad)
        put(text, &used, "\033=");
    if (modes->has_other_keys)
        put(text, &used, "\033[>4;2m");
    if (modes->key_depth)
        put(text, &used, "\033[>%uu", modes->key_flags);
    return used;
}

/* The screens, and with them what moves the cursor. */
static uint32_t screen_bits(bool with_origin)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < ARRAY_LENGTH(mode_table); i++) {
        if (mode_table[i].is_screen ||
            (with_origin && mode_table[i].number == ORIGIN && !mode_table[i].is_public))
            bits |= 1U << i;
    }
    return bits;
}

size_t modes_lend(const struct modes *modes, char text[static MODES_TEXT_BYTES])
{
    bool is_ours = !modes_is_full_screen(modes);
    size_t used = 0;

    if (modes->state != SCAN_TEXT)
        put(text, &used, "%c", CAN);
    /* With it the cursor and its colours are kept. */
    if (is_ours)
        put(text, &used, "\033[?1049h");
    put(text, &used, "\033[m\033(B%c", SI);
    /* The other screen has reports of its own. */
    if (modes->key_depth && !is_ours)
        put(text, &used, "\033[<%uu", modes->key_depth);
    if (modes->has_other_keys)
        put(text, &used, "\033[>4m");
    if (modes->has_keypad)
        put(text, &used, "\033>");
    if (modes->has_region)
        put(text, &used, "\033[r");
    put_some(modes, text, &used, false, screen_bits(false));
    return used;
}

size_t modes_take_back(const struct modes *modes, bool is_drawn, char text[static MODES_TEXT_BYTES])
{
    bool is_ours = !modes_is_full_screen(modes);
    size_t used = 0;

    if (!is_drawn)
        put(text, &used, "\033[m");
    if (modes->has_keypad)
        put(text, &used, "\033=");
    if (modes->has_other_keys)
        put(text, &used, "\033[>4;2m");
    if (modes->key_depth && !is_ours)
        put(text, &used, "\033[>%uu", modes->key_flags);
    if (modes->has_region && !is_drawn)
        put(text, &used, "\033[%u;%ur", modes->region[0] ? modes->region[0] : 1U,
            modes->region[1] ? modes->region[1] : MODES_LINES_MOST);
    put_some(modes, text, &used, true, screen_bits(is_drawn));
    if (is_ours)
        put(text, &used, "\033[?1049l");
    return used;
}
