/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which changes somebody wants, of those that could be taken.
 *
 * How it works: parents come before what is in them. A directory that the session made is not asked
 * about where something in it is: it comes with that. Of the two changes that a move is the new
 * file is asked about, and the answer counts for both.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/plan.h"

#include <errno.h>
#include <string.h>

enum { SET_ID_BITS = S_ISUID | S_ISGID };

static struct choice *choice_at(const struct plan_tree *tree, const char *path)
{
    size_t index = (size_t)(uintptr_t)map_get(&tree->by_path, 0, path, strlen(path));

    return index > 0 ? &tree->choices[index - 1] : NULL;
}

static int leave(struct plan *plan, const struct plan_tree *tree, const struct change *change,
                 struct choice *choice, const char *why)
{
    choice->is_taken = false;
    return plan_tell(plan, tree->apply->number, change, APPLY_LEFT, "", "%s/%s %s",
                     tree->tree->path, change->path, why);
}

static void find_moves(const struct plan_tree *tree)
{
    for (size_t i = 0; i < tree->changes->list.count; i++) {
        const struct change *change = &tree->changes->list.items[i];
        struct choice *from = change->from ? choice_at(tree, change->from) : NULL;

        if (from && from->is_taken && tree->choices[i].is_taken)
            from->is_moving = tree->choices[i].is_moving = true;
    }
}

/* The directory that comes with a change, or NULL. */
static struct choice *dir_around(const struct plan_tree *tree, const struct change *change)
{
    const struct change *above;
    struct choice *parent = plan_parent(tree, change->path, &above);

    return parent && parent->is_taken && above->kind == CHANGE_ADDED && plan_is_made_dir(above)
               ? parent
               : NULL;
}

static void find_dirs(const struct plan_tree *tree)
{
    for (size_t i = 0; i < tree->changes->list.count; i++) {
        struct choice *parent =
            tree->choices[i].is_taken ? dir_around(tree, &tree->changes->list.items[i]) : NULL;

        if (parent)
            parent->has_inner = true;
    }
}

/* 0, also when the answer is no, or -errno. */
static int ask(struct plan *plan, struct plan_tree *tree, const struct change *change,
               struct choice *choice, struct bawn_error *err)
{
    const struct apply_options *options = plan->options;
    struct choice *from = choice->is_moving ? choice_at(tree, change->from) : NULL;
    struct change asked_change = *change;
    const struct apply_asked asked = {
        .tree = tree->apply,
        .change = &asked_change,
        .merged = choice->is_merged ? &choice->merged : NULL,
        .mode = choice->is_merged ? choice->merged_mode : change->after.st_mode,
    };
    int r;

    asked_change.is_moved = false;
    if (!from)
        asked_change.from = NULL;
    r = options->choose(options->choose_context, &asked, &choice->part, err);
    if (r < 0)
        return r;
    choice->is_part = r == APPLY_TAKE_PART;
    if (r != APPLY_LEAVE)
        return 0;
    r = leave(plan, tree, change, choice, "was not wanted");
    if (r == 0 && from)
        r = leave(plan, tree, changes_at(tree->changes, change->from), from, "was not wanted");
    return r < 0 ? error_memory(err) : 0;
}

/* In a directory that is not wanted. What would have moved there is a deletion now; that is asked
 * about here if its turn is over. */
static int leave_homeless(struct plan *plan, struct plan_tree *tree, const struct change *change,
                          struct choice *choice, struct bawn_error *err)
{
    struct choice *from = choice->is_moving ? choice_at(tree, change->from) : NULL;

    if (leave(plan, tree, change, choice, "is in a directory that is not made on the host") < 0)
        return error_memory(err);
    if (!from)
        return 0;
    from->is_moving = false;
    return from < choice ? ask(plan, tree, changes_at(tree->changes, change->from), from, err) : 0;
}

static int ask_about(struct plan *plan, struct plan_tree *tree, const struct change *change,
                     struct choice *choice, struct bawn_error *err)
{
    const struct change *above;
    const struct choice *parent = plan_parent(tree, change->path, &above);

    if (!choice->is_taken || (choice->is_moving && change->kind == CHANGE_DELETED))
        return 0;
    if (parent && plan_is_made_dir(above) && !parent->is_taken)
        return leave_homeless(plan, tree, change, choice, err);
    return choice->has_inner ? 0 : ask(plan, tree, change, choice, err);
}

/* Directories in which nothing is taken are not made either. */
static int drop_dirs(struct plan *plan, const struct plan_tree *tree)
{
    for (size_t i = tree->changes->list.count; i-- > 0;) {
        const struct change *change = &tree->changes->list.items[i];
        struct choice *choice = &tree->choices[i];
        struct choice *parent = choice->is_taken ? dir_around(tree, change) : NULL;

        if (choice->is_taken && choice->has_inner && !choice->is_needed) {
            if (leave(plan, tree, change, choice, "is made only with something in it") < 0)
                return -ENOMEM;
        } else if (parent) {
            parent->is_needed = true;
        }
    }
    return 0;
}

int ask_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err)
{
    find_moves(tree);
    find_dirs(tree);
    for (size_t i = 0; i < tree->changes->list.count; i++) {
        int r = ask_about(plan, tree, &tree->changes->list.items[i], &tree->choices[i], err);

        if (r < 0)
            return r;
    }
    return drop_dirs(plan, tree) < 0 ? error_memory(err) : 0;
}

mode_t ask_part_mode(const struct change *change, const struct choice *choice)
{
    mode_t mode = !choice->part.has_mode ? change->before.st_mode
                  : choice->is_merged    ? choice->merged_mode
                                         : change->after.st_mode;
    mode_t kept = choice->part.content == APPLY_HOSTS ? change->before.st_mode & SET_ID_BITS : 0;

    /* SECURITY: set-id bits never come with new bytes, and where they stay they were before. */
    return S_IFREG | (mode & (01777 | kept));
}
