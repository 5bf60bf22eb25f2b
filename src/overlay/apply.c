/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/apply.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/room.h"
#include "overlay/perform.h"
#include "overlay/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void free_texts(struct choice *choice)
{
    free(choice->merged.bytes);
    free(choice->part.text.bytes);
}

static void plan_done(struct plan *plan)
{
    for (size_t i = 0; plan->trees && i < plan->tree_count; i++) {
        struct plan_tree *tree = &plan->trees[i];

        for (size_t j = 0; tree->choices && j < tree->changes->list.count; j++)
            free_texts(&tree->choices[j]);
        free(tree->choices);
        map_done(&tree->by_path);
        base_done(&tree->base);
        if (tree->layer_fd >= 0)
            close(tree->layer_fd);
    }
    free(plan->trees);
    map_done(&plan->dirs);
    map_done(&plan->free_dirs);
    journal_done(&plan->journal);
}

/* The journal has the path alone when it is read again: it must lead to the same directory. */
static int add_journal_tree(struct plan *plan, const struct apply_tree *apply,
                            struct bawn_error *err)
{
    struct journal_tree tree = {.number = apply->number, .fd = -EBADF};
    struct stat own, found;

    tree.path = arena_strdup(&plan->journal.arena, apply->tree.path);
    if (!tree.path)
        return error_memory(err);
    tree.fd = file_open_linkless(apply->tree.path, O_PATH | O_DIRECTORY);
    if (tree.fd < 0)
        return error_errno(err, -tree.fd, "open %s", apply->tree.path);
    if (fstat(tree.fd, &found) < 0 || fstat(apply->tree.lower_fd, &own) < 0 ||
        found.st_ino != own.st_ino || found.st_dev != own.st_dev) {
        close(tree.fd);
        return error_set(err, ESTALE, "apply.other_tree",
                         "%s is another directory than the one that the session worked on",
                         apply->tree.path);
    }
    tree.ino = own.st_ino;
    if (!vec_push(&plan->journal.trees, tree)) {
        close(tree.fd);
        return error_memory(err);
    }
    return 0;
}

static int open_tree(struct plan *plan, struct plan_tree *tree, const struct apply_tree *apply,
                     struct bawn_error *err)
{
    char name[16];

    tree->apply = apply;
    tree->tree = &apply->tree;
    tree->changes = apply->changes;
    (void)snprintf(name, sizeof(name), "%u", apply->number);
    tree->layer_fd = openat(plan->store_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tree->layer_fd < 0)
        return error_errno(err, errno, "open layer %s of the session", name);
    tree->choices = calloc(apply->changes->list.count + 1, sizeof(*tree->choices));
    if (!tree->choices)
        return error_memory(err);
    return base_load(tree->layer_fd, &tree->base, err);
}

static int plan_make(struct plan *plan, const struct apply_tree *trees, size_t tree_count,
                     struct bawn_error *err)
{
    int r = 0;

    plan->is_lenient = plan->options->choose;
    plan->trees = calloc(tree_count + 1, sizeof(*plan->trees));
    if (!plan->trees)
        return error_memory(err);
    plan->tree_count = tree_count;
    for (size_t i = 0; i < tree_count; i++)
        plan->trees[i].layer_fd = -EBADF;
    for (size_t i = 0; i < tree_count; i++) {
        r = add_journal_tree(plan, &trees[i], err);
        if (r == 0)
            r = open_tree(plan, &plan->trees[i], &trees[i], err);
        if (r == 0)
            r = decide_tree(plan, &plan->trees[i], err);
        if (r < 0)
            return r;
    }
    plan->is_lenient = false;
    for (size_t i = 0; r == 0 && plan->options->choose && i < tree_count; i++)
        r = ask_tree(plan, &plan->trees[i], err);
    /* Only when all was asked: the host's trees are looked at once more here. */
    for (size_t i = 0; r == 0 && i < tree_count; i++)
        r = operate_tree(plan, &plan->trees[i], err);
    if (r < 0)
        return r;
    r = operate_finish(plan, err);
    for (size_t i = 0; r == 0 && i < tree_count && !plan->result->refused; i++)
        r = take_tree(plan, &plan->trees[i], err);
    return r;
}

static int by_path(const void *a, const void *b)
{
    const struct apply_item *one = a, *other = b;

    return one->tree != other->tree ? (one->tree < other->tree ? -1 : 1)
                                    : plan_compare_paths(one->path, other->path);
}

static int refuse(struct apply_result *result, struct bawn_error *err)
{
    const struct apply_item *first = NULL;

    vec_each (&result->items, item)
        if (!first && item->fate >= APPLY_CONFLICT)
            first = item;
    (void)error_set(err, ECANCELED, "apply.refused", "nothing was applied: %s%s",
                    first ? first->why : "", result->refused > 1 ? ", and there is more" : "");
    error_hint(err, "%s", first ? first->hint : "");
    result->done = 0;
    return -ECANCELED;
}

static bool selects_nothing(const struct plan *plan)
{
    return plan->options->path_count > 0 && plan->result->items.count == 0;
}

/* The directory that the session deleted with what is wanted in it, or NULL. */
static const struct change *find_deleted(const struct plan *plan, const struct apply_tree *tree)
{
    vec_each (&tree->changes->list, change) {
        autofree char *dir = NULL;

        if (change->inside == 0 || asprintf(&dir, "%s/%s", tree->tree.path, change->path) < 0) {
            dir = NULL;
            continue;
        }
        for (size_t i = 0; i < plan->options->path_count; i++) {
            if (path_is_below(plan->options->paths[i], dir))
                return change;
        }
    }
    return NULL;
}

static int refuse_nothing(const struct plan *plan, const struct apply_tree *trees,
                          size_t tree_count, struct bawn_error *err)
{
    const struct change *deleted = NULL;

    for (size_t i = 0; i < tree_count && !deleted; i++)
        deleted = find_deleted(plan, &trees[i]);
    if (deleted) {
        (void)error_set(err, ENOENT, "apply.in_deleted",
                        "the session deleted %s as a whole: no part of that can be applied",
                        deleted->path);
        error_hint(err, "name the directory itself, or leave it out");
        return -ENOENT;
    }
    (void)error_set(err, ENOENT, "apply.nothing_selected",
                    "nothing that the session changed has such a path");
    error_hint(err, "a path is absolute or below the session's tree; look at the changes");
    return -ENOENT;
}

static int carry_out(struct plan *plan, struct bawn_error *err)
{
    struct journal *journal = &plan->journal;
    struct bawn_error why = {0};
    int r = journal_write(journal, &why), taken_back;

    if (r == 0)
        r = perform_open(journal, &why);
    if (r == 0)
        r = stage_all(plan, &why);
    if (r == 0)
        r = perform_sync(journal, &why);
    if (r == 0)
        r = journal_add_point(journal, "commit", &why);
    if (r == 0)
        return perform_all(journal, err);
    taken_back = perform_back(journal, err);
    if (taken_back < 0)
        return taken_back;
    if (err)
        *err = why;
    return r;
}

static int run(struct plan *plan, const struct apply_tree *trees, size_t tree_count,
               struct bawn_error *err)
{
    struct apply_result *result = plan->result;
    int r = journal_init(&plan->journal, plan->store_fd, JOURNAL_APPLY, err);

    plan->journal.step = plan->options->step;
    plan->journal.step_context = plan->options->step_context;
    if (r == 0 && !plan->options->dry_run)
        r = journal_create(&plan->journal, err);
    if (r < 0)
        return r;
    r = plan_make(plan, trees, tree_count, err);
    if (result->items.count > 1)
        qsort(result->items.items, result->items.count, sizeof(struct apply_item), by_path);
    if (r == 0 && selects_nothing(plan))
        r = refuse_nothing(plan, trees, tree_count, err);
    if (r == 0 && !plan->options->dry_run && result->refused)
        r = refuse(result, err);
    if (plan->options->dry_run)
        return r;
    /* Where nothing was wanted, what the last apply did can still be taken back. */
    if (r == 0 && plan->options->choose && result->done == 0)
        return journal_drop(&plan->journal, err);
    if (r == 0)
        r = carry_out(plan, err);
    else
        (void)journal_drop(&plan->journal, NULL);
    if (r < 0)
        result->done = result->in_part = 0;
    return r;
}

int apply_changes(int store_fd, const struct apply_tree *trees, size_t tree_count,
                  const struct apply_options *options, struct apply_result *ret_result,
                  struct bawn_error *err)
{
    struct plan plan = {.store_fd = store_fd, .options = options, .result = ret_result};
    struct stat st;
    int r;

    *ret_result = (struct apply_result){0};
    if (fstatat(store_fd, "journal", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        (void)error_set(err, EBUSY, "apply.broken_off", "an apply was broken off before its end");
        error_hint(err, "it is taken back or finished first; then look at the changes again");
        return -EBUSY;
    }
    r = run(&plan, trees, tree_count, err);
    plan_done(&plan);
    return r;
}

int apply_recover(int store_fd, const struct apply_options *options,
                  enum apply_recovered *ret_recovered, struct bawn_error *err)
{
    autojournal struct journal journal = {.dir_fd = -EBADF, .file_fd = -EBADF};
    struct bawn_error why;
    int r = journal_read(&journal, store_fd, "journal", err);

    *ret_recovered = APPLY_NOTHING;
    if (r <= 0)
        return r;
    journal.step = options ? options->step : NULL;
    journal.step_context = options ? options->step_context : NULL;
    r = journal_open_trees(&journal, err);
    if (r < 0)
        return r;
    *ret_recovered = APPLY_TAKEN_BACK;
    if (!journal.is_committed || journal.is_aborted)
        return perform_back(&journal, err);
    if (!journal.is_placed) {
        r = perform_place(&journal, &why);
        if (r < 0) {
            r = journal_add_point(&journal, "abort", err);
            return r < 0 ? r : perform_back(&journal, err);
        }
    }
    *ret_recovered = APPLY_FINISHED;
    return perform_clean(&journal, err);
}

int apply_abandon(int store_fd, struct bawn_error *err)
{
    autojournal struct journal journal = {.dir_fd = -EBADF, .file_fd = -EBADF};
    char from[JOURNAL_NAME_BYTES], to[JOURNAL_NAME_BYTES];
    int r = journal_read(&journal, store_fd, "journal", err);

    if (r <= 0)
        return r;
    (void)snprintf(from, sizeof(from), "journal-%s", journal.id);
    (void)snprintf(to, sizeof(to), "abandoned-%s", journal.id);
    if (renameat(store_fd, from, store_fd, to) < 0 && errno != ENOENT)
        return error_errno(err, errno, "rename %s", from);
    (void)snprintf(to, sizeof(to), "abandoned-%s/journal", journal.id);
    if (renameat(store_fd, "journal", store_fd, to) < 0)
        return error_errno(err, errno, "put the journal away");
    return 0;
}

int64_t apply_kept_since(int store_fd)
{
    struct stat st;

    return fstatat(store_fd, "journal.last", &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mtim.tv_sec;
}

uint64_t apply_kept_bytes(int store_fd)
{
    autonamed struct named_list names = {0};
    uint64_t bytes = 0;

    (void)named_read(store_fd, &names);
    vec_each (&names.list, name) {
        struct room room = {0};
        struct stat st;
        int fd;

        if (strncmp(*name, "journal-", 8) != 0 ||
            fstatat(store_fd, *name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        bytes += (uint64_t)st.st_blocks * 512;
        fd = openat(store_fd, *name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        (void)room_measure(fd, 0, &room);
        (void)close(fd);
        bytes += room.layers + room.rest;
    }
    return bytes;
}

int apply_forget(int store_fd, struct bawn_error *err)
{
    autonamed struct named_list names = {0};
    struct stat st;
    int r;

    if (fstatat(store_fd, "journal", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return error_set(err, EBUSY, "apply.broken_off", "an apply was broken off before its end");
    if (unlinkat(store_fd, "journal.last", 0) < 0 && errno != ENOENT)
        return error_errno(err, errno, "remove the journal");
    r = named_read(store_fd, &names);
    vec_each (&names.list, name)
        if (r == 0 && strncmp(*name, "journal-", 8) == 0)
            r = named_remove(store_fd, *name);
    return r < 0 ? error_errno(err, -r, "remove what was kept") : 0;
}
