/* SPDX-License-Identifier: Apache-2.0 */
/* Makes operations of changes: one for each name of the host's that comes, goes, or becomes another
 * thing; what is in a new directory comes with it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { SET_ID_BITS = S_ISUID | S_ISGID };

#define HINT_AGAIN "look at the changes again, and repeat it"

ssize_t operate_dir(struct journal *journal, struct map *dirs, unsigned tree, int tree_fd,
                    const char *path)
{
    struct journal_dir dir = {.tree = tree, .old_attributes = "", .new_attributes = ""};
    size_t index = (size_t)(uintptr_t)map_get(dirs, tree, path, strlen(path));
    autoclose int fd = -EBADF;
    struct stat st;

    if (index > 0)
        return (ssize_t)index - 1;
    fd = named_open_dir(tree_fd, path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    dir.path = arena_strdup(&journal->arena, path);
    dir.ino = st.st_ino;
    dir.old_mode = dir.new_mode = st.st_mode;
    dir.old_times[0] = st.st_atim;
    dir.old_times[1] = st.st_mtim;
    if (!dir.path || !vec_push(&journal->dirs, dir) ||
        !map_put(dirs, tree, dir.path, strlen(path), (void *)(uintptr_t)journal->dirs.count))
        return -ENOMEM;
    return (ssize_t)journal->dirs.count - 1;
}

static int by_path(const void *a, const void *b)
{
    const struct journal_dir *one = a, *other = b;

    return one->tree != other->tree ? (one->tree < other->tree ? -1 : 1)
                                    : plan_compare_paths(one->path, other->path);
}

void operate_sort(struct journal *journal)
{
    unsigned number = 0;

    if (journal->dirs.count > 1)
        qsort(journal->dirs.items, journal->dirs.count, sizeof(struct journal_dir), by_path);
    vec_each (&journal->dirs, dir)
        dir->number = number++;
}

static const struct journal_dir *dir_at(const struct journal *journal, unsigned tree,
                                        const char *path)
{
    const struct journal_dir wanted = {.tree = tree, .path = path};

    return journal->dirs.count
               ? bsearch(&wanted, journal->dirs.items, journal->dirs.count, sizeof(wanted), by_path)
               : NULL;
}

int operate_open_parent(const struct journal *journal, unsigned tree, const char *path,
                        const char **ret_name)
{
    const struct journal_tree *of = journal_tree(journal, tree);
    const char *slash = strrchr(path, '/');
    autofree char *parent = strndup(path, slash ? (size_t)(slash - path) : 0);
    autoclose int fd = of ? named_open_parent(of->fd, path, ret_name) : -EBADMSG;
    const struct journal_dir *dir = parent ? dir_at(journal, tree, parent) : NULL;
    struct stat st;

    if (!parent)
        return -ENOMEM;
    if (fd < 0)
        return fd;
    if (dir && fstat(fd, &st) < 0)
        return -errno;
    return dir && st.st_ino != dir->ino ? -ENOENT : take_fd(&fd);
}

/* A directory that stays gets another mode or other attributes. */
static int operate_on_dir(struct plan *plan, const struct plan_tree *tree,
                          const struct change *change)
{
    ssize_t index = operate_dir(&plan->journal, &plan->dirs, tree->apply->number,
                                tree->tree->lower_fd, change->path);
    struct journal_dir *dir;

    if (index < 0)
        return (int)index;
    dir = &plan->journal.dirs.items[index];
    /* SECURITY: a bit of these is kept where both have it, and never given. */
    dir->new_mode = S_IFDIR | (change->after.st_mode & 01777) |
                    (change->after.st_mode & change->before.st_mode & SET_ID_BITS);
    /* Not named yet: the number comes with the order. Only whether there are any. */
    if (change->what & CHANGE_ATTRIBUTES)
        dir->old_attributes = dir->new_attributes = "?";
    return 0;
}

static bool is_as_found(const struct change *change, const struct stat *st)
{
    const struct stat *found = &change->before;

    if (!found->st_mode || !st->st_mode)
        return found->st_mode == st->st_mode;
    return found->st_mode == st->st_mode && found->st_ino == st->st_ino &&
           (S_ISDIR(st->st_mode) ||
            (found->st_size == st->st_size && found->st_mtim.tv_sec == st->st_mtim.tv_sec &&
             found->st_mtim.tv_nsec == st->st_mtim.tv_nsec));
}

static int tell_blocked(struct plan *plan, const struct plan_tree *tree,
                        const struct change *change, int errnum)
{
    const char *why =
        errnum == ESTALE    ? "was changed on the host just now"
        : errnum == ENOENT  ? "is in a directory that the host does not have any more"
        : errnum == ENOTDIR ? "is below something that is no directory on the host"
        : errnum == ELOOP   ? "is below a symbolic link on the host, which is not followed"
        : errnum == EXDEV   ? "is below a mount on the host, which the session did not see"
                            : NULL;

    if (!why)
        return plan_tell(plan, tree->apply->number, change, APPLY_CONFLICT, HINT_AGAIN,
                         "%s/%s cannot be changed: %s", tree->tree->path, change->path,
                         strerror(errnum));
    return plan_tell(plan, tree->apply->number, change, APPLY_CONFLICT, HINT_AGAIN, "%s/%s %s",
                     tree->tree->path, change->path, why);
}

/* What is in a directory that goes. Afterwards it is compared once more: who works in it from now
 * on shows when it has left its place. As new_op. */
static int note_shape(struct plan *plan, const struct plan_tree *tree, const struct change *change,
                      int dir_fd, const char *name, struct journal_op *op)
{
    enum base_state state = BASE_SAME;
    autofree char *which = NULL;
    char shape[NAMED_DIGEST_BYTES];
    int r = named_shape(dir_fd, name, shape);

    if (r == 0 && plan->options->conflicts != APPLY_MINE)
        r = base_compare(&tree->base, tree->tree, change, &state, &which);
    if (r < 0)
        return r == -ENOMEM ? r : -r;
    op->shape = arena_strdup(&plan->journal.arena, shape);
    if (!op->shape)
        return -ENOMEM;
    return state == BASE_SAME ? 0 : ESTALE;
}

/* 0: an operation was made; > 0: an errno of which the caller tells. */
static int new_op(struct plan *plan, struct plan_tree *tree, const struct change *change,
                  struct choice *choice)
{
    struct journal_op op = {.number = (unsigned)plan->journal.ops.count,
                            .tree = tree->apply->number,
                            .has_new = change->kind != CHANGE_DELETED,
                            .fetched = "",
                            .digest = "",
                            .shape = ""};
    const char *name, *slash = strrchr(change->path, '/');
    autoclose int dir_fd = named_open_parent(tree->tree->lower_fd, change->path, &name);
    autofree char *parent = strndup(change->path, slash ? (size_t)(slash - change->path) : 0);
    ssize_t dir;
    int r;

    if (!parent)
        return -ENOMEM;
    r = dir_fd < 0 ? dir_fd : named_stat(dir_fd, name, &op.old);
    if (r < 0)
        return r == -ENOMEM ? r : -r;
    if (!is_as_found(change, &op.old))
        return ESTALE;
    if (geteuid() != 0 && faccessat(dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0) {
        struct stat st;

        /* Its owner lets himself in. */
        if (fstat(dir_fd, &st) < 0 || st.st_uid != geteuid())
            return EACCES;
    }
    if (S_ISDIR(op.old.st_mode)) {
        r = note_shape(plan, tree, change, dir_fd, name, &op);
        if (r != 0)
            return r;
    }
    op.has_old = op.old.st_mode != 0;
    op.keep = !op.has_old                                ? JOURNAL_DROP
              : named_same_place(dir_fd, plan->store_fd) ? JOURNAL_MOVE
                                                         : JOURNAL_COPY;
    op.path = arena_strdup(&plan->journal.arena, change->path);
    dir = operate_dir(&plan->journal, &plan->dirs, op.tree, tree->tree->lower_fd, parent);
    if (!op.path || dir == -ENOMEM)
        return -ENOMEM;
    if (dir < 0)
        return (int)-dir;
    if (!op.has_old && !op.has_new)
        return 0;
    choice->op = (ssize_t)op.number;
    return vec_push(&plan->journal.ops, op) ? 0 : -ENOMEM;
}

static int operate(struct plan *plan, struct plan_tree *tree, const struct change *change,
                   struct choice *choice)
{
    const struct change *above;
    const struct choice *parent = plan_parent(tree, change->path, &above);
    int r = 0;

    if (parent && parent->is_taken && parent->op != PLAN_NO_OP)
        choice->op = parent->op;
    else if (change->kind == CHANGE_CHANGED && S_ISDIR(change->after.st_mode))
        r = operate_on_dir(plan, tree, change);
    else
        r = new_op(plan, tree, change, choice);
    if (r == -ENOMEM)
        return r;
    if (r != 0)
        return tell_blocked(plan, tree, change, r < 0 ? -r : r);
    return plan_tell(plan, tree->apply->number, change,
                     choice->is_part     ? APPLY_PARTLY
                     : choice->is_merged ? APPLY_MERGED
                                         : APPLY_DONE,
                     "", "%s", "");
}

int operate_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err)
{
    for (size_t i = 0; i < tree->changes->list.count; i++)
        if (tree->choices[i].is_taken &&
            operate(plan, tree, &tree->changes->list.items[i], &tree->choices[i]) < 0)
            return error_memory(err);
    return 0;
}

int operate_finish(struct plan *plan, struct bawn_error *err)
{
    struct journal *journal = &plan->journal;
    char room[JOURNAL_NAME_BYTES];

    operate_sort(journal);
    vec_each (&journal->dirs, dir) {
        if (!*dir->new_attributes)
            continue;
        dir->old_attributes =
            arena_strdup(&journal->arena, journal_kept_name(journal, "dir-old", dir->number, room));
        dir->new_attributes =
            arena_strdup(&journal->arena, journal_kept_name(journal, "dir-new", dir->number, room));
        if (!dir->old_attributes || !dir->new_attributes)
            return error_memory(err);
    }
    return 0;
}
