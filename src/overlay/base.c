/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/base.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "overlay/words.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void base_done(struct base *base)
{
    map_done(&base->by_path);
    vec_done(&base->notes);
    arena_done(&base->arena);
    *base = (struct base){0};
}

const struct base_note *base_find(const struct base *base, const char *path)
{
    return map_get(&base->by_path, 0, path, strlen(path));
}

enum { NOTE_LATE = 1, NOTE_INNER = 2, NOTE_WHOLE = 4, NOTE_COPY = 8, NOTE_SAME = 16 };

int base_add_text(const struct base_note *note, struct strbuf *out)
{
    words_add(out, note->path);
    words_add_number(out, note->mode);
    words_add_number(out, note->size);
    words_add_number(out, note->ino);
    words_add_time(out, note->modified);
    words_add_time(out, note->changed);
    words_add_number(out, (note->is_late ? NOTE_LATE : 0) | (note->is_inner ? NOTE_INNER : 0) |
                              (note->is_whole ? NOTE_WHOLE : 0) | (note->has_copy ? NOTE_COPY : 0) |
                              (note->is_same ? NOTE_SAME : 0));
    words_add(out, note->digest);
    words_add(out, note->target);
    strbuf_add(out, "\n");
    return out->failed ? -ENOMEM : 0;
}

static bool parse_note(struct arena *arena, char *line, struct base_note *ret_note)
{
    const char *path = words_next(&line), *digest, *target;
    uint64_t mode, flags;

    if (!path || !words_next_number(&line, &mode) || !words_next_number(&line, &ret_note->size) ||
        !words_next_number(&line, &ret_note->ino) || !words_next_time(&line, &ret_note->modified) ||
        !words_next_time(&line, &ret_note->changed) || !words_next_number(&line, &flags))
        return false;
    digest = words_next(&line);
    target = words_next(&line);
    if (!digest || !target)
        return false;
    ret_note->mode = (mode_t)mode;
    ret_note->is_late = flags & NOTE_LATE;
    ret_note->is_inner = flags & NOTE_INNER;
    ret_note->is_whole = flags & NOTE_WHOLE;
    ret_note->has_copy = flags & NOTE_COPY;
    ret_note->is_same = flags & NOTE_SAME;
    ret_note->path = arena_strdup(arena, path);
    ret_note->digest = *digest ? arena_strdup(arena, digest) : "";
    ret_note->target = *target ? arena_strdup(arena, target) : "";
    return ret_note->path && ret_note->digest && ret_note->target;
}

static int keep_note(struct base *base, struct base_note *note)
{
    return vec_push(&base->notes, note) &&
                   map_put(&base->by_path, 0, note->path, strlen(note->path), note)
               ? 0
               : -ENOMEM;
}

int base_parse(struct base *base, char *text)
{
    for (char *line; (line = words_line(&text));) {
        struct base_note *note = arena_new(&base->arena, struct base_note);

        if (!note)
            return -ENOMEM;
        if (!parse_note(&base->arena, line, note))
            return -EBADMSG;
        if (keep_note(base, note) < 0)
            return -ENOMEM;
    }
    return 0;
}

int base_load(int layer_fd, struct base *ret_base, struct bawn_error *err)
{
    autofree char *text = NULL;
    size_t length;
    int r;

    *ret_base = (struct base){0};
    r = file_read(layer_fd, "base/index", BASE_INDEX_BYTES, &text, &length, err);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    ret_base->is_there = true;
    r = base_parse(ret_base, text);
    if (r < 0) {
        base_done(ret_base);
        return error_errno(err, -r, "read what the host's files were");
    }
    return 0;
}

int base_write(int layer_fd, const struct strbuf *text, struct bawn_error *err)
{
    autoclose int fd = -EBADF;

    if (text->failed)
        return error_memory(err);
    if (mkdirat(layer_fd, "base", 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "create the directory of notes");
    fd = openat(layer_fd, "base", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "open the directory of notes");
    return file_replace(fd, "index", text->length ? text->text : "", text->length, 0600, NULL, err);
}

int base_open_copy(int layer_fd, const struct base_note *note)
{
    autoclose int fd = -EBADF;
    struct stat st;

    if (!note->has_copy || strlen(note->digest) != NAMED_DIGEST_BYTES - 1)
        return -ENOENT;
    fd = openat(layer_fd, "base", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : named_open_file(fd, note->digest, &st);
}

static bool is_at(struct timespec one, struct timespec other)
{
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

/* SECURITY: a later run may set the time of a file's last write, but not that of its last change.
 */
bool base_is_untouched(const struct base_note *note, const struct change *change)
{
    const struct stat *now = &change->after;

    if (!note || !note->is_same || note->mode != now->st_mode)
        return false;
    return S_ISDIR(now->st_mode) ||
           (note->size == (uint64_t)now->st_size && is_at(note->modified, now->st_mtim) &&
            is_at(note->changed, now->st_ctim));
}

bool base_is_in(const char *path, const char *dir)
{
    size_t length = strlen(dir);

    return length == 0 || (strncmp(path, dir, length) == 0 && path[length] == '/');
}

void base_leave_out(const struct base *base, struct changes *changes)
{
    struct change *items = changes->list.items;
    size_t kept = changes->list.count;

    /* From the end: what is in a directory comes behind it. */
    for (size_t i = changes->list.count; i-- > 0;) {
        const struct change *change = &items[i];
        bool is_needed = change->kind != CHANGE_CHANGED && S_ISDIR(change->after.st_mode) &&
                         kept < changes->list.count && base_is_in(items[kept].path, change->path);

        if (is_needed || !base_is_untouched(base_find(base, change->path), change))
            items[--kept] = *change;
    }
    changes->list.count -= kept;
    if (kept > 0)
        memmove(items, items + kept, changes->list.count * sizeof(*items));
}
