/* SPDX-License-Identifier: Apache-2.0 */
/* How much goes with a directory that is deleted. */
#include "base/error.h"
#include "overlay/walk.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

struct inside {
    const struct overlay_tree *tree;
    struct arena arena;
    VEC(const char *) dirs;
    size_t files;
};

static bool is_dir(int dir_fd, const struct dirent *found)
{
    struct stat status;

    if (found->d_type != DT_UNKNOWN)
        return found->d_type == DT_DIR;
    return fstatat(dir_fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* What cannot be listed is not counted: that it goes is known without. False: out of memory. */
static bool count_in(struct inside *inside, const char *path)
{
    autoentry struct entry entry = ENTRY_NONE;
    bool has_room = true;
    const struct dirent *found;
    DIR *dir;

    if (strlen(path) >= PATH_MAX || entry_open_below(inside->tree->lower_fd, path, &entry) < 0)
        return true;
    dir = entry_list(entry.fd);
    while (dir && has_room && (found = entry_next(dir))) {
        const char *below = NULL;

        if (!is_dir(entry.fd, found)) {
            inside->files++;
            continue;
        }
        below = arena_printf(&inside->arena, "%s/%s", path, found->d_name);
        has_room = below && vec_push(&inside->dirs, below);
    }
    if (dir)
        (void)closedir(dir);
    return has_room;
}

static bool count(const struct overlay_tree *tree, struct change *change)
{
    struct inside inside = {.tree = tree};
    bool has_room = vec_push(&inside.dirs, change->path);

    for (size_t i = 0; has_room && i < inside.dirs.count; i++)
        has_room = count_in(&inside, inside.dirs.items[i]);
    change->inside = inside.files;
    vec_done(&inside.dirs);
    arena_done(&inside.arena);
    return has_room;
}

int inside_count(const struct overlay_tree *tree, struct changes *changes, struct bawn_error *err)
{
    vec_each (&changes->list, change) {
        if (S_ISDIR(change->before.st_mode) &&
            (change->kind == CHANGE_DELETED || change->kind == CHANGE_REPLACED) &&
            !count(tree, change))
            return error_memory(err);
    }
    return 0;
}
