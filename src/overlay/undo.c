/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the last apply back.
 *
 * How it works: the journal of the apply is read the other way round and becomes one of its own:
 * what was new is the old now, and the new comes out of the store. What was written must still be
 * what is there; times alone are nobody's work.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "overlay/copy.h"
#include "overlay/perform.h"
#include "overlay/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct undoing {
    struct plan plan; /* of it: store, options, result, journal, dirs */
    struct journal last;
    struct timespec ended; /* the apply */
};

#define HINT_CHANGED                                                                               \
    "to keep what was written since, save it elsewhere; then take the apply back all the same"

static int tell(struct undoing *undoing, unsigned tree, const char *path, enum change_kind kind,
                const char *why)
{
    const struct change change = {.path = path, .kind = kind};
    const struct journal_tree *of = journal_tree(&undoing->last, tree);

    if (!why)
        return plan_tell(&undoing->plan, tree, &change, APPLY_DONE, "", "%s", "");
    return plan_tell(&undoing->plan, tree, &change, APPLY_CONFLICT, HINT_CHANGED, "%s/%s %s",
                     of ? of->path : "", path, why);
}

/* What is not as the apply left it, or NULL. With is_forced what somebody wrote there since goes.
 */
static const char *difference(struct undoing *undoing, const struct journal_op *op, int dir_fd,
                              const char *name, struct stat *ret_status)
{
    bool is_forced = undoing->plan.options->conflicts == APPLY_MINE;
    char digest[NAMED_DIGEST_BYTES];

    if (dir_fd < 0)
        return "is in a directory that is not there any more";
    if (named_stat(dir_fd, name, ret_status) < 0)
        return "cannot be looked at";
    if (!op->has_new)
        return ret_status->st_mode ? "was made anew since the deletion was applied" : NULL;
    if (!ret_status->st_mode)
        return "was removed since it was applied";
    if (is_forced && !((ret_status->st_mode ^ op->new_mode) & S_IFMT))
        return NULL;
    if (named_digest(dir_fd, name, &undoing->plan.journal.memo, digest) < 0)
        return "cannot be read";
    return strcmp(digest, op->digest) != 0 ? "was changed since it was applied" : NULL;
}

static enum change_kind kind_of(const struct journal_op *op)
{
    if (!op->has_new)
        return CHANGE_DELETED;
    if (!op->has_old)
        return CHANGE_ADDED;
    return (op->old.st_mode ^ op->new_mode) & S_IFMT ? CHANGE_REPLACED : CHANGE_CHANGED;
}

static int add_parent(struct undoing *undoing, const struct journal_op *op)
{
    const struct journal_tree *tree = journal_tree(&undoing->last, op->tree);
    const char *slash = strrchr(op->path, '/');
    autofree char *parent = strndup(op->path, slash ? (size_t)(slash - op->path) : 0);
    ssize_t index;

    if (!parent)
        return -ENOMEM;
    index = operate_dir(&undoing->plan.journal, &undoing->plan.dirs, op->tree, tree->fd, parent);
    return index < 0 ? (int)index : 0;
}

/* Number and order are the same in both journals. */
static int turn_op(struct undoing *undoing, const struct journal_op *last)
{
    struct journal *journal = &undoing->plan.journal;
    const struct journal_tree *tree = journal_tree(&undoing->last, last->tree);
    struct journal_op op = {.number = last->number,
                            .tree = last->tree,
                            .path = last->path,
                            .has_new = last->has_old,
                            .has_old = last->has_new,
                            .keep = JOURNAL_DROP,
                            .fetched = "",
                            .digest = "",
                            .shape = ""};
    const char *name = "", *why;
    char room[JOURNAL_NAME_BYTES];
    char shape[NAMED_DIGEST_BYTES];
    autoclose int dir_fd = tree ? named_open_parent(tree->fd, last->path, &name) : -EBADMSG;
    int r;

    /* Before it is compared: who works in it from now on shows when it has left its place. */
    if (op.has_old && S_ISDIR(last->new_mode) && dir_fd >= 0 &&
        named_shape(dir_fd, name, shape) == 0)
        op.shape = arena_strdup(&journal->arena, shape);
    if (!op.shape)
        return -ENOMEM;
    why = difference(undoing, last, dir_fd, name, &op.old);
    r = tell(undoing, last->tree, last->path, kind_of(last), why);
    if (r < 0 || why)
        return r;
    if (op.has_new && named_same_place(dir_fd, undoing->last.dir_fd))
        op.fetched = arena_strdup(&journal->arena,
                                  journal_kept_name(&undoing->last, "old", last->number, room));
    if (!op.fetched || !vec_push(&journal->ops, op))
        return -ENOMEM;
    return add_parent(undoing, &op);
}

/* A directory that was only worked in may have got another mode since: that one stays. Its time
 * comes back where nobody else worked in it after the apply. */
static int turn_dir(struct undoing *undoing, const struct journal_dir *last)
{
    struct journal *journal = &undoing->plan.journal;
    const struct journal_tree *tree = journal_tree(&undoing->last, last->tree);
    bool is_changed = last->old_mode != last->new_mode || *last->new_attributes;
    struct journal_dir *dir;
    ssize_t index =
        tree ? operate_dir(journal, &undoing->plan.dirs, last->tree, tree->fd, last->path)
             : -EBADMSG;

    if (index == -ENOMEM)
        return -ENOMEM;
    if (index < 0)
        return is_changed ? tell(undoing, last->tree, last->path, CHANGE_CHANGED,
                                 "is no directory any more")
                          : 0;
    dir = &journal->dirs.items[index];
    if (is_changed) {
        bool is_same = dir->old_mode == last->new_mode;
        int r = tell(undoing, last->tree, last->path, CHANGE_CHANGED,
                     is_same ? NULL : "got another mode since it was applied");

        if (r < 0 || !is_same)
            return r;
        dir->new_mode = last->old_mode;
        dir->old_attributes = last->new_attributes;
        dir->new_attributes = last->old_attributes;
    }
    dir->has_new_times = dir->old_times[1].tv_sec != undoing->ended.tv_sec
                             ? dir->old_times[1].tv_sec < undoing->ended.tv_sec
                             : dir->old_times[1].tv_nsec <= undoing->ended.tv_nsec;
    memcpy(dir->new_times, last->old_times, sizeof(dir->new_times));
    return 0;
}

/* The three indexes of which the fourth is made. */
struct turned {
    struct base now;  /* as it is */
    struct base left; /* as the apply left it */
    struct base before;
};

static int read_notes(struct undoing *undoing, const char *name, struct base *ret_base,
                      struct bawn_error *err)
{
    autofree char *text = NULL;
    size_t length;
    int r = file_read(undoing->plan.store_fd, name, BASE_INDEX_BYTES, &text, &length, err);

    if (r == 0 && base_parse(ret_base, text) < 0)
        r = error_set(err, EBADMSG, "apply.journal_damaged", "%s does not read", name);
    return r;
}

static bool is_same_note(const struct base_note *one, const struct base_note *other)
{
    autostrbuf struct strbuf text = {0}, other_text = {0};

    return other && base_add_text(one, &text) == 0 && base_add_text(other, &other_text) == 0 &&
           strcmp(text.text, other_text.text) == 0;
}

/* The next run may have removed the copy, as no note had it. */
static void bring_copy(const struct undoing *undoing, int layer_fd, const struct base_note *note)
{
    autoclose int base_fd = -EBADF;

    if (!note->has_copy || undoing->plan.options->dry_run)
        return;
    base_fd = openat(layer_fd, "base", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (base_fd >= 0)
        (void)!linkat(undoing->last.dir_fd, note->digest, base_fd, note->digest, 0);
}

/* Whether what is noted is what the apply wrote: the host has that still, and loses it now. */
static bool is_written(const struct undoing *undoing, unsigned tree_number,
                       const struct base_note *note)
{
    const struct journal_tree *tree = journal_tree(&undoing->last, tree_number);
    bool is_undone = false;
    struct stat st;

    vec_each (&undoing->last.ops, op)
        is_undone |= op->has_new && op->tree == tree_number && strcmp(op->path, note->path) == 0;
    return is_undone && tree && named_find(tree->fd, note->path, &st) == 0 &&
           st.st_mode == note->mode && st.st_ino == note->ino;
}

/* What is noted as the same in what goes now is not the host's any more. */
static bool is_in_undone(const struct undoing *undoing, unsigned tree_number, const char *path)
{
    vec_each (&undoing->last.ops, op) {
        if (op->has_new && op->tree == tree_number &&
            (strcmp(path, op->path) == 0 || base_is_in(path, op->path)))
            return true;
    }
    return false;
}

/* The notes that the apply took away or changed return. Those that were made since count. */
static int merge_notes(const struct undoing *undoing, const struct journal_index *last,
                       int layer_fd, const struct turned *turned, struct strbuf *out)
{
    vec_each (&turned->now.notes, note) {
        const struct base_note *before = base_find(&turned->before, (*note)->path);
        bool is_ours = before && (is_same_note(*note, base_find(&turned->left, (*note)->path)) ||
                                  is_written(undoing, last->tree, *note));

        if (!is_ours && (*note)->is_same && is_in_undone(undoing, last->tree, (*note)->path))
            continue;
        if (is_ours)
            bring_copy(undoing, layer_fd, before);
        if (base_add_text(is_ours ? before : *note, out) < 0)
            return -ENOMEM;
    }
    vec_each (&turned->before.notes, note) {
        if (base_find(&turned->now, (*note)->path))
            continue;
        bring_copy(undoing, layer_fd, *note);
        if (base_add_text(*note, out) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int read_turned(struct undoing *undoing, const struct journal_index *last, int layer_fd,
                       struct turned *turned, struct bawn_error *err)
{
    int r = base_load(layer_fd, &turned->now, err);

    if (r == 0)
        r = read_notes(undoing, last->before, &turned->before, err);
    return r < 0 ? r : read_notes(undoing, last->after, &turned->left, err);
}

static int turn_index(struct undoing *undoing, const struct journal_index *last,
                      struct bawn_error *err)
{
    struct journal *journal = &undoing->plan.journal;
    char name[16], room[JOURNAL_NAME_BYTES];
    autostrbuf struct strbuf text = {0};
    struct turned turned = {0};
    struct journal_index index = {.tree = last->tree, .before = ""};
    autoclose int layer_fd = -EBADF;
    int r;

    (void)snprintf(name, sizeof(name), "%u", last->tree);
    layer_fd = openat(undoing->plan.store_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    r = layer_fd < 0 ? error_errno(err, errno, "open layer %s", name)
                     : read_turned(undoing, last, layer_fd, &turned, err);
    index.after =
        arena_strdup(&journal->arena, journal_kept_name(journal, "notes-after", last->tree, room));
    if (r == 0 && (merge_notes(undoing, last, layer_fd, &turned, &text) < 0 || !index.after ||
                   !vec_push(&journal->indexes, index)))
        r = error_memory(err);
    if (r == 0 && !undoing->plan.options->dry_run)
        r = file_write(undoing->plan.store_fd, index.after, text.text ? text.text : "", text.length,
                       err);
    base_done(&turned.now);
    base_done(&turned.left);
    base_done(&turned.before);
    return r;
}

static int turn_all(struct undoing *undoing, struct bawn_error *err)
{
    struct journal *journal = &undoing->plan.journal;
    int r = 0;

    vec_each (&undoing->last.trees, tree) {
        struct journal_tree own = *tree;

        own.fd = fcntl(tree->fd, F_DUPFD_CLOEXEC, 0);
        if (own.fd < 0 || !vec_push(&journal->trees, own))
            return error_memory(err);
    }
    vec_each (&undoing->last.ops, op)
        if (r == 0)
            r = turn_op(undoing, op);
    vec_each (&undoing->last.dirs, dir)
        if (r == 0)
            r = turn_dir(undoing, dir);
    if (r < 0)
        return error_errno(err, -r, "find out how to take the last apply back");
    vec_each (&undoing->last.takes, take)
        if (!vec_push(&journal->takes, *take))
            return error_memory(err);
    vec_each (&undoing->last.indexes, index)
        if (r == 0)
            r = turn_index(undoing, index, err);
    operate_sort(journal);
    return r;
}

/* What comes back lies in the store, under its right mode, or is copied beside its target. */
static int stage_op(struct undoing *undoing, struct journal_op *op, struct bawn_error *err)
{
    struct journal *journal = &undoing->plan.journal;
    const struct journal_op *last = &undoing->last.ops.items[op->number];
    const struct journal_tree *tree = journal_tree(journal, op->tree);
    char kept[JOURNAL_NAME_BYTES], fresh[JOURNAL_NAME_BYTES];
    autoclose int dir_fd = -EBADF;
    const char *name;
    int r = 0;

    if (!op->has_new)
        return 0;
    (void)journal_kept_name(&undoing->last, "old", op->number, kept);
    (void)journal_new_name(journal, op, fresh);
    if (S_ISDIR(last->old.st_mode))
        r = named_set_mode(undoing->plan.store_fd, kept, last->old.st_mode & 07777);
    if (r == 0 && !*op->fetched) {
        dir_fd = operate_open_parent(journal, op->tree, op->path, &name);
        journal_step(journal);
        r = dir_fd < 0 ? dir_fd : copy_exactly(undoing->plan.store_fd, kept, dir_fd, fresh);
    }
    if (r < 0)
        return error_errno(err, -r, "bring back %s/%s", tree->path, op->path);
    return *op->fetched ? stage_note(journal, op, undoing->plan.store_fd, kept, err)
                        : stage_note(journal, op, dir_fd, fresh, err);
}

static int carry_out(struct undoing *undoing, struct bawn_error *err)
{
    struct journal *journal = &undoing->plan.journal;
    struct bawn_error why = {0};
    int r = journal_write(journal, &why), taken_back;

    if (r == 0)
        r = perform_open(journal, &why);
    vec_each (&journal->ops, op)
        if (r == 0)
            r = stage_op(undoing, op, &why);
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

static int refuse(struct apply_result *result, struct bawn_error *err)
{
    const struct apply_item *first = NULL;

    vec_each (&result->items, item)
        if (!first && item->fate == APPLY_CONFLICT)
            first = item;
    (void)error_set(err, ECANCELED, "apply.undo_refused", "nothing was taken back: %s%s",
                    first ? first->why : "", result->refused > 1 ? ", and there is more" : "");
    error_hint(err, "%s", HINT_CHANGED);
    result->done = 0;
    return -ECANCELED;
}

static int turn(struct undoing *undoing, struct bawn_error *err)
{
    struct plan *plan = &undoing->plan;
    int r = journal_init(&plan->journal, plan->store_fd, JOURNAL_UNDO, err);

    plan->journal.step = plan->options->step;
    plan->journal.step_context = plan->options->step_context;
    if (r == 0 && !plan->options->dry_run)
        r = journal_create(&plan->journal, err);
    if (r < 0)
        return r;
    r = turn_all(undoing, err);
    if (plan->options->dry_run)
        return r;
    if (r == 0 && plan->result->refused)
        r = refuse(plan->result, err);
    if (r == 0)
        return carry_out(undoing, err);
    (void)journal_drop(&plan->journal, NULL);
    return r;
}

static int nothing_to_undo(struct bawn_error *err)
{
    (void)error_set(err, ENODATA, "apply.nothing_to_undo", "there is no apply to take back");
    error_hint(err, "only the last one can be, and only once");
    return -ENODATA;
}

int apply_undo(int store_fd, const struct apply_options *options, struct apply_result *ret_result,
               struct bawn_error *err)
{
    struct undoing undoing = {
        .plan = {.store_fd = store_fd, .options = options, .result = ret_result}};
    struct stat st;
    int r;

    *ret_result = (struct apply_result){0};
    undoing.plan.journal.dir_fd = undoing.plan.journal.file_fd = -EBADF;
    if (fstatat(store_fd, "journal", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return error_set(err, EBUSY, "apply.broken_off", "an apply was broken off before its end");
    r = journal_read(&undoing.last, store_fd, "journal.last", err);
    if (r == 1 && undoing.last.verb == JOURNAL_UNDO)
        r = 0;
    if (r == 0)
        r = nothing_to_undo(err);
    if (r == 1)
        r = fstat(undoing.last.file_fd, &st) < 0 ? error_errno(err, errno, "stat the journal")
                                                 : journal_open_trees(&undoing.last, err);
    undoing.ended = st.st_ctim;
    if (r == 0)
        r = turn(&undoing, err);
    map_done(&undoing.plan.dirs);
    journal_done(&undoing.plan.journal);
    journal_done(&undoing.last);
    if (r < 0)
        ret_result->done = 0;
    return r;
}
