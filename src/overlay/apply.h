/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what a session changed over into the host's trees, all of what is selected or nothing, and
 * takes that back again.
 *
 * How it works: each change is judged, and becomes operations in a journal (overlay/journal.h); new
 * contents are staged beside their targets; after the commit they get their names. What was applied
 * leaves the layer, so that it is no change any more. What stood there before is kept in the store
 * until the next apply.
 *
 * The store is a directory of the user's alone with "N/upper" for tree number N. The caller holds
 * its lock, and no sandbox runs on the layers.
 */
#ifndef OVERLAY_APPLY_H
#define OVERLAY_APPLY_H

#include "base/arena.h"
#include "base/vec.h"
#include "overlay/changes.h"
#include "overlay/merge.h"

#include <stdint.h>

struct apply_tree {
    struct overlay_tree tree; /* its path without a link in it */
    unsigned number;          /* in the store */
    const struct changes *changes;
};

/* What becomes of a path that the host changed, too. */
enum apply_conflicts {
    APPLY_REFUSE,
    APPLY_MERGE,  /* texts; what cannot be merged is refused */
    APPLY_MINE,   /* the session's wins */
    APPLY_THEIRS, /* the host's stays, and the change in the layer */
};

/* What is asked about: a change that could be taken. */
struct apply_asked {
    const struct apply_tree *tree;
    const struct change *change;     /* "from": it stands for the deletion of that, too */
    const struct merge_text *merged; /* what the file becomes; NULL: what the session made of it */
    mode_t mode;                     /* the same of its mode */
};

enum apply_answer { APPLY_TAKE, APPLY_LEAVE, APPLY_TAKE_PART };

/* What becomes of a regular file that is taken in part. The session keeps its own as it is. */
enum apply_content { APPLY_HOSTS, APPLY_SESSIONS, APPLY_TEXT };
struct apply_part {
    enum apply_content content;
    struct merge_text text; /* of APPLY_TEXT, given away */
    bool has_mode;          /* mode and attributes are taken */
};

struct apply_options {
    const char *const *paths; /* see overlay/select.h; none: everything */
    size_t path_count;
    enum apply_conflicts conflicts;
    bool skip_barred, allow_protected, dry_run;
    /* Why a path is protected where such a thing comes, or goes, or NULL; the text lives on. May be
     * NULL: nothing is. */
    const char *(*is_protected)(void *context, const char *absolute_path, mode_t mode);
    void *context;
    /*
     * Called for each change that could be taken, after those above it, once all were judged: an
     * answer, or -errno, which ends it all. What cannot be taken is left then, and stops nothing.
     * Directories that the session made come with what is in them. NULL: all is taken.
     */
    int (*choose)(void *context, const struct apply_asked *asked, struct apply_part *ret_part,
                  struct bawn_error *err);
    void *choose_context;
    /* Called before each step that changes something; for tests, which end there. */
    void (*step)(void *context);
    void *step_context;
};

enum apply_fate {
    APPLY_DONE,   /* in a dry run: would be done */
    APPLY_MERGED, /* the same, of both sides */
    APPLY_PARTLY, /* the same, and the rest stays in the layer */
    APPLY_LEFT,   /* it stays in the layer, as wished */
    APPLY_CONFLICT,
    APPLY_BARRED,
    APPLY_PROTECTED,
    APPLY_FAILED, /* could not be judged */
};

struct apply_item {
    unsigned tree; /* its number */
    const char *path;
    enum change_kind kind;
    enum apply_fate fate;
    enum apply_fate cause; /* of what is left: APPLY_LEFT, or for what it would have been refused */
    const char *why;       /* of what is not done: a whole sentence; else "" */
    const char *hint;      /* what to do about it, or "" */
};

struct apply_result {
    struct arena arena;
    VEC(struct apply_item) items; /* as the trees and their changes come */
    size_t done;                  /* changes that were applied, or taken back */
    size_t in_part;               /* of these: of which the rest stays in the layer */
    size_t left;                  /* that stay in the layer as wished */
    size_t refused;               /* for each of which nothing at all was done */
};
void apply_result_done(struct apply_result *result);

/*
 * Applies what is selected. -ECANCELED: nothing was done, since something was refused, which
 * ret_result tells; a dry run tells it, too, and returns 0. ret_result is filled whatever is
 * returned. Afterwards the changes are other ones, and are to be found again.
 */
int apply_changes(int store_fd, const struct apply_tree *trees, size_t tree_count,
                  const struct apply_options *options, struct apply_result *ret_result,
                  struct bawn_error *err);

/* Takes the last apply back, as long as nobody changed what it wrote; with APPLY_MINE also files
 * that somebody did, whose work is lost. Of options it minds these conflicts, dry_run and step.
 * -ENODATA: there is nothing to take back. */
int apply_undo(int store_fd, const struct apply_options *options, struct apply_result *ret_result,
               struct bawn_error *err);

enum apply_recovered {
    APPLY_NOTHING,    /* nothing had been broken off */
    APPLY_TAKEN_BACK, /* the trees are as before */
    APPLY_FINISHED,   /* everything is done */
};
/* What was broken off is taken back or finished. Every command that has to do with the store's
 * layers begins with it. options may be NULL; it minds step. */
int apply_recover(int store_fd, const struct apply_options *options,
                  enum apply_recovered *ret_recovered, struct bawn_error *err);

/* For when that is not possible any more, since a directory in which it worked is gone: nothing is
 * done to any tree, and what was kept stays in the store as "abandoned-ID". */
int apply_abandon(int store_fd, struct bawn_error *err);

/* Since when something is kept for taking the last apply back, in seconds since 1970, or 0: nothing
 * is. */
int64_t apply_kept_since(int store_fd);
/* How much room that takes. */
uint64_t apply_kept_bytes(int store_fd);

/* Gives up what is kept for taking the last apply back. */
int apply_forget(int store_fd, struct bawn_error *err);

#endif
