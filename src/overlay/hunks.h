/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where two texts differ, as git tells it: hunks of lines. They can be split and edited, and those
 * that are taken make of the first text another one.
 *
 * How it works: of a hunk only what lies between its first and its last changed line counts, its
 * core; the lines around it are there to be looked at. Cores do not overlap, so that any of them
 * can be taken without the others.
 */
#ifndef OVERLAY_HUNKS_H
#define OVERLAY_HUNKS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "overlay/merge.h"

struct hunk_line {
    char sign;         /* ' ' in both, '-' in the first, '+' in the second */
    const char *bytes; /* of one of the texts, with the newline that it may have */
    size_t length;
};

enum hunk_use { HUNK_UNDECIDED, HUNK_TAKEN, HUNK_LEFT };

struct hunk {
    size_t old_start, old_count; /* lines; the first of a text is 0 */
    size_t new_start, new_count;
    const char *heading; /* what git writes behind the numbers, with a blank before it; or "" */
    const struct hunk_line *lines;
    size_t line_count;
    enum hunk_use use;
};

struct hunks {
    struct arena arena;
    VEC(struct hunk) list; /* as they come in the text */
};
void hunks_done(struct hunks *hunks);
#define autohunks __attribute__((cleanup(hunks_done)))

/* Of a patch of libgit2; the texts must live on. 0, -EIO or -ENOMEM. */
struct git_patch;
int hunks_read(struct git_patch *patch, struct hunks *ret_hunks);

/* Into how many a hunk can be split: there are lines between them that both texts have. */
size_t hunk_parts(const struct hunk *hunk);
/* Puts its parts in its place, used as it was. 0 or -ENOMEM. */
int hunks_split(struct hunks *hunks, size_t index);

/* "@@ -1,2 +3,4 @@ heading", and a hunk with its lines, as they are. */
void hunk_add_header(const struct hunk *hunk, struct strbuf *out);
void hunk_add_text(const struct hunk *hunk, struct strbuf *out);

/* What git has behind a line that does not end; NULL: it ends. */
const char *hunk_line_mark(const struct hunk_line *line);

/* The text with what is taken in it, in memory of its own. 0; -EINVAL: that does not fit together;
 * -ENOMEM. */
int hunks_compose(const struct hunks *hunks, const struct merge_text *before,
                  struct merge_text *ret_text);

/* Puts a hunk that somebody edited in the place of another. 1; 0: nothing is left of it, all is as
 * it was; -EINVAL: it does not fit the text, all is as it was; -ENOMEM. */
int hunks_edit(struct hunks *hunks, size_t index, const struct merge_text *before,
               const char *edited, size_t length);

#endif
