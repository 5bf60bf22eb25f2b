/* SPDX-License-Identifier: Apache-2.0 */
/* Text: what users wrote, and what is shown to them. */
#include "base/text.h"

#include "base/mutant.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_decode(const char *text, size_t length, uint32_t *ret_rune)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t rune;
    size_t need;

    if (bytes[0] < 0x80) {
        *ret_rune = bytes[0];
        return 1;
    }
    if (bytes[0] >= 0xf5 || bytes[0] < 0xc2)
        return 0;
    need = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (length < need)
        return 0;
    rune = bytes[0] & (0xffU >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        rune = rune << 6 | (bytes[i] & 0x3f);
    }
    if (rune < smallest[need] || rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff))
        return 0;
    *ret_rune = rune;
    return need;
}

/* SECURITY: a person must see what they are asked to judge. */
bool text_is_deceptive(uint32_t rune)
{
    /* Control characters, those that turn the direction or end a line, and all that Unicode says
     * is not shown at all (Default_Ignorable_Code_Point): with one of them a name looks like
     * another. */
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},
                  {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f},
                  {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},  {0x3164, 0x3164},
                  {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb},
                  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

    if (!LAYER("words") || (rune >= ' ' && rune <= '~'))
        return false;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (rune >= ranges[i].first && rune <= ranges[i].last)
            return true;
    return (rune & 0xfffe) == 0xfffe;
}

/* One character, shown. Returns how many bytes of the input it was. */
static size_t rune_show(char shown[static 16], const char *bytes, size_t length,
                        enum text_shape shape)
{
    uint32_t rune = 0;
    size_t used = text_decode(bytes, length, &rune);

    if (used == 0) {
        (void)snprintf(shown, 16, "\\x%02x", (unsigned char)bytes[0]);
        return 1;
    }
    if (shape == TEXT_LINES && (rune == '\n' || rune == '\t')) {
        (void)snprintf(shown, 16, "%c", (char)rune);
    } else if (!text_is_deceptive(rune)) {
        memcpy(shown, bytes, used);
        shown[used] = '\0';
    } else if (rune == '\n') {
        (void)snprintf(shown, 16, "\\n");
    } else if (rune == '\t') {
        (void)snprintf(shown, 16, "\\t");
    } else if (rune < 0x80) {
        (void)snprintf(shown, 16, "\\x%02x", rune);
    } else {
        (void)snprintf(shown, 16, "\\u{%x}", rune);
    }
    return used;
}

bool text_escape(char *out, size_t out_size, const char *bytes, size_t length,
                 enum text_shape shape)
{
    size_t used = 0;
    size_t safe = 0; /* the last place where "..." still fits */

    for (size_t i = 0; i < length;) {
        char shown[16];
        size_t shown_length;

        i += rune_show(shown, bytes + i, length - i, shape);
        shown_length = strlen(shown);
        if (used + shown_length + 1 > out_size) {
            if (out_size >= 4)
                memcpy(out + safe, "...", 4);
            else if (out_size > 0)
                out[0] = '\0';
            return false;
        }
        memcpy(out + used, shown, shown_length);
        used += shown_length;
        if (used + 4 <= out_size)
            safe = used;
    }
    if (out_size > 0)
        out[used] = '\0';
    return true;
}

char *text_escape_new(const char *bytes, size_t length, enum text_shape shape)
{
    struct strbuf out = {0};

    for (size_t i = 0; i < length;) {
        char shown[16];

        i += rune_show(shown, bytes + i, length - i, shape);
        strbuf_add(&out, shown);
    }
    return strbuf_take(&out);
}

bool text_is_utf8(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t rune;
        size_t used = text_decode(bytes + i, length - i, &rune);

        if (used == 0)
            return false;
        i += used;
    }
    return true;
}

bool text_parse_count(const char *text, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');

        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > max)
        return false;
    *ret_value = value;
    return true;
}

/* Splits "1.5 GiB" into thousandths and the unit behind it. */
static bool parse_amount(const char *text, uint64_t *ret_thousandths, const char **ret_unit)
{
    uint64_t whole = 0;
    uint64_t part = 0;
    unsigned scale = 1000;

    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++) {
        whole = whole * 10 + (uint64_t)(*text - '0');
        if (whole > UINT64_MAX / 1000000)
            return false;
    }
    if (*text == '.') {
        text++;
        if (!isdigit((unsigned char)*text))
            return false;
        for (; isdigit((unsigned char)*text); text++) {
            scale /= 10;
            part += (uint64_t)(*text - '0') * scale;
        }
    }
    while (*text == ' ')
        text++;
    *ret_thousandths = whole * 1000 + part;
    *ret_unit = text;
    return true;
}

bool text_parse_size(const char *text, uint64_t *ret_bytes)
{
    static const char letters[] = "KMGTP";
    uint64_t thousandths;
    const char *unit;
    const char *letter;
    unsigned shift = 0;

    if (!parse_amount(text, &thousandths, &unit))
        return false;
    if (*unit && strcmp(unit, "B") != 0) {
        letter = strchr(letters, toupper((unsigned char)*unit));
        if (!letter)
            return false;
        if (unit[1] && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0)
            return false;
        shift = 10 * (unsigned)(letter - letters + 1);
    }
    if (shift && thousandths > UINT64_MAX >> shift)
        return false;
    *ret_bytes = (thousandths << shift) / 1000;
    return true;
}

bool text_parse_seconds(const char *text, uint64_t *ret_seconds)
{
    static const struct {
        const char *unit;
        unsigned seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    uint64_t thousandths;
    const char *unit;

    if (!parse_amount(text, &thousandths, &unit))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].unit) != 0)
            continue;
        if (thousandths > UINT64_MAX / units[i].seconds)
            return false;
        *ret_seconds = thousandths * units[i].seconds / 1000;
        return true;
    }
    return false;
}

enum { WORD_MAX = 63 };

/* Edit distance (insert, delete, replace, swap of neighbours), case aside. */
static unsigned word_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned char rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned char *now = rows[i % 3];
        const unsigned char *before = rows[(i + 2) % 3];
        const unsigned char *earlier = rows[(i + 1) % 3];

        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= b_length; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            unsigned best = before[j - 1] + (same ? 0U : 1U);

            if (before[j] + 1U < best)
                best = before[j] + 1U;
            if (now[j - 1] + 1U < best)
                best = now[j - 1] + 1U;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                earlier[j - 2] + 1U < best)
                best = earlier[j - 2] + 1U;
            now[j] = (unsigned char)best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *text_nearest(const char *text, const char *const *words, size_t count)
{
    size_t length = strlen(text);
    const char *nearest = NULL;
    unsigned best = length < 3 ? 1 : (unsigned)length / 3 + 1;

    if (length > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t word_length = strlen(words[i]);
        unsigned distance;

        if (word_length > WORD_MAX)
            continue;
        distance = word_distance(text, length, words[i], word_length);
        if (distance < best || (distance == best && !nearest)) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

void text_unescape_octal(char *text)
{
    char *out = text;

    for (const char *in = text; *in; out++) {
        if (in[0] == '\\' && in[1] && in[1] <= '3' && strspn(in + 1, "01234567") >= 3) {
            *out = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
            in += 4;
        } else {
            *out = *in++;
        }
    }
    *out = '\0';
}

bool text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}
