/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an apply share. */
#ifndef OVERLAY_PLAN_H
#define OVERLAY_PLAN_H

#include "base/map.h"
#include "overlay/apply.h"
#include "overlay/base.h"
#include "overlay/journal.h"
#include "overlay/merge.h"

enum { PLAN_NO_OP = -1 };

/* What was decided about the change with the same index. */
struct choice {
    bool is_selected, is_taken, is_merged;
    ssize_t op; /* of the journal, that brings it; PLAN_NO_OP */
    struct merge_text merged;
    mode_t merged_mode;
    bool is_part; /* the change stays in the layer */
    struct apply_part part;
    bool is_moving; /* one of the two changes that a move is */
    bool has_inner; /* a directory that is not asked about, since something in it is */
    bool is_needed; /* a directory in which something is taken */
};

struct plan_tree {
    const struct apply_tree *apply;
    const struct overlay_tree *tree; /* of it */
    const struct changes *changes;   /* of it */
    struct choice *choices;
    struct map by_path; /* the index of a change, plus one */
    struct base base;
    int layer_fd;
};

struct plan {
    int store_fd;
    const struct apply_options *options;
    struct apply_result *result;
    struct plan_tree *trees;
    size_t tree_count;
    struct journal journal;
    struct map dirs;      /* of the journal: by tree and path, the index plus one */
    struct map free_dirs; /* that are not protected, by their whole path */
    bool is_lenient;      /* what is refused is left */
};

/* decide.c: which changes are selected, and whether each may be applied; others are items. */
int decide_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err);
/* The change of the directory that a change is in; NULL: the directory is no change. */
struct choice *plan_parent(const struct plan_tree *tree, const char *path,
                           const struct change **ret_change);

/* A directory that the session made, which the host must have before anything can be in it. */
bool plan_is_made_dir(const struct change *change);

/* ask.c: which of them somebody wants. */
int ask_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err);
/* The mode of a file that is taken in part. */
mode_t ask_part_mode(const struct change *change, const struct choice *choice);

/* result.c */
__attribute__((format(printf, 6, 7))) int plan_tell(struct plan *plan, unsigned tree,
                                                    const struct change *change,
                                                    enum apply_fate fate, const char *hint,
                                                    const char *format, ...);

/* operate.c: the operations and directories of what was taken. */
int operate_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err);
/* Gives the directories their order and numbers. */
int operate_finish(struct plan *plan, struct bawn_error *err);
/* One more directory that stays: an index in the journal's list, or -errno. */
ssize_t operate_dir(struct journal *journal, struct map *dirs, unsigned tree, int tree_fd,
                    const char *path);
void operate_sort(struct journal *journal);
/* Opens the directory that a path is in. SECURITY: where the journal has it, it is that very one,
 * or -ENOENT: somebody else may have put another one there. */
int operate_open_parent(const struct journal *journal, unsigned tree, const char *path,
                        const char **ret_name);

/* take.c: what leaves the layer. */
int take_tree(struct plan *plan, const struct plan_tree *tree, struct bawn_error *err);

/* stage.c: puts everything beside its target, and into the journal's directory. */
int stage_all(struct plan *plan, struct bawn_error *err);
int stage_note(struct journal *journal, struct journal_op *op, int dir_fd, const char *name,
               struct bawn_error *err);

/* Paths with "/" before all other bytes: what is in a directory comes right behind it. */
int plan_compare_paths(const char *one, const char *other);

#endif
