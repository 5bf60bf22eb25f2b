/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the host's side of a change is as it was noted. */
#include "base/cleanup.h"
#include "overlay/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static bool is_same_time(struct timespec one, struct timespec other)
{
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

/* Equal bytes under another time are no change. */
static int compare_file(const struct base_note *note, int dir_fd, const char *name,
                        const struct stat *st, bool *ret_same)
{
    char digest[NAMED_DIGEST_BYTES];
    struct stat opened;
    int r;

    *ret_same = false;
    if (note->size != (uint64_t)st->st_size)
        return 0;
    *ret_same =
        is_same_time(note->modified, st->st_mtim) &&
        (!*note->digest || (note->ino == st->st_ino && is_same_time(note->changed, st->st_ctim)));
    if (!*ret_same && *note->digest) {
        autoclose int fd = named_open_file(dir_fd, name, &opened);

        r = fd < 0 ? fd : named_hash(fd, digest);
        if (r < 0)
            return r;
        *ret_same = strcmp(digest, note->digest) == 0;
    }
    return 0;
}

/* Without what is in a directory. */
static int compare_entry(const struct base_note *note, int dir_fd, const char *name,
                         const struct stat *st, bool *ret_same)
{
    *ret_same = note->mode == st->st_mode;
    if (!*ret_same)
        return 0;
    if (S_ISREG(st->st_mode))
        return compare_file(note, dir_fd, name, st, ret_same);
    if (S_ISLNK(st->st_mode)) {
        autofree char *target = named_read_link(dir_fd, name);

        if (!target)
            return -errno;
        *ret_same = strcmp(target, note->target) == 0;
    }
    return 0;
}

/* The host's directory whose deletion is to be applied: nothing in it may be new or other. */
static int compare_inner(const struct base *base, int dir_fd, const char *dir_path,
                         enum base_state *ret_state, char **ret_which)
{
    autonamed struct named_list names = {0};
    int r = named_read(dir_fd, &names);

    vec_each (&names.list, name) {
        autofree char *path = NULL;
        const struct base_note *note;
        struct stat st;
        bool is_same = false;

        if (r < 0 || *ret_state != BASE_SAME)
            return r;
        if (asprintf(&path, *dir_path ? "%s/%s" : "%s%s", dir_path, *name) < 0) {
            path = NULL;
            return -ENOMEM;
        }
        note = base_find(base, path);
        r = named_stat(dir_fd, *name, &st);
        if (r == 0 && note)
            r = compare_entry(note, dir_fd, *name, &st, &is_same);
        if (r == 0 && (!is_same || note->is_late)) {
            *ret_state = is_same ? BASE_CHANGED_MEANWHILE : BASE_CHANGED;
            *ret_which = take_ptr(&path);
        } else if (r == 0 && S_ISDIR(st.st_mode)) {
            autoclose int fd = openat(dir_fd, *name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            r = fd < 0 ? -errno : compare_inner(base, fd, path, ret_state, ret_which);
        }
    }
    return r;
}

/* The note of the path, or that of a directory above of which there was nothing. */
static const struct base_note *find_note(const struct base *base, const char *path)
{
    const struct base_note *note = base_find(base, path);
    autofree char *above = note ? NULL : strdup(path);

    while (!note && above) {
        char *slash = strrchr(above, '/');

        if (!slash)
            return NULL;
        *slash = '\0';
        note = base_find(base, above);
        if (note && note->mode)
            note = NULL;
    }
    return note;
}

static int compare(const struct base *base, const struct base_note *note, int dir_fd,
                   const char *name, const struct change *change, const struct stat *st,
                   enum base_state *ret_state, char **ret_which)
{
    bool takes_all = change->kind == CHANGE_DELETED || change->kind == CHANGE_REPLACED;
    bool is_same;
    int r = compare_entry(note, dir_fd, name, st, &is_same);

    if (r < 0)
        return r;
    if (!is_same || note->is_late) {
        *ret_state = is_same ? BASE_CHANGED_MEANWHILE : BASE_CHANGED;
        return 0;
    }
    if (takes_all && S_ISDIR(st->st_mode)) {
        autoclose int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : compare_inner(base, fd, change->path, ret_state, ret_which);
    }
    return 0;
}

int base_compare(const struct base *base, const struct overlay_tree *tree,
                 const struct change *change, enum base_state *ret_state, char **ret_which_path)
{
    const struct base_note *note = find_note(base, change->path);
    autoclose int dir_fd = -EBADF;
    const char *name = ".";
    struct stat st;
    int r = named_find(tree->lower_fd, change->path, &st);

    *ret_state = BASE_SAME;
    *ret_which_path = NULL;
    if (r < 0)
        return r;
    if (!st.st_mode) {
        *ret_state = note && note->mode ? BASE_CHANGED : BASE_SAME;
    } else if (!note || !note->mode) {
        *ret_state = note ? BASE_CHANGED : BASE_NOT_NOTED;
    } else {
        dir_fd = *change->path ? named_open_parent(tree->lower_fd, change->path, &name)
                               : named_open_dir(tree->lower_fd, "");
        r = dir_fd < 0 ? dir_fd
                       : compare(base, note, dir_fd, name, change, &st, ret_state, ret_which_path);
    }
    if (r == 0 && *ret_state != BASE_SAME && !*ret_which_path) {
        *ret_which_path = strdup(change->path);
        r = *ret_which_path ? 0 : -ENOMEM;
    }
    return r;
}
