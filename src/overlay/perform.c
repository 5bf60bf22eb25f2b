/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/perform.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/copy.h"
#include "overlay/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* What has which name, where an operation is to be made or taken back. */
struct scene {
    int dir_fd;
    const char *target;
    char fresh[JOURNAL_NAME_BYTES], aside[JOURNAL_NAME_BYTES];
    struct stat at_target, at_fresh, at_aside;
};

static bool is_old(const struct journal_op *op, const struct stat *st)
{
    return st->st_mode && st->st_ino == op->old.st_ino &&
           (st->st_mode & S_IFMT) == (op->old.st_mode & S_IFMT);
}

static bool is_new(const struct journal_op *op, const struct stat *st)
{
    return st->st_mode && op->new_ino && st->st_ino == op->new_ino &&
           (st->st_mode & S_IFMT) == (op->new_mode & S_IFMT);
}

static int look(struct scene *scene)
{
    int r = named_stat(scene->dir_fd, scene->target, &scene->at_target);

    if (r == 0)
        r = named_stat(scene->dir_fd, scene->fresh, &scene->at_fresh);
    return r < 0 ? r : named_stat(scene->dir_fd, scene->aside, &scene->at_aside);
}

static int scene_open(const struct journal *journal, const struct journal_op *op,
                      struct scene *ret_scene)
{
    int r;

    (void)journal_new_name(journal, op, ret_scene->fresh);
    (void)journal_old_name(journal, op, ret_scene->aside);
    ret_scene->dir_fd = operate_open_parent(journal, op->tree, op->path, &ret_scene->target);
    if (ret_scene->dir_fd < 0)
        return ret_scene->dir_fd;
    r = look(ret_scene);
    if (r < 0)
        close(ret_scene->dir_fd);
    return r;
}

static int rename_here(const struct journal *journal, const struct scene *scene, const char *from,
                       const char *to)
{
    journal_step(journal);
    return named_move(scene->dir_fd, from, scene->dir_fd, to);
}

/* The two change places: nobody sees a moment without either. Not every file system can. */
static int exchange(const struct journal *journal, const struct scene *scene)
{
    int r;

    journal_step(journal);
    if (renameat2(scene->dir_fd, scene->fresh, scene->dir_fd, scene->target, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return -errno;
    r = rename_here(journal, scene, scene->target, scene->aside);
    return r < 0 ? r : rename_here(journal, scene, scene->fresh, scene->target);
}

/* What is put back comes out of the store first. */
static int fetch(const struct journal *journal, const struct journal_op *op, struct scene *scene)
{
    int r;

    if (!*op->fetched || scene->at_fresh.st_mode)
        return 0;
    journal_step(journal);
    r = named_move(journal->store_fd, op->fetched, scene->dir_fd, scene->fresh);
    if (r == 0 && S_ISDIR(op->new_mode))
        r = named_set_mode(scene->dir_fd, scene->fresh, op->new_mode & 07777);
    return r < 0 ? r : look(scene);
}

/* Somebody wrote to it after it was looked at: what they wrote would be lost. */
static bool is_touched(const struct journal_op *op, const struct stat *st)
{
    return !S_ISDIR(st->st_mode) &&
           (st->st_size != op->old.st_size || st->st_mtim.tv_sec != op->old.st_mtim.tv_sec ||
            st->st_mtim.tv_nsec != op->old.st_mtim.tv_nsec);
}

/* What has left its place: the old thing, and nobody worked on it since it was looked at. */
static int check_out(const struct journal_op *op, const struct scene *scene, const char *name,
                     const struct stat *st)
{
    char shape[NAMED_DIGEST_BYTES];
    int r;

    if (!is_old(op, st) || is_touched(op, st))
        return -ESTALE;
    if (!S_ISDIR(st->st_mode) || !*op->shape)
        return 0;
    r = named_shape(scene->dir_fd, name, shape);
    if (r < 0)
        return r;
    return strcmp(shape, op->shape) == 0 ? 0 : -ESTALE;
}

/* Only now is it certain what was there: between a look and a rename somebody may put something
 * else in its place. */
static int check_placed(const struct journal_op *op, const struct scene *scene)
{
    if (scene->at_fresh.st_mode)
        return check_out(op, scene, scene->fresh, &scene->at_fresh);
    return scene->at_aside.st_mode ? check_out(op, scene, scene->aside, &scene->at_aside) : 0;
}

static int rename_all(const struct journal *journal, const struct journal_op *op,
                      struct scene *scene)
{
    const struct stat *target = &scene->at_target;
    int r;

    if (op->has_new ? is_new(op, target) : !target->st_mode && scene->at_aside.st_mode)
        return 0;
    r = fetch(journal, op, scene);
    if (r < 0)
        return r;
    if (op->has_new && !is_new(op, &scene->at_fresh))
        return -ESTALE;
    if (!target->st_mode && op->has_new && (!op->has_old || is_old(op, &scene->at_aside)))
        return rename_here(journal, scene, scene->fresh, scene->target);
    if (!op->has_old)
        return -EEXIST;
    if (!is_old(op, target) || is_touched(op, target))
        return -ESTALE;
    return op->has_new ? exchange(journal, scene)
                       : rename_here(journal, scene, scene->target, scene->aside);
}

static int place(const struct journal *journal, const struct journal_op *op, struct scene *scene)
{
    int r = rename_all(journal, op, scene);

    if (r == 0)
        r = look(scene);
    return r < 0 ? r : check_placed(op, scene);
}

static int remove_here(const struct journal *journal, const struct scene *scene, const char *name)
{
    journal_step(journal);
    return named_remove(scene->dir_fd, name);
}

/* Whatever came out from under the name goes back to it, be it what somebody else put there. */
static int back(const struct journal *journal, const struct journal_op *op, struct scene *scene)
{
    int r = 0;

    if (op->has_new && is_new(op, &scene->at_target)) {
        if (scene->at_fresh.st_mode)
            r = exchange(journal, scene);
        else
            r = rename_here(journal, scene, scene->target, scene->fresh);
    }
    if (r == 0)
        r = look(scene);
    if (r == 0 && !scene->at_target.st_mode && scene->at_aside.st_mode)
        r = rename_here(journal, scene, scene->aside, scene->target);
    if (r == 0)
        r = look(scene);
    if (r < 0 || !scene->at_fresh.st_mode)
        return r;
    if (!*op->fetched)
        return remove_here(journal, scene, scene->fresh);
    journal_step(journal);
    r = named_move(scene->dir_fd, scene->fresh, journal->store_fd, op->fetched);
    if (r == 0 && S_ISDIR(op->new_mode))
        r = named_set_mode(journal->store_fd, op->fetched, op->new_mode & 07777);
    return r;
}

/* The old thing moves into the store, or goes: it is there already, or nobody wants it. */
static int put_away(const struct journal *journal, const struct journal_op *op,
                    const struct scene *scene, const char *name)
{
    char kept[JOURNAL_NAME_BYTES];
    int r;

    if (op->keep != JOURNAL_MOVE)
        return remove_here(journal, scene, name);
    (void)journal_kept_name(journal, "old", op->number, kept);
    journal_step(journal);
    r = named_move(scene->dir_fd, name, journal->store_fd, kept);
    if (r == -EXDEV) {
        /* Quotas of projects divide a file system, too, and do not show. */
        (void)named_remove(journal->store_fd, kept);
        r = copy_exactly(scene->dir_fd, name, journal->store_fd, kept);
        return r < 0 ? r : remove_here(journal, scene, name);
    }
    if (r == 0 && S_ISDIR(op->old.st_mode))
        r = named_set_mode(journal->store_fd, kept, op->old.st_mode & 07777);
    return r;
}

static int clean(const struct journal *journal, const struct journal_op *op, struct scene *scene)
{
    int r = 0;

    if (op->has_old && is_old(op, &scene->at_fresh))
        r = put_away(journal, op, scene, scene->fresh);
    if (r == 0 && is_old(op, &scene->at_aside))
        r = put_away(journal, op, scene, scene->aside);
    return r;
}

static int try_scene(const struct journal *journal, const struct journal_op *op,
                     int (*act)(const struct journal *, const struct journal_op *, struct scene *))
{
    struct scene scene;
    int r = scene_open(journal, op, &scene);

    if (r == 0) {
        r = act(journal, op, &scene);
        close(scene.dir_fd);
    }
    return r;
}

static int tell_scene(const struct journal *journal, const struct journal_op *op, int r,
                      struct bawn_error *err)
{
    const struct journal_tree *tree = journal_tree(journal, op->tree);

    if (r == 0 || perform_may_be_gone(journal, r))
        return 0;
    if (r == -ESTALE || r == -EEXIST)
        return error_set(err, -r, "apply.changed_meanwhile",
                         "%s/%s was changed while changes were applied", tree ? tree->path : "",
                         op->path);
    (void)error_errno(err, -r, "change %s/%s", tree ? tree->path : "", op->path);
    error_hint(err, "if it was moved, put its directory back to where it was, and try again");
    return r;
}

static int with_scene(const struct journal *journal, const struct journal_op *op,
                      int (*act)(const struct journal *, const struct journal_op *, struct scene *),
                      struct bawn_error *err)
{
    return tell_scene(journal, op, try_scene(journal, op, act), err);
}

/* Where somebody has another directory in the way it may come back soon: else what was staged in it
 * would stay there. */
static int back_patiently(const struct journal *journal, const struct journal_op *op,
                          unsigned *patience)
{
    int r = try_scene(journal, op, back);

    while (perform_may_be_gone(journal, r) && *patience > 0) {
        --*patience;
        (void)poll(NULL, 0, 1);
        r = try_scene(journal, op, back);
    }
    return r;
}

int perform_place(struct journal *journal, struct bawn_error *err)
{
    int r = perform_open(journal, err);

    vec_each (&journal->ops, op)
        if (r == 0)
            r = with_scene(journal, op, place, err);
    if (r == 0)
        r = perform_dirs(journal, PERFORM_NEW_ATTRIBUTES, err);
    if (r == 0)
        r = perform_sync_dirs(journal, err);
    return r < 0 ? r : journal_add_point(journal, "placed", err);
}

/* All that can be is taken back, and the first that cannot is told. */
int perform_back(struct journal *journal, struct bawn_error *err)
{
    int r = perform_open(journal, err), one;
    unsigned patience = 200;

    for (size_t i = journal->ops.count; i-- > 0;) {
        const struct journal_op *op = &journal->ops.items[i];

        one = tell_scene(journal, op, back_patiently(journal, op, &patience), r == 0 ? err : NULL);
        r = r < 0 ? r : one;
    }
    /* Before that none was given, and those that are kept may not be whole. */
    if (journal->is_committed) {
        one = perform_dirs(journal, PERFORM_OLD_ATTRIBUTES, r == 0 ? err : NULL);
        r = r < 0 ? r : one;
    }
    one = perform_dirs(journal, PERFORM_OLD_MODES, r == 0 ? err : NULL);
    r = r < 0 ? r : one;
    return r < 0 ? r : journal_drop(journal, err);
}

static int open_layer(const struct journal *journal, unsigned tree, const char *path,
                      const char **ret_name)
{
    char name[32];
    autoclose int upper_fd = -EBADF;

    (void)snprintf(name, sizeof(name), "%u/upper", tree);
    upper_fd = openat(journal->store_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return upper_fd < 0 ? -errno : named_open_parent(upper_fd, path, ret_name);
}

/* Back into the layer. Where the session has made a directory of that name since, what that does
 * not have comes into it; what it has is newer. */
static int give_back(int from_fd, const char *from, int to_fd, const char *to)
{
    autoclose int from_dir = -EBADF, to_dir = -EBADF;
    autonamed struct named_list names = {0};
    int r = named_move(from_fd, from, to_fd, to);

    if (r != -EEXIST)
        return r;
    (void)named_set_mode(from_fd, from, 0700);
    from_dir = openat(from_fd, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    to_dir = openat(to_fd, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    r = from_dir < 0 || to_dir < 0 ? 0 : named_read(from_dir, &names);
    vec_each (&names.list, name)
        if (r == 0)
            r = give_back(from_dir, *name, to_dir, *name);
    return r;
}

/*
 * What was applied leaves the layer, and what is taken back returns to it, unless another thing has
 * the name by now. Both are a service: the host's tree is as it was to be, so that neither fails
 * it. -ENOSPC: there is no room for the name now, and the journal stays until there is.
 */
static int move_take(const struct journal *journal, const struct journal_take *take)
{
    const char *name = "";
    autoclose int dir_fd = open_layer(journal, take->tree, take->path, &name);
    bool is_back = journal->verb == JOURNAL_UNDO;
    struct stat dir, st;
    bool is_shut;
    int r;

    if (dir_fd < 0 || fstat(dir_fd, &dir) < 0)
        return 0;
    if (named_stat(is_back ? journal->store_fd : dir_fd, is_back ? take->kept : name, &st) < 0 ||
        !st.st_mode)
        return 0;
    journal_step(journal);
    is_shut = geteuid() != 0 && (dir.st_mode & 0200) == 0;
    if (is_shut)
        (void)named_set_mode(dir_fd, ".", (dir.st_mode & 07777) | 0200);
    r = is_back ? give_back(journal->store_fd, take->kept, dir_fd, name)
                : named_move(dir_fd, name, journal->store_fd, take->kept);
    if (is_shut)
        (void)named_set_mode(dir_fd, ".", dir.st_mode & 07777);
    if (S_ISDIR(take->mode))
        (void)named_set_mode(is_back ? dir_fd : journal->store_fd, is_back ? name : take->kept,
                             take->mode & 07777);
    return r == -ENOSPC || r == -EDQUOT ? -ENOSPC : 0;
}

static int write_index(const struct journal *journal, const struct journal_index *index,
                       struct bawn_error *err)
{
    char name[32];
    autoclose int from = -EBADF, to = -EBADF, dir_fd = -EBADF;

    (void)snprintf(name, sizeof(name), "%u/base", index->tree);
    journal_step(journal);
    dir_fd = openat(journal->store_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir_fd < 0)
        return errno == ENOENT ? 0 : error_errno(err, errno, "open %s", name);
    from = openat(journal->store_fd, index->after, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    (void)unlinkat(dir_fd, "index.new", 0);
    to = openat(dir_fd, "index.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (from < 0 || to < 0 || copy_bytes(from, to) < 0 || fsync(to) < 0 ||
        renameat(dir_fd, "index.new", dir_fd, "index") < 0)
        return error_errno(err, errno, "write %s/index", name);
    return 0;
}

int perform_clean(struct journal *journal, struct bawn_error *err)
{
    int r = perform_open(journal, err), one;

    vec_each (&journal->ops, op) {
        one = with_scene(journal, op, clean, r == 0 ? err : NULL);
        r = r < 0 ? r : one;
    }
    one = perform_dirs(journal, PERFORM_NEW_MODES, r == 0 ? err : NULL);
    r = r < 0 ? r : one;
    if (r < 0)
        return r;
    /* Back into the layer parents come first, as they left it; the list has them in that order. */
    vec_each (&journal->takes, take)
        if (r == 0)
            r = move_take(journal, take);
    if (r < 0)
        return error_errno(err, -r, "tidy up the layer");
    vec_each (&journal->indexes, index)
        if (r == 0)
            r = write_index(journal, index, err);
    return r < 0 ? r : journal_finish(journal, err);
}

int perform_all(struct journal *journal, struct bawn_error *err)
{
    struct bawn_error why = {0};
    int r = perform_place(journal, &why), taken_back;

    if (r == 0) {
        r = perform_clean(journal, &why);
        if (r < 0)
            (void)error_set(err, -r, "apply.untidy",
                            "all of it was done, but what is left of it cannot be tidied up: %s",
                            why.message);
        if (r < 0)
            error_hint(err, "the next of these commands does it, when there is room");
        return r;
    }
    taken_back = journal_add_point(journal, "abort", err);
    if (taken_back == 0)
        taken_back = perform_back(journal, err);
    if (taken_back < 0)
        return taken_back;
    if (err)
        *err = why;
    return r;
}
