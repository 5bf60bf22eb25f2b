/* SPDX-License-Identifier: Apache-2.0 */
/* Texts by dice, and where two of them differ. */
#ifndef TESTS_LIB_TEXTS_H
#define TESTS_LIB_TEXTS_H

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "overlay/hunks.h"

#include <git2/diff.h>
#include <git2/patch.h>
#include <stdint.h>

/* Numbers by a seed. */
static inline unsigned texts_roll(uint64_t *seed, unsigned sides)
{
    uint64_t mixed = *seed += 0x9e3779b97f4a7c15ULL;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return (unsigned)((mixed ^ mixed >> 31) >> 33) % sides;
}

/* A line; seldom one that no other is like, with blanks, a CR, or bytes that are no text. */
static inline void texts_add_line(struct strbuf *out, uint64_t *seed)
{
    static const char *const odd[] = {
        "",  " ",  "\t",  "# no comment", "@@ -1 +1 @@", "\\ No",        "-",
        "+", "\r", "a\r", "\033[31m",     "\xff",        "\xe2\x80\xae", "\f"};

    if (texts_roll(seed, 5) == 0)
        strbuf_add(out, odd[texts_roll(seed, sizeof(odd) / sizeof(odd[0]))]);
    else
        strbuf_addf(out, "line %u", texts_roll(seed, 6));
    strbuf_add(out, "\n");
}

static inline struct merge_text texts_take(struct strbuf *out, uint64_t *seed)
{
    struct merge_text text = {.length = out->length};

    text.bytes = strbuf_take(out);
    if (text.length > 0 && texts_roll(seed, 4) == 0)
        text.length--; /* without its last newline, if it was that */
    return text;
}

static inline struct merge_text texts_make(uint64_t *seed)
{
    unsigned count = texts_roll(seed, 8) ? texts_roll(seed, 50) : 0;
    struct strbuf out = {0};

    for (unsigned i = 0; i < count; i++)
        texts_add_line(&out, seed);
    return texts_take(&out, seed);
}

/* The same with some lines gone, new or changed. */
static inline struct merge_text texts_change(const struct merge_text *text, uint64_t *seed)
{
    unsigned rare = 2 + texts_roll(seed, 12);
    const char *at = text->bytes, *end = at + text->length;
    struct strbuf out = {0};

    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t length = next ? (size_t)(next + 1 - at) : (size_t)(end - at);
        unsigned what = texts_roll(seed, rare * 3);

        if (what != 0)
            strbuf_add_bytes(&out, at, length);
        if (what != 0 && !next)
            strbuf_add(&out, texts_roll(seed, 2) ? "\n" : "");
        if (what < 2)
            texts_add_line(&out, seed);
        at += length;
    }
    if (texts_roll(seed, 6) == 0)
        texts_add_line(&out, seed);
    return texts_take(&out, seed);
}

/* False: they are the same, or no texts. */
static inline bool texts_compare(const struct merge_text *before, const struct merge_text *after,
                                 struct hunks *ret_hunks)
{
    git_patch *patch = NULL;
    bool is_read;

    *ret_hunks = (struct hunks){0};
    if (git_patch_from_buffers(&patch, before->bytes, before->length, "x", after->bytes,
                               after->length, "x", NULL) < 0)
        return false;
    is_read = hunks_read(patch, ret_hunks) == 0 && ret_hunks->list.count > 0;
    git_patch_free(patch);
    return is_read;
}

#endif
