/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/fold.h"

#include <stdint.h>
#include <string.h>

/* What folds to ASCII though it is not: by Unicode's full case folding and canonical decomposition,
 * which ext4, f2fs and tmpfs use. */
static const struct {
    uint32_t code;
    const char *text;
} letters[] = {
    {0x00df, "ss"},  {0x017f, "s"},  {0x1e9e, "ss"}, {0x1fef, "`"},  {0x212a, "k"},
    {0x037e, ";"},   {0xfb00, "ff"}, {0xfb01, "fi"}, {0xfb02, "fl"}, {0xfb03, "ffi"},
    {0xfb04, "ffl"}, {0xfb05, "st"}, {0xfb06, "st"},
};

/* Passed over when names are compared: Unicode's Default_Ignorable_Code_Point. */
static const struct {
    uint32_t first, last;
} ignored[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* The length of the sequence at the start of the bytes; 1 for what is none. */
static size_t decode(const unsigned char *bytes, size_t length, uint32_t *ret_code)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : bytes[0] >= 0xc0 ? 2 : 1;

    *ret_code = bytes[0];
    if (size == 1 || size > length)
        return 1;
    *ret_code = (uint32_t)(bytes[0] - marks[size]);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            *ret_code = bytes[0];
            return 1;
        }
        *ret_code = *ret_code << 6 | (bytes[i] & 0x3f);
    }
    return size;
}

/* What a sequence becomes, or NULL: itself. */
static const char *folded(uint32_t code)
{
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (letters[i].code == code)
            return letters[i].text;
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        if (code >= ignored[i].first && code <= ignored[i].last)
            return "";
    return NULL;
}

size_t fold_name(const char *name, size_t length, char *out)
{
    const unsigned char *bytes = (const unsigned char *)name;
    size_t written = 0;

    for (size_t i = 0; i < length;) {
        const char *text = NULL;
        uint32_t code;
        size_t size;

        if (bytes[i] < 0x80) {
            out[written++] =
                (char)(bytes[i] >= 'A' && bytes[i] <= 'Z' ? bytes[i] + ('a' - 'A') : bytes[i]);
            i++;
            continue;
        }
        size = decode(bytes + i, length - i, &code);
        if (size > 1)
            text = folded(code);
        if (text) {
            memcpy(out + written, text, strlen(text));
            written += strlen(text);
        } else {
            memcpy(out + written, name + i, size);
            written += size;
        }
        i += size;
    }
    return written;
}

bool fold_changes(const char *name, size_t length)
{
    unsigned odd = 0;

    /* Upper case of ASCII lies between '@' and '['; no branch, for this is done for every name. */
    for (size_t i = 0; i < length; i++)
        odd |= ((unsigned)(unsigned char)name[i] - 'A' < 26U) | ((unsigned char)name[i] & 0x80U);
    return odd;
}
