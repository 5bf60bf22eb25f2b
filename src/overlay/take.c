/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaves a layer when its changes were applied.
 *
 * How it works: all goes at or below which nothing is left to apply: below it the tree shows, which
 * is the same now. A directory goes whole. One that hides what is below it stays whole as long as
 * something in it was not applied: an entry taken out of it would look deleted. What stays without
 * need is equal to the tree, and so no change.
 */
#include "overlay/take.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

struct taking {
    struct plan *plan;
    unsigned tree;
    struct map pending; /* paths with something left to apply at or below them */
    struct map own;     /* those that are left themselves */
};

static int find_pending(struct taking *taking, const struct plan_tree *tree)
{
    for (size_t i = 0; i < tree->changes->list.count; i++) {
        const char *path = tree->changes->list.items[i].path;
        size_t length = strlen(path);

        if (tree->choices[i].is_taken && !tree->choices[i].is_part)
            continue;
        if (!map_put(&taking->own, 0, path, length, taking))
            return -ENOMEM;
        for (;;) {
            if (map_get(&taking->pending, 0, path, length))
                break;
            if (!map_put(&taking->pending, 0, path, length, taking))
                return -ENOMEM;
            while (length > 0 && path[length - 1] != '/')
                length--;
            if (length == 0)
                break;
            length--;
        }
    }
    return 0;
}

static bool is_opaque(int fd)
{
    char proc[NAMED_PROC_BYTES], value[2];

    return getxattr(named_proc_path(fd, proc), "user.overlay.opaque", value, sizeof(value)) == 1 &&
           *value == 'y';
}

static int add_take(struct taking *taking, const char *path, const struct stat *st)
{
    struct journal *journal = &taking->plan->journal;
    char room[JOURNAL_NAME_BYTES];
    struct journal_take take = {
        .tree = taking->tree,
        .path = arena_strdup(&journal->arena, path),
        .kept =
            arena_strdup(&journal->arena,
                         journal_kept_name(journal, "layer", (unsigned)journal->takes.count, room)),
        .mode = st->st_mode,
    };

    return take.path && take.kept && vec_push(&journal->takes, take) ? 0 : -ENOMEM;
}

static int take_entries(struct taking *taking, int dir_fd, const char *dir_path)
{
    autonamed struct named_list names = {0};
    int r = named_read(dir_fd, &names);

    /* What cannot be read stays. */
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    vec_each (&names.list, name) {
        autofree char *path = NULL;
        struct stat st;

        if (asprintf(&path, *dir_path ? "%s/%s" : "%s%s", dir_path, *name) < 0) {
            path = NULL;
            return -ENOMEM;
        }
        if (named_stat(dir_fd, *name, &st) < 0)
            continue;
        if (!map_get(&taking->pending, 0, path, strlen(path))) {
            r = add_take(taking, path, &st);
        } else if (S_ISDIR(st.st_mode)) {
            autoclose int fd = openat(dir_fd, *name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            if (fd >= 0 && !is_opaque(fd))
                r = take_entries(taking, fd, path);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

int take_tree(struct plan *plan, const struct plan_tree *tree, struct bawn_error *err)
{
    struct taking taking = {.plan = plan, .tree = tree->apply->number};
    int r = find_pending(&taking, tree);

    if (r == 0)
        r = take_entries(&taking, tree->tree->upper_fd, "");
    if (r < 0)
        r = error_memory(err);
    if (r == 0)
        r = take_notes(plan, tree, &taking.own, err);
    map_done(&taking.pending);
    map_done(&taking.own);
    return r;
}
