/* SPDX-License-Identifier: Apache-2.0 */
/* What changes.c and its parts share. */
#ifndef OVERLAY_WALK_H
#define OVERLAY_WALK_H

#include "overlay/changes.h"
#include "overlay/compare.h"

#include <limits.h>

enum {
    WALK_OPEN_LEVELS = 64, /* directories that are held open; those above them are opened again */
    WALK_NO_ROW = -1,
};

/* A directory of the layer that is being read. */
struct level {
    struct entry upper;    /* fd -EBADF: closed for now */
    struct entry lower;    /* the same, or there is none */
    bool has_lower;        /* it has a directory of the tree below it */
    bool is_opaque;        /* which does not show through */
    bool has_marks;        /* whiteouts may be files with an attribute */
    bool gives_group;      /* new directories in it get set-group-id */
    size_t path_length;    /* of its path in the walk's */
    ssize_t row;           /* the change of the directory itself, or WALK_NO_ROW */
    struct stat lower_was; /* what the tree had in its place */
    VEC(char) names;       /* of the directories in it, each with its NUL */
    size_t next;           /* where in names */
};

struct walk {
    const struct overlay_tree *tree;
    struct changes *changes;
    struct bawn_error *err;
    VEC(struct level) levels; /* from the top of the layer down */
    struct compare_room *room;
    char path[PATH_MAX]; /* of what is looked at, below the tree */
    size_t path_length;
};

/* Adds a change of the path that is looked at. Fields of it are the caller's. 0 or -ENOMEM. */
int walk_add(struct walk *walk, const struct change *change);

/* Compares what stands on both sides of a path, where the layer has something that is no whiteout,
 * and adds what differs. before has st_mode 0 where the tree has nothing. ret_row: the change, or
 * WALK_NO_ROW. */
int walk_judge(struct walk *walk, const struct level *parent, const struct entry *before,
               const struct entry *after, ssize_t *ret_row);

/* Finds out which files that were added are ones that were deleted; the list is sorted. */
int moves_find(const struct overlay_tree *tree, struct changes *changes, struct compare_room *room,
               struct bawn_error *err);

/* Counts the files in directories that were deleted. */
int inside_count(const struct overlay_tree *tree, struct changes *changes, struct bawn_error *err);

#endif
