/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes made safe to show, numbers read from text, and the nearest word. */
#include "base/cleanup.h"
#include "base/text.h"
#include "fuzz/fuzz.h"

#include <inttypes.h>

/* The next character of valid UTF-8, decoded without checks. */
static uint32_t next_rune(const unsigned char **at)
{
    uint32_t rune = *(*at)++;
    unsigned more = rune >= 0xf0 ? 3 : rune >= 0xe0 ? 2 : rune >= 0xc0 ? 1 : 0;

    if (more)
        rune &= 0x3fU >> more;
    for (; more; more--)
        rune = rune << 6 | (*(*at)++ & 0x3f);
    return rune;
}

/* Characters that hide, reorder or break a line. */
static bool is_deceptive(uint32_t rune)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xe0000, 0xe007f}, {0xfff9, 0xfffb},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (rune >= ranges[i][0] && rune <= ranges[i][1])
            return true;
    return false;
}

static void check_shown(const char *text, enum text_shape shape)
{
    const unsigned char *at = (const unsigned char *)text;

    fuzz_require(text_is_utf8(text, strlen(text)));
    while (*at) {
        uint32_t rune = next_rune(&at);
        bool asked_for = shape == TEXT_LINES && (rune == '\n' || rune == '\t');

        fuzz_require(asked_for || !is_deceptive(rune));
    }
}

/* Text that is cut is the beginning of the whole, then "...". */
static void check_cut(const char *cut, const char *whole, size_t out_size)
{
    size_t length = strlen(cut);

    fuzz_require(length < out_size);
    if (out_size < 4) {
        fuzz_require(length == 0);
        return;
    }
    fuzz_require(length >= 3 && strcmp(cut + length - 3, "...") == 0);
    fuzz_require(strncmp(cut, whole, length - 3) == 0);
}

static void check_escape(const char *bytes, size_t length, enum text_shape shape)
{
    autofree char *whole = text_escape_new(bytes, length, shape);

    fuzz_require(whole);
    check_shown(whole, shape);
    for (size_t out_size = 0; out_size < 64; out_size += out_size < 20 ? 1 : 9) {
        /* Memory of exactly this size, so that a sanitizer sees a write behind it. */
        autofree char *out = malloc(out_size ? out_size : 1);
        bool is_whole;

        fuzz_require(out);
        is_whole = text_escape(out, out_size, bytes, length, shape);
        fuzz_require(is_whole == (strlen(whole) < out_size) || (out_size == 0 && length == 0));
        if (out_size == 0)
            continue;
        if (is_whole)
            fuzz_require(strcmp(out, whole) == 0);
        else
            check_cut(out, whole, out_size);
        check_shown(out, shape);
    }
}

static void check_numbers(const char *text)
{
    char printed[32];
    uint64_t value = 0;
    uint64_t again = 0;

    if (text_parse_count(text, UINT64_MAX, &value)) {
        fuzz_require(strspn(text, "0123456789") == strlen(text));
        fuzz_require(!value || !text_parse_count(text, value - 1, &again));
        (void)snprintf(printed, sizeof(printed), "%" PRIu64, value);
        fuzz_require(text_parse_count(printed, value, &again) && again == value);
    }
    if (text_parse_size(text, &value)) {
        (void)snprintf(printed, sizeof(printed), "%" PRIu64, value);
        /* The largest sizes have no form in bytes: they are refused, not read as another. */
        if (text_parse_size(printed, &again))
            fuzz_require(again == value);
        else
            fuzz_require(value > UINT64_MAX / 1000000);
    }
    if (text_parse_seconds(text, &value)) {
        (void)snprintf(printed, sizeof(printed), "%" PRIu64, value);
        if (text_parse_seconds(printed, &again))
            fuzz_require(again == value);
        else
            fuzz_require(value > UINT64_MAX / 1000000);
    }
}

static void check_nearest(const char *text)
{
    static const char *const words[] = {"reads",  "paths",   "deny", "network",
                                        "limits", "process", "a",    "max_file_bytes"};
    const size_t count = sizeof(words) / sizeof(words[0]);
    const char *nearest = text_nearest(text, words, count);
    bool is_one = !nearest;

    for (size_t i = 0; i < count; i++) {
        is_one = is_one || nearest == words[i];
        if (strcmp(text, words[i]) == 0)
            fuzz_require(nearest && strcmp(nearest, text) == 0);
    }
    fuzz_require(is_one);
    fuzz_require(!text_nearest(text, words, 0));
    /* A text is nearest to itself, if it is no longer than words are. */
    if (strlen(text) <= 63)
        fuzz_require(text_nearest(text, &text, 1) == text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    const char *line;

    check_escape((const char *)data, size, TEXT_ONE_LINE);
    check_escape((const char *)data, size, TEXT_LINES);
    while ((line = fuzz_line(&lines))) {
        check_numbers(line);
        check_nearest(line);
    }
    fuzz_lines_end(&lines);
    return 0;
}
