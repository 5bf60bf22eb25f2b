/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of one apply, or of taking one back.
 *
 * How it works: "journal" in the store lists all that will be done before anything is done; then
 * new contents are put beside their targets under names that say what they are, and what that gave
 * is added, up to a line "commit". From then on each step is a rename that can be made again. A
 * journal without "commit", or with "abort", is taken back; one with it is finished. "placed" says
 * that the host's tree is as it was to be: what is left is to put the old things away. A finished
 * journal becomes "journal.last", which tells how to take it back; what it needs for that is in the
 * directory "journal-ID".
 */
#ifndef OVERLAY_JOURNAL_H
#define OVERLAY_JOURNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "overlay/named.h"

#include <stdint.h>
#include <time.h>

enum journal_verb { JOURNAL_APPLY, JOURNAL_UNDO };

/* What becomes of the old thing. */
enum journal_keep {
    JOURNAL_DROP,
    JOURNAL_MOVE, /* renamed into the journal's directory */
    JOURNAL_COPY, /* copied there before the commit; then dropped */
};

struct journal_tree {
    unsigned number; /* in the store */
    const char *path;
    uint64_t ino;
    int fd; /* of its directory; the journal's own */
};

/* One name of the host's that changes: something new is there, or something old no longer, or both.
 */
struct journal_op {
    unsigned number, tree;
    const char *path; /* below the tree; never "" */
    bool has_new, has_old;
    enum journal_keep keep;
    const char *fetched; /* of what is put back: where it lies in the store, to be renamed; or "" */
    struct stat old;     /* type, mode, inode, size and time, as it was before */
    uint64_t new_ino;    /* 0: not staged */
    mode_t new_mode;
    const char *digest; /* of what was staged, or "" */
    const char *shape;  /* of a directory that goes: see named_shape; else "" */
};

/* A directory of the host's that stays: one that is worked in, or one whose mode and attributes
 * change. */
struct journal_dir {
    unsigned number, tree;
    const char *path;
    uint64_t ino; /* another directory of that name is left alone */
    mode_t old_mode, new_mode;
    struct timespec old_times[2], new_times[2];
    bool has_new_times;
    const char *old_attributes,
        *new_attributes; /* directories in the store that have them, or "" */
};

/* An entry of an upper layer that moves into the journal's directory; back again where that is
 * taken back. */
struct journal_take {
    unsigned tree;           /* its number in the store */
    const char *path, *kept; /* below the layer; in the store */
    mode_t mode;
};

/* The index of a tree's notes is replaced by that file of the store. */
struct journal_index {
    unsigned tree;
    const char *before, *after;
};

struct journal {
    struct arena arena;
    enum journal_verb verb;
    char id[17];
    int store_fd; /* borrowed */
    int dir_fd;   /* of "journal-ID" */
    int file_fd;
    VEC(struct journal_tree) trees;
    VEC(struct journal_op) ops;
    VEC(struct journal_dir) dirs; /* parents first */
    VEC(struct journal_take) takes;
    VEC(struct journal_index) indexes;
    bool is_committed, is_aborted, is_placed;
    struct named_memo memo; /* of what is staged */
    /* Called before each step; for tests, which end there. */
    void (*step)(void *context);
    void *step_context;
};

void journal_step(const struct journal *journal);

/* A new one with a name of its own; and its directory. */
int journal_init(struct journal *journal, int store_fd, enum journal_verb verb,
                 struct bawn_error *err);
int journal_create(struct journal *journal, struct bawn_error *err);
void journal_done(struct journal *journal);

/* Writes the list of what will be done; then nothing may be added to it. */
int journal_write(struct journal *journal, struct bawn_error *err);
/* Adds what staging gave to an operation, or that a point was reached, and waits for the disk. */
int journal_add_staged(struct journal *journal, const struct journal_op *op,
                       struct bawn_error *err);
int journal_add_point(struct journal *journal, const char *point, struct bawn_error *err);

/* Reads "journal" or "journal.last": 0 when there is none, else 1. Its trees are not open yet. */
int journal_read(struct journal *journal, int store_fd, const char *name, struct bawn_error *err);
int journal_open_trees(struct journal *journal, struct bawn_error *err);
const struct journal_tree *journal_tree(const struct journal *journal, unsigned number);

/* Makes it the last one, or gives it up. Then what no journal speaks of is removed. */
int journal_finish(struct journal *journal, struct bawn_error *err);
int journal_drop(struct journal *journal, struct bawn_error *err);

/* The names beside a target: of the new thing, and of the old one that made room. */
enum { JOURNAL_NAME_BYTES = 64 };
const char *journal_new_name(const struct journal *journal, const struct journal_op *op,
                             char room[static JOURNAL_NAME_BYTES]);
const char *journal_old_name(const struct journal *journal, const struct journal_op *op,
                             char room[static JOURNAL_NAME_BYTES]);
/* In the journal's directory, as a path in the store. */
const char *journal_kept_name(const struct journal *journal, const char *word, unsigned number,
                              char room[static JOURNAL_NAME_BYTES]);

#define autojournal __attribute__((cleanup(journal_done)))

#endif
