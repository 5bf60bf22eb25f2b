/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes are selected, and whether each may be applied. */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/plan.h"
#include "overlay/select.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MERGE_BYTES = BASE_COPY_BYTES };

#define HINT_CONFLICT                                                                              \
    "look at both, then apply it again and say whose wins or that they are to be merged; or "      \
    "leave "                                                                                       \
    "it out"
#define HINT_BARRED    "leave it out, or have skipped what is never applied"
#define HINT_PROTECTED "look at what it does, then allow it in so many words; or leave it out"
#define HINT_FAILED    "see to it that it can be read and written, or leave it out"

struct choice *plan_parent(const struct plan_tree *tree, const char *path,
                           const struct change **ret_change)
{
    const char *slash = strrchr(path, '/');
    size_t index =
        slash ? (size_t)(uintptr_t)map_get(&tree->by_path, 0, path, (size_t)(slash - path)) : 0;

    if (index == 0)
        return NULL;
    *ret_change = &tree->changes->list.items[index - 1];
    return &tree->choices[index - 1];
}

bool plan_is_made_dir(const struct change *change)
{
    return (change->kind == CHANGE_ADDED || change->kind == CHANGE_REPLACED) &&
           S_ISDIR(change->after.st_mode);
}

static void select_with_parents(const struct plan_tree *tree, struct choice *choice,
                                const struct change *change)
{
    while (choice && !choice->is_selected) {
        choice->is_selected = true;
        choice = plan_parent(tree, change->path, &change);
        if (choice && !plan_is_made_dir(change))
            return;
    }
}

static void select_changes(const struct plan *plan, const struct plan_tree *tree)
{
    const struct apply_options *options = plan->options;

    for (size_t i = 0; i < tree->changes->list.count; i++) {
        const struct change *change = &tree->changes->list.items[i];
        bool is_selected = options->path_count == 0;

        for (size_t j = 0; !is_selected && j < options->path_count; j++)
            is_selected = select_matches(options->paths[j], tree->tree->path, change->path);
        if (is_selected)
            select_with_parents(tree, &tree->choices[i], change);
    }
}

static int tell(struct plan *plan, const struct plan_tree *tree, const struct change *change,
                enum apply_fate fate, const char *hint, const char *why)
{
    return plan_tell(plan, tree->apply->number, change, fate, hint, "%s/%s %s", tree->tree->path,
                     change->path, why);
}

static const char *bar_text(const struct change *change)
{
    switch (change->bar) {
    case CHANGE_DEVICE:
        return "is a device, and none is ever made on the host";
    case CHANGE_SOCKET:
        return "is a socket, which is of no use without the program that listened there";
    case CHANGE_SET_ID:
        return "has a set-user-id or set-group-id bit that the host's does not have";
    case CHANGE_UNREADABLE:
    case CHANGE_FREE:
        break;
    }
    return "cannot be read";
}

static int judge_bar(struct plan *plan, const struct plan_tree *tree, const struct change *change)
{
    bool is_skipped = plan->options->skip_barred;

    return plan_tell(plan, tree->apply->number, change, is_skipped ? APPLY_LEFT : APPLY_BARRED,
                     is_skipped ? "" : HINT_BARRED, "%s/%s %s%s%s", tree->tree->path, change->path,
                     bar_text(change), change->errnum ? ": " : "",
                     change->errnum ? strerror(change->errnum) : "");
}

/* The same of a directory and those above it within the tree. Free ones are remembered: a deep tree
 * is not gone up again for each path in it. */
static const char *protection_above(struct plan *plan, const char *full, size_t length,
                                    size_t root_length)
{
    const struct apply_options *options = plan->options;
    const char *dir, *why;

    if (length <= root_length || map_get(&plan->free_dirs, 0, full, length))
        return NULL;
    dir = arena_strndup(&plan->journal.arena, full, length);
    if (!dir)
        return "out of memory";
    why = options->is_protected(options->context, dir, S_IFDIR);
    if (!why)
        why = protection_above(plan, dir, (size_t)(strrchr(dir, '/') - dir), root_length);
    if (!why && !map_put(&plan->free_dirs, 0, dir, length, plan))
        why = "out of memory";
    return why;
}

/* Why a path or one above it within the tree is protected from such a thing. */
static const char *protection(struct plan *plan, const struct plan_tree *tree, const char *path,
                              mode_t mode)
{
    const char *root = strcmp(tree->tree->path, "/") == 0 ? "" : tree->tree->path;
    const struct apply_options *options = plan->options;
    autofree char *full = NULL;
    const char *why;

    if (asprintf(&full, "%s%s%s", root, *path ? "/" : "", path) < 0) {
        full = NULL;
        return "out of memory";
    }
    why = options->is_protected(options->context, *full ? full : "/", mode);
    if (!why && *path)
        why = protection_above(plan, full, (size_t)(strrchr(full, '/') - full), strlen(root));
    return why;
}

/* The same of all that the host has in a directory that goes. */
static int protection_inside(struct plan *plan, const struct plan_tree *tree, int dir_fd,
                             const char *path, const char **ret_why, char **ret_which)
{
    autonamed struct named_list names = {0};
    int r = named_read(dir_fd, &names);

    vec_each (&names.list, name) {
        autofree char *inner = NULL;
        struct stat st;

        if (r < 0 || *ret_why)
            return r;
        if (asprintf(&inner, "%s/%s", path, *name) < 0) {
            inner = NULL;
            return -ENOMEM;
        }
        r = named_stat(dir_fd, *name, &st);
        *ret_why = protection(plan, tree, inner, r == 0 ? st.st_mode : S_IFREG);
        if (*ret_why) {
            *ret_which = take_ptr(&inner);
        } else if (r == 0 && S_ISDIR(st.st_mode)) {
            autoclose int fd = openat(dir_fd, *name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            r = fd < 0 ? -errno : protection_inside(plan, tree, fd, inner, ret_why, ret_which);
        }
    }
    return r;
}

/* 1: it may not be touched, which was told. */
static int judge_protected(struct plan *plan, const struct plan_tree *tree,
                           const struct change *change)
{
    autofree char *which = NULL;
    const char *why;
    int r = 0;

    if (!plan->options->is_protected || plan->options->allow_protected)
        return 0;
    why = protection(plan, tree, change->path,
                     change->after.st_mode ? change->after.st_mode : change->before.st_mode);
    if (!why && S_ISDIR(change->before.st_mode) && change->kind != CHANGE_CHANGED) {
        autoclose int fd = named_open_dir(tree->tree->lower_fd, change->path);

        r = fd < 0 ? fd : protection_inside(plan, tree, fd, change->path, &why, &which);
    }
    if (!why)
        return r == -ENOENT ? 0 : r;
    r = plan_tell(plan, tree->apply->number, change, APPLY_PROTECTED, HINT_PROTECTED,
                  "%s/%s is protected: %s", tree->tree->path, which ? which : change->path, why);
    return r < 0 ? r : 1;
}

static int read_side(int root_fd, const char *path, struct merge_text *ret_text)
{
    const char *name;
    autoclose int dir_fd = named_open_parent(root_fd, path, &name);
    autoclose int fd = -EBADF;
    struct stat st;

    if (dir_fd < 0)
        return dir_fd;
    fd = named_open_file(dir_fd, name, &st);
    return fd < 0 ? fd : merge_read(fd, MERGE_BYTES, ret_text);
}

/* 1: merged; 0: that cannot be. */
static int try_merge(struct plan_tree *tree, const struct change *change, struct choice *choice)
{
    const struct base_note *note = base_find(&tree->base, change->path);
    struct merge_text base = {0}, host = {0}, session = {0};
    autoclose int fd = -EBADF;
    int r;

    if (!note || !note->has_copy || change->kind != CHANGE_CHANGED ||
        !S_ISREG(change->after.st_mode))
        return 0;
    fd = base_open_copy(tree->layer_fd, note);
    r = fd < 0 ? fd : merge_read(fd, MERGE_BYTES, &base);
    if (r == 0)
        r = read_side(tree->tree->lower_fd, change->path, &host);
    if (r == 0)
        r = read_side(tree->tree->upper_fd, change->path, &session);
    if (r == 0)
        r = merge_texts(&base, &host, &session, &choice->merged);
    free(base.bytes);
    free(host.bytes);
    free(session.bytes);
    choice->is_merged = r == 1;
    /* Of the mode, too, the side counts that changed it; the session's where both did. */
    choice->merged_mode =
        change->after.st_mode == note->mode ? change->before.st_mode : change->after.st_mode;
    return r == -ENOMEM ? r : r == 1;
}

static const char *conflict_text(enum base_state state, const struct change *change)
{
    switch (state) {
    case BASE_CHANGED:
        if (!change->before.st_mode)
            return "was removed on the host since the session began with it";
        return "was changed on the host, too, since the session began with it";
    case BASE_CHANGED_MEANWHILE:
        return "was changed on the host while the session's command ran, before or after the "
               "session did";
    case BASE_NOT_NOTED:
        return "is on the host, and what it was when the session ran is not known";
    case BASE_SAME:
        break;
    }
    return "";
}

static int judge_conflict(struct plan *plan, struct plan_tree *tree, const struct change *change,
                          struct choice *choice, enum base_state state, const char *which)
{
    enum apply_conflicts wish = plan->options->conflicts;
    int r = wish == APPLY_MERGE ? try_merge(tree, change, choice) : 0;

    if (r < 0)
        return r;
    if (r == 1 || wish == APPLY_MINE) {
        choice->is_taken = true;
        return 0;
    }
    return plan_tell(
        plan, tree->apply->number, change, wish == APPLY_THEIRS ? APPLY_LEFT : APPLY_CONFLICT,
        wish == APPLY_THEIRS ? "" : HINT_CONFLICT, "%s/%s %s%s", tree->tree->path, which,
        conflict_text(state, change), wish == APPLY_MERGE ? ", and the two cannot be merged" : "");
}

static int judge(struct plan *plan, struct plan_tree *tree, const struct change *change,
                 struct choice *choice)
{
    const struct change *above;
    const struct choice *parent = plan_parent(tree, change->path, &above);
    autofree char *which = NULL;
    enum base_state state = BASE_SAME;
    int r;

    if (parent && plan_is_made_dir(above) && !parent->is_taken)
        return tell(plan, tree, change, APPLY_LEFT, "",
                    "is in a directory that is not made on the host");
    if (change->bar != CHANGE_FREE)
        return judge_bar(plan, tree, change);
    r = judge_protected(plan, tree, change);
    if (r == 0)
        r = base_compare(&tree->base, tree->tree, change, &state, &which);
    else if (r == 1)
        return 0;
    if (r < 0 && r != -ENOMEM)
        return plan_tell(plan, tree->apply->number, change, APPLY_FAILED, HINT_FAILED,
                         "%s/%s cannot be compared: %s", tree->tree->path, change->path,
                         strerror(-r));
    if (r < 0)
        return r;
    if (state != BASE_SAME)
        return judge_conflict(plan, tree, change, choice, state, which);
    choice->is_taken = true;
    return 0;
}

int decide_tree(struct plan *plan, struct plan_tree *tree, struct bawn_error *err)
{
    for (size_t i = 0; i < tree->changes->list.count; i++) {
        const char *path = tree->changes->list.items[i].path;

        tree->choices[i].op = PLAN_NO_OP;
        if (!map_put(&tree->by_path, 0, path, strlen(path), (void *)(uintptr_t)(i + 1)))
            return error_memory(err);
    }
    select_changes(plan, tree);
    for (size_t i = 0; i < tree->changes->list.count; i++)
        if (tree->choices[i].is_selected &&
            judge(plan, tree, &tree->changes->list.items[i], &tree->choices[i]) < 0)
            return error_memory(err);
    return 0;
}
