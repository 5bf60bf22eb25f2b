/* SPDX-License-Identifier: Apache-2.0 */
/* Each change as git shows it: for a person, and for `git apply`. */
#include "base/cleanup.h"
#include "base/error.h"
#include "overlay/entry.h"
#include "overlay/show_own.h"

#include <fcntl.h>
#include <string.h>

enum {
    TEXT_BYTES = 8 * 1024 * 1024,    /* larger files are only named */
    PATCH_BYTES = 256 * 1024 * 1024, /* git refuses a patch that names a file only */
};

static size_t limit_of(const struct show *show)
{
    return show->options->form == SHOW_PATCH ? PATCH_BYTES : TEXT_BYTES;
}

static int add_pair(struct show *show, const char *old_path, const char *new_path)
{
    autopair struct pair pair = {0};
    int result = pair_read(show, old_path, new_path, limit_of(show), &pair);

    return result < 0 ? result : pair_add(show, &pair);
}

/* What git knows of a change. */
static int add_change(struct show *show, const struct change *change)
{
    const char *old_path = change->from ? change->from : change->path;

    if (!show_git_mode(change->before.st_mode) && !show_git_mode(change->after.st_mode))
        return 0;
    if (change->kind == CHANGE_ADDED && !change->from)
        old_path = NULL;
    return add_pair(show, old_path, change->kind == CHANGE_DELETED ? NULL : change->path);
}

/* Something that a header and lines do not say. */
static bool has_words(const struct change *change)
{
    bool has_old = show_git_mode(change->before.st_mode) || !change->before.st_mode;
    bool has_new = show_git_mode(change->after.st_mode) || !change->after.st_mode;

    return !has_old || !has_new || change->bar != CHANGE_FREE || change->what & CHANGE_ATTRIBUTES;
}

int show_text(struct show *show, const struct change *change)
{
    if (change->is_moved)
        return 0;
    if (has_words(change)) {
        show_add_words(show, change);
        strbuf_add(show->out, "\n");
    }
    return change->bar != CHANGE_UNREADABLE ? add_change(show, change) : 0;
}

struct paths {
    struct arena arena;
    VEC(const char *) dirs;
    VEC(const char *) files;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int keep_path(struct paths *paths, const char *dir, const struct dirent *found, int dir_fd)
{
    char *path = arena_printf(&paths->arena, "%s/%s", dir, found->d_name);
    struct stat status;

    if (!path)
        return -ENOMEM;
    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (fstatat(dir_fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return entry_is_gone(errno) ? 0 : -errno;
    if (S_ISDIR(status.st_mode))
        return vec_push(&paths->dirs, path) ? 0 : -ENOMEM;
    if (show_git_mode(status.st_mode))
        return vec_push(&paths->files, path) ? 0 : -ENOMEM;
    return 0;
}

static int list_dir(struct paths *paths, int root_fd, const char *path)
{
    autoentry struct entry entry = ENTRY_NONE;
    const struct dirent *found;
    DIR *dir;
    int result = entry_open_below(root_fd, path, &entry);

    if (result < 0)
        return entry_is_gone(-result) ? 0 : result;
    dir = entry_list(entry.fd);
    if (!dir)
        return entry_is_gone(errno) ? 0 : -errno;
    while (result == 0 && (found = entry_next(dir)))
        result = keep_path(paths, path, found, entry.fd);
    if (result == 0)
        result = -errno;
    (void)closedir(dir);
    return result;
}

/* A directory that was deleted: git names each file in it. */
static int add_deleted_dir(struct show *show, const char *path)
{
    struct paths paths = {0};
    int result = vec_push(&paths.dirs, path) ? 0 : -ENOMEM;

    for (size_t i = 0; i < paths.dirs.count && result == 0; i++)
        result = list_dir(&paths, show->at->tree->lower_fd, paths.dirs.items[i]);
    if (result < 0)
        result = error_errno(show->err, -result, "list %s", path);
    if (result == 0 && paths.files.count > 0)
        qsort(paths.files.items, paths.files.count, sizeof(*paths.files.items), compare_names);
    for (size_t i = 0; i < paths.files.count && result == 0; i++) {
        if (show->options->form == SHOW_PATCH && show_is_gits(paths.files.items[i]))
            continue;
        result = add_pair(show, paths.files.items[i], NULL);
        if (result == 0)
            result = show_flush(show);
    }
    vec_done(&paths.dirs);
    vec_done(&paths.files);
    arena_done(&paths.arena);
    return result;
}

static bool is_changed_for_git(const struct change *change)
{
    return change->kind != CHANGE_CHANGED || change->what & CHANGE_CONTENT ||
           show_git_mode(change->before.st_mode) != show_git_mode(change->after.st_mode);
}

int show_patch(struct show *show, const struct change *change)
{
    int result = 0;

    if (change->is_moved || change->bar != CHANGE_FREE || !is_changed_for_git(change) ||
        show_is_gits(change->path))
        return 0;
    if (S_ISDIR(change->before.st_mode) && change->kind != CHANGE_CHANGED)
        result = add_deleted_dir(show, change->path);
    return result < 0 ? result : add_change(show, change);
}

int show_patch_remarks(struct show *show, const struct change *change)
{
    if (!change->is_moved && !show_is_whole(show, change)) {
        strbuf_add(show->out, "# not in this patch, or not all of it: ");
        show_add_words(show, change);
        strbuf_add(show->out, "\n");
    }
    return 0;
}
