/* SPDX-License-Identifier: Apache-2.0 */
/* Notes what the host's files are at the end of a run. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "overlay/base.h"
#include "overlay/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct noting {
    const struct overlay_tree *tree;
    struct timespec since;
    int base_fd;
    struct base old, made;
};

static bool is_later(struct timespec one, struct timespec other)
{
    return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
}

static int push(struct noting *noting, const struct base_note *note)
{
    struct base_note *own = arena_new(&noting->made.arena, struct base_note);

    if (!own)
        return -ENOMEM;
    /* Its text is the old index's or the arena's: both outlive it. */
    *own = *note;
    return vec_push(&noting->made.notes, own) &&
                   map_put(&noting->made.by_path, 0, own->path, strlen(own->path), own)
               ? 0
               : -ENOMEM;
}

/* A copy under the name of its digest. Without one there is no merge: no reason to fail. */
static bool keep_copy(int base_fd, int fd, const char *digest)
{
    char temporary[NAMED_DIGEST_BYTES + 8];
    autoclose int out = -EBADF;
    struct stat st;
    bool is_kept;

    if (fstatat(base_fd, digest, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    (void)snprintf(temporary, sizeof(temporary), "%s.new", digest);
    (void)unlinkat(base_fd, temporary, 0);
    out = openat(base_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    is_kept = out >= 0 && copy_bytes(fd, out) == 0 && fsync(out) == 0 &&
              renameat(base_fd, temporary, base_fd, digest) == 0;
    if (!is_kept)
        (void)unlinkat(base_fd, temporary, 0);
    return is_kept;
}

/* Digest and copy of what is in a file. base_fd -EBADF: no copy. */
static int note_bytes(int base_fd, struct arena *arena, int fd, struct base_note *note)
{
    char digest[NAMED_DIGEST_BYTES];
    struct stat st;
    int r = named_hash(fd, digest);

    if (r < 0)
        return r;
    note->has_copy = base_fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= BASE_COPY_BYTES &&
                     keep_copy(base_fd, fd, digest);
    note->digest = arena_strdup(arena, digest);
    return note->digest ? 0 : -ENOMEM;
}

static int note_file(struct noting *noting, int dir_fd, const char *name, bool has_copy,
                     struct base_note *note)
{
    struct stat st;
    autoclose int fd = named_open_file(dir_fd, name, &st);

    /* What cannot be read is known by its times alone. */
    return fd < 0 ? 0
                  : note_bytes(has_copy ? noting->base_fd : -EBADF, &noting->made.arena, fd, note);
}

int base_note_bytes(int layer_fd, struct arena *arena, int fd, struct base_note *note)
{
    autoclose int base_fd =
        openat(layer_fd, "base", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    note->size = (uint64_t)st.st_size;
    /* No times are known of it: that it is the same show its bytes. */
    note->ino = 0;
    note->modified = note->changed = (struct timespec){0};
    return note_bytes(base_fd, arena, fd, note);
}

static void note_status(const struct noting *noting, const struct stat *st, struct base_note *note)
{
    bool is_grown = S_ISDIR(st->st_mode) && st->st_ctim.tv_sec == st->st_mtim.tv_sec &&
                    st->st_ctim.tv_nsec == st->st_mtim.tv_nsec;

    note->mode = st->st_mode;
    note->size = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size;
    note->ino = st->st_ino;
    note->modified = st->st_mtim;
    note->changed = st->st_ctim;
    /* That a directory got or lost an entry is the entry's affair. */
    note->is_late = !is_grown && is_later(st->st_ctim, noting->since);
}

static int note_link(struct noting *noting, int dir_fd, const char *name, struct base_note *note)
{
    autofree char *target = named_read_link(dir_fd, name);

    if (!target)
        return -errno;
    note->target = arena_strdup(&noting->made.arena, target);
    return note->target ? 0 : -ENOMEM;
}

/* All in a directory that the session deleted. Of an entry that was noted before that note stays.
 */
static int note_inner(struct noting *noting, int dir_fd, const char *dir_path)
{
    autonamed struct named_list names = {0};
    int r = named_read(dir_fd, &names);

    vec_each (&names.list, name) {
        struct base_note note = {.is_inner = true, .digest = "", .target = ""};
        const struct base_note *old;
        struct stat st;

        if (r < 0)
            return r;
        note.path = *dir_path ? arena_printf(&noting->made.arena, "%s/%s", dir_path, *name)
                              : arena_strdup(&noting->made.arena, *name);
        r = note.path ? named_stat(dir_fd, *name, &st) : -ENOMEM;
        if (r < 0 || !st.st_mode)
            continue;
        note_status(noting, &st, &note);
        old = base_find(&noting->old, note.path);
        if (old) {
            note = *old;
            note.is_inner = true;
            note.is_whole = false;
        } else if (S_ISLNK(st.st_mode)) {
            r = note_link(noting, dir_fd, *name, &note);
        }
        if (r == 0)
            r = push(noting, &note);
        if (r == 0 && S_ISDIR(st.st_mode)) {
            autoclose int fd = openat(dir_fd, *name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            r = fd < 0 ? -errno : note_inner(noting, fd, note.path);
        }
    }
    return r;
}

static int note_fresh(struct noting *noting, const struct change *change, const struct stat *st,
                      struct base_note *note)
{
    const char *name = ".";
    autoclose int dir_fd = -EBADF;

    note_status(noting, st, note);
    if (S_ISDIR(st->st_mode))
        return 0;
    dir_fd = named_open_parent(noting->tree->lower_fd, change->path, &name);
    if (dir_fd < 0)
        return dir_fd;
    if (S_ISLNK(st->st_mode))
        return note_link(noting, dir_fd, name, note);
    return S_ISREG(st->st_mode)
               ? note_file(noting, dir_fd, name, change->kind == CHANGE_CHANGED, note)
               : 0;
}

static int note_whole(struct noting *noting, const struct change *change)
{
    autoclose int fd = named_open_dir(noting->tree->lower_fd, change->path);

    return fd < 0 ? fd : note_inner(noting, fd, change->path);
}

/* The notes of what is in a directory follow its own. */
static int push_old(struct noting *noting, size_t index)
{
    const struct base_note *note = noting->old.notes.items[index];
    int r = push(noting, note);

    if (!note->is_whole)
        return r;
    for (size_t i = index + 1; r == 0 && i < noting->old.notes.count; i++) {
        if (!noting->old.notes.items[i]->is_inner)
            break;
        r = push(noting, noting->old.notes.items[i]);
    }
    return r;
}

static bool is_as_noted(const struct base_note *note, const struct stat *st)
{
    return note->mode == st->st_mode &&
           (S_ISDIR(st->st_mode) ||
            (note->size == (uint64_t)st->st_size && !is_later(note->modified, st->st_mtim) &&
             !is_later(st->st_mtim, note->modified)));
}

static int note_change(struct noting *noting, const struct change *change, size_t old_index)
{
    struct base_note note = {.path = change->path, .digest = "", .target = ""};
    bool takes_all = change->kind == CHANGE_DELETED || change->kind == CHANGE_REPLACED;
    const struct base_note *old = old_index == SIZE_MAX ? NULL : noting->old.notes.items[old_index];
    struct stat st;
    int r;

    if (old && base_is_untouched(old, change))
        return push(noting, old);
    if (old && !old->is_same && (old->is_whole || !takes_all || !S_ISDIR(old->mode)))
        return push_old(noting, old_index);
    r = named_find(noting->tree->lower_fd, change->path, &st);
    if (r < 0)
        return r == -EACCES ? 0 : r;
    /* The session began with what the layer had. Where the host has that still, more is known. */
    if (old && old->is_same && is_as_noted(old, &st))
        old = NULL;
    if (old)
        note = *old;
    else if (st.st_mode)
        r = note_fresh(noting, change, &st, &note);
    note.is_inner = note.is_same = false;
    note.is_whole = takes_all && S_ISDIR(st.st_mode);
    if (r == 0)
        r = push(noting, &note);
    return r == 0 && note.is_whole ? note_whole(noting, change) : r;
}

/* By the layer's times: so it shows later whether the layer has it still. */
static int note_same(struct noting *noting, const struct change *same)
{
    struct base_note note = {.path = same->path,
                             .mode = same->after.st_mode,
                             .size =
                                 S_ISDIR(same->after.st_mode) ? 0 : (uint64_t)same->after.st_size,
                             .ino = same->before.st_ino,
                             .modified = same->after.st_mtim,
                             .changed = same->after.st_ctim,
                             .is_same = true,
                             .digest = "",
                             .target = ""};

    return push(noting, &note);
}

/* Below a directory of which nothing was there nothing was there either. */
static int note_changes(struct noting *noting, const struct changes *changes)
{
    struct map index = {0};
    const char *nothing = NULL;
    int r = 0;

    for (size_t i = 0; i < noting->old.notes.count && r == 0; i++) {
        const char *path = noting->old.notes.items[i]->path;

        /* The index plus one, as a value that is not NULL. */
        if (!map_put(&index, 0, path, strlen(path), (void *)(uintptr_t)(i + 1)))
            r = -ENOMEM;
    }
    vec_each (&changes->list, change) {
        size_t at = (size_t)(uintptr_t)map_get(&index, 0, change->path, strlen(change->path));
        const struct base_note *made;

        if (r < 0)
            break;
        if (at == 0 && nothing && base_is_in(change->path, nothing))
            continue;
        r = note_change(noting, change, at - 1);
        made = r < 0 ? NULL : base_find(&noting->made, change->path);
        if (made && !made->mode)
            nothing = made->path;
    }
    vec_each (&changes->same, same)
        if (r == 0)
            r = note_same(noting, same);
    map_done(&index);
    return r;
}

/* Copies that no note has any more. */
static void remove_copies(const struct noting *noting)
{
    autonamed struct named_list names = {0};
    struct map kept = {0};
    bool is_known = named_read(noting->base_fd, &names) == 0;

    vec_each (&noting->made.notes, note)
        if ((*note)->has_copy &&
            !map_put(&kept, 0, (*note)->digest, strlen((*note)->digest), *note))
            is_known = false;
    vec_each (&names.list, name)
        if (is_known && strcmp(*name, "index") != 0 && !map_get(&kept, 0, *name, strlen(*name)))
            (void)unlinkat(noting->base_fd, *name, 0);
    map_done(&kept);
}

static int note_all(struct noting *noting, int layer_fd, const struct changes *changes,
                    struct bawn_error *err)
{
    autostrbuf struct strbuf text = {0};
    int r = note_changes(noting, changes);

    if (r < 0)
        return error_errno(err, -r, "note what the files of %s are", noting->tree->path);
    vec_each (&noting->made.notes, note)
        if (base_add_text(*note, &text) < 0)
            return error_memory(err);
    r = base_write(layer_fd, &text, err);
    if (r == 0)
        remove_copies(noting);
    return r;
}

int base_note(const struct overlay_tree *tree, int layer_fd, const struct changes *changes,
              struct timespec since, struct bawn_error *err)
{
    struct noting noting = {.tree = tree, .since = since, .base_fd = -EBADF};
    int r = base_load(layer_fd, &noting.old, err);

    if (r < 0)
        return r;
    if (mkdirat(layer_fd, "base", 0700) < 0 && errno != EEXIST) {
        r = error_errno(err, errno, "create the directory of notes");
    } else {
        noting.base_fd = openat(layer_fd, "base", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (noting.base_fd < 0)
            r = error_errno(err, errno, "open the directory of notes");
    }
    if (r == 0)
        r = note_all(&noting, layer_fd, changes, err);
    if (noting.base_fd >= 0)
        close(noting.base_fd);
    base_done(&noting.made);
    base_done(&noting.old);
    return r;
}
