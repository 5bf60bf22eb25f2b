/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change taken apart into what can be taken alone: a file's mode, and each hunk of its text. All
 * else is one piece. What is shown of it is as `bawn diff` shows it, safe for a terminal.
 */
#ifndef OVERLAY_PIECES_H
#define OVERLAY_PIECES_H

#include "overlay/apply.h"
#include "overlay/hunks.h"
#include "overlay/show.h"

#include <stdint.h>

enum piece_kind {
    PIECE_HUNK,
    PIECE_MODE,
    PIECE_ATTRIBUTES,
    PIECE_ADDITION,
    PIECE_DELETION,
    PIECE_MOVE,
    PIECE_REPLACEMENT,
    PIECE_CHANGE, /* of a content that has no lines */
};

/* A piece that is no hunk. */
struct piece {
    bool is_there;
    enum piece_kind kind;
    enum hunk_use use;
    char *text; /* as shown */
};

struct pieces {
    char *head; /* shown before all of them; or "" */
    struct piece mode, whole;
    struct hunks hunks;
    struct merge_text before, after; /* what the hunks are between; else no bytes */
};

/* The caller has called git_libgit2_init. Of the options the form is SHOW_TEXT. has_many: there are
 * several trees. */
int pieces_make(const struct apply_asked *asked, const struct show_options *options, bool has_many,
                struct pieces *ret_pieces, struct bawn_error *err);
void pieces_done(struct pieces *pieces);
#define autopieces __attribute__((cleanup(pieces_done)))

/* They have an order: first the mode, then the content. */
size_t pieces_count(const struct pieces *pieces);
enum piece_kind pieces_kind(const struct pieces *pieces, size_t index);
enum hunk_use *pieces_use(struct pieces *pieces, size_t index);
/* The hunk's index in hunks; a piece that is none: SIZE_MAX. */
size_t pieces_hunk(const struct pieces *pieces, size_t index);
/* Adds it as it is shown. -ENOMEM or 0. */
int pieces_show(const struct pieces *pieces, size_t index, const struct show_options *options,
                struct strbuf *out);

/* What all the answers come to: an answer of struct apply_options; what is not decided is left.
 * -EINVAL: the hunks do not fit together. */
int pieces_conclude(const struct pieces *pieces, const struct apply_asked *asked,
                    struct apply_part *ret_part);

#endif
