/* SPDX-License-Identifier: Apache-2.0 */
/* Puts everything new beside its target, and copies of the old into the store where it cannot be
 * renamed there. */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/copy.h"
#include "overlay/perform.h"
#include "overlay/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Where the first name of a file with several was staged. */
struct first {
    dev_t dev;
    ino_t ino;
    const struct plan_tree *tree;
    const char *path; /* below the host's tree */
};

struct staging {
    struct plan *plan;
    struct map firsts;
};

/* Below the host's tree: the place where a change is staged, in memory of its own. */
static char *staged_path(const struct plan *plan, const struct change *change,
                         const struct choice *choice)
{
    const struct journal_op *op = &plan->journal.ops.items[choice->op];
    const char *slash = strrchr(op->path, '/');
    char name[JOURNAL_NAME_BYTES], *path;

    (void)journal_new_name(&plan->journal, op, name);
    if (asprintf(&path, "%.*s%s%s", (int)(slash ? slash + 1 - op->path : 0), op->path, name,
                 change->path + strlen(op->path)) < 0)
        return NULL;
    return path;
}

static struct copy_how how_of(const struct plan *plan, const struct change *change,
                              const struct choice *choice)
{
    const struct journal *journal = &plan->journal;
    bool is_changed = change->kind == CHANGE_CHANGED;
    const struct stat *owner = is_changed ? &change->before : &change->after;
    struct copy_how how = {.has_owner = is_changed || geteuid() == 0,
                           .uid = owner->st_uid,
                           .gid = owner->st_gid,
                           .is_left = journal->ops.count > PERFORM_SYNC_EACH ||
                                      strcmp(journal->ops.items[choice->op].path, change->path),
                           .is_now = choice->is_merged};

    /* SECURITY: set-id bits never come with new bytes; where only the rest changed they stay. */
    if (is_changed && !(change->what & CHANGE_CONTENT))
        how.set_id = change->before.st_mode & (S_ISUID | S_ISGID);
    return how;
}

/* 1: made as one more name of a file that was staged before. */
static int stage_link(struct staging *staging, const struct plan_tree *tree, const char *path,
                      const struct stat *st, int to_fd, const char *to)
{
    struct journal *journal = &staging->plan->journal;
    struct first key = {.dev = st->st_dev, .ino = st->st_ino}, *first;
    const size_t key_bytes = sizeof(key.dev) + sizeof(key.ino);
    autoclose int dir_fd = -EBADF;
    const char *name;

    first = map_get(&staging->firsts, 0, (const char *)&key, key_bytes);
    if (first) {
        dir_fd = named_open_parent(first->tree->tree->lower_fd, first->path, &name);
        return dir_fd >= 0 && linkat(dir_fd, name, to_fd, to, 0) == 0;
    }
    first = arena_new(&journal->arena, struct first);
    if (!first)
        return -ENOMEM;
    *first = key;
    first->tree = tree;
    first->path = arena_strdup(&journal->arena, path);
    return first->path && map_put(&staging->firsts, 0, (const char *)first, key_bytes, first)
               ? 0
               : -ENOMEM;
}

/* Some of the session's: bytes of the one or the other or of both, and mode and attributes. */
static int stage_part(const struct plan_tree *tree, const struct change *change,
                      const struct choice *choice, int to_fd, const char *to, struct copy_how how)
{
    const struct apply_part *part = &choice->part;
    const struct overlay_tree *both = tree->tree;
    int bytes_root = part->content == APPLY_HOSTS ? both->lower_fd : both->upper_fd;
    const char *name;
    autoclose int bytes_fd = named_open_parent(bytes_root, change->path, &name);
    autoclose int look_fd =
        named_open_parent(part->has_mode ? both->upper_fd : both->lower_fd, change->path, &name);
    int r;

    if (bytes_fd < 0 || look_fd < 0)
        return bytes_fd < 0 ? bytes_fd : look_fd;
    how.set_id = ask_part_mode(change, choice) & (S_ISUID | S_ISGID);
    if (part->content != APPLY_TEXT) {
        r = copy_one(bytes_fd, name, to_fd, to, &how);
        /* The time is that of the bytes. */
        how.is_now = true;
        if (r == 0)
            r = copy_finish(look_fd, name, to_fd, to, &how);
    } else {
        how.is_now = true;
        r = copy_text(look_fd, name, to_fd, to, part->text.bytes, part->text.length, &how);
    }
    return r < 0 ? r : named_set_mode(to_fd, to, ask_part_mode(change, choice) & 07777);
}

static int stage_entry(struct staging *staging, const struct plan_tree *tree,
                       const struct change *change, const struct choice *choice, int to_fd,
                       const char *to, const char *path)
{
    const struct copy_how how = how_of(staging->plan, change, choice);
    const char *from;
    autoclose int from_fd = named_open_parent(tree->tree->upper_fd, change->path, &from);
    struct stat st;
    int r = from_fd < 0 ? from_fd : named_stat(from_fd, from, &st);

    if (r < 0)
        return r;
    journal_step(&staging->plan->journal);
    if (choice->is_part)
        return stage_part(tree, change, choice, to_fd, to, how);
    if (choice->is_merged) {
        r = copy_text(from_fd, from, to_fd, to, choice->merged.bytes, choice->merged.length, &how);
        return r < 0 ? r : named_set_mode(to_fd, to, choice->merged_mode & 01777);
    }
    if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
        r = stage_link(staging, tree, path, &st, to_fd, to);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return copy_one(from_fd, from, to_fd, to, &how);
}

static int stage_change(struct staging *staging, const struct plan_tree *tree,
                        const struct change *change, const struct choice *choice)
{
    autofree char *path = staged_path(staging->plan, change, choice);
    autoclose int to_fd = -EBADF;
    const char *to;

    if (!path)
        return -ENOMEM;
    to_fd = operate_open_parent(&staging->plan->journal, tree->apply->number, path, &to);
    return to_fd < 0 ? to_fd : stage_entry(staging, tree, change, choice, to_fd, to, path);
}

/* When all is in it. */
static int finish_dir(const struct plan *plan, const struct plan_tree *tree,
                      const struct change *change, const struct choice *choice)
{
    const struct copy_how how = how_of(plan, change, choice);
    autofree char *path = staged_path(plan, change, choice);
    autoclose int from_fd = -EBADF, to_fd = -EBADF;
    const char *from, *to;

    if (!path)
        return -ENOMEM;
    from_fd = named_open_parent(tree->tree->upper_fd, change->path, &from);
    to_fd = operate_open_parent(&plan->journal, tree->apply->number, path, &to);
    if (from_fd < 0 || to_fd < 0)
        return from_fd < 0 ? from_fd : to_fd;
    return copy_finish(from_fd, from, to_fd, to, &how);
}

static bool is_staged(const struct plan_tree *tree, size_t index)
{
    return tree->choices[index].op != PLAN_NO_OP &&
           tree->changes->list.items[index].kind != CHANGE_DELETED;
}

static int stage_tree(struct staging *staging, const struct plan_tree *tree, struct bawn_error *err)
{
    const struct changes *changes = tree->changes;
    int r = 0;

    for (size_t i = 0; i < changes->list.count; i++) {
        const struct change *change = &changes->list.items[i];

        if (is_staged(tree, i))
            r = stage_change(staging, tree, change, &tree->choices[i]);
        if (r < 0)
            return error_errno(err, -r, "write what becomes %s/%s", tree->tree->path, change->path);
    }
    for (size_t i = changes->list.count; i-- > 0;) {
        const struct change *change = &changes->list.items[i];

        if (is_staged(tree, i) && S_ISDIR(change->after.st_mode))
            r = finish_dir(staging->plan, tree, change, &tree->choices[i]);
        if (r < 0)
            return error_errno(err, -r, "finish what becomes %s/%s", tree->tree->path,
                               change->path);
    }
    return 0;
}

/* Empty directories that have the attributes of others. */
static int hold_attributes(const struct journal *journal, int root_fd, const char *path,
                           const char *holder)
{
    autoclose int from = named_open_dir(root_fd, path), to = -EBADF;

    if (from < 0)
        return from;
    if (mkdirat(journal->store_fd, holder, 0700) < 0)
        return -errno;
    to = openat(journal->store_fd, holder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return to < 0 ? -errno : copy_attributes(from, to, false);
}

static int stage_attributes(const struct plan *plan, const struct plan_tree *tree,
                            struct bawn_error *err)
{
    vec_each (&plan->journal.dirs, dir) {
        int r = 0;

        if (dir->tree != tree->apply->number || !*dir->new_attributes)
            continue;
        journal_step(&plan->journal);
        r = hold_attributes(&plan->journal, tree->tree->lower_fd, dir->path, dir->old_attributes);
        if (r == 0)
            r = hold_attributes(&plan->journal, tree->tree->upper_fd, dir->path,
                                dir->new_attributes);
        if (r < 0)
            return error_errno(err, -r, "copy the attributes of %s/%s", tree->tree->path,
                               dir->path);
    }
    return 0;
}

int stage_note(struct journal *journal, struct journal_op *op, int dir_fd, const char *name,
               struct bawn_error *err)
{
    char digest[NAMED_DIGEST_BYTES] = "";
    struct stat st;
    int r = named_stat(dir_fd, name, &st);

    if (r == 0 && !st.st_mode)
        r = -ENOENT;
    if (r == 0 && journal->verb == JOURNAL_APPLY)
        r = named_digest(dir_fd, name, &journal->memo, digest);
    if (r < 0)
        return error_errno(err, -r, "look at what becomes %s", op->path);
    op->new_ino = st.st_ino;
    op->new_mode = st.st_mode;
    if (journal->verb == JOURNAL_APPLY)
        op->digest = arena_strdup(&journal->arena, digest);
    return op->digest ? journal_add_staged(journal, op, err) : error_memory(err);
}

/* The copy of the old thing, and what the new one is. */
static int stage_op(struct plan *plan, struct journal_op *op, struct bawn_error *err)
{
    const struct journal_tree *tree = journal_tree(&plan->journal, op->tree);
    const char *name;
    autoclose int dir_fd = operate_open_parent(&plan->journal, op->tree, op->path, &name);
    char room[JOURNAL_NAME_BYTES];
    int r = dir_fd < 0 ? dir_fd : 0;

    if (r == 0 && op->keep == JOURNAL_COPY) {
        journal_step(&plan->journal);
        r = copy_exactly(dir_fd, name, plan->store_fd,
                         journal_kept_name(&plan->journal, "old", op->number, room));
    }
    if (r < 0)
        return error_errno(err, -r, "keep what %s/%s was", tree->path, op->path);
    return op->has_new ? stage_note(&plan->journal, op, dir_fd,
                                    journal_new_name(&plan->journal, op, room), err)
                       : 0;
}

int stage_all(struct plan *plan, struct bawn_error *err)
{
    struct staging staging = {.plan = plan};
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->tree_count; i++) {
        r = stage_tree(&staging, &plan->trees[i], err);
        if (r == 0)
            r = stage_attributes(plan, &plan->trees[i], err);
    }
    map_done(&staging.firsts);
    vec_each (&plan->journal.ops, op)
        if (r == 0)
            r = stage_op(plan, op, err);
    return r;
}
