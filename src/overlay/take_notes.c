/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of the notes of the host's files when changes were applied.
 *
 * How it works: those of what leaves the layer go. Where a file was taken in part, the rest stays a
 * change, and starts from what the host has then. If that has lines that the session never had, the
 * rest starts from the old note with the same lines in it: so it is still to be merged, and takes
 * none of the host's lines away.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "overlay/take.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_text(const struct merge_text *text)
{
    autoclose int fd = memfd_create("bawn-note", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : file_put(fd, text->bytes, text->length);

    return r < 0 ? r : take_fd(&fd);
}

static int open_side(int root_fd, const char *path)
{
    const char *name;
    autoclose int dir_fd = named_open_parent(root_fd, path, &name);
    struct stat st;

    return dir_fd < 0 ? dir_fd : named_open_file(dir_fd, name, &st);
}

/* What was merged, in the text from which the session started. 1, or 0: that cannot be. */
static int move_base(const struct plan_tree *tree, const struct change *change,
                     const struct apply_part *part, const struct base_note *old,
                     struct merge_text *ret_text)
{
    autoclose int host_fd = open_side(tree->tree->lower_fd, change->path);
    autoclose int base_fd = base_open_copy(tree->layer_fd, old);
    struct merge_text host = {0}, base = {0};
    int r = host_fd < 0 || base_fd < 0 ? -ENOENT : merge_read(host_fd, BASE_COPY_BYTES, &host);

    if (r == 0)
        r = merge_read(base_fd, BASE_COPY_BYTES, &base);
    if (r == 0)
        r = merge_texts(&host, &part->text, &base, ret_text);
    free(host.bytes);
    free(base.bytes);
    return r == -ENOMEM ? r : r == 1;
}

static int note_merged(struct arena *arena, const struct plan_tree *tree,
                       const struct change *change, const struct choice *choice, int layer_fd,
                       struct base_note *note)
{
    struct merge_text text = {0};
    const struct base_note old = *note;
    int r = choice->part.content == APPLY_TEXT ? move_base(tree, change, &choice->part, &old, &text)
                                               : 0;

    if (choice->part.has_mode)
        note->mode = change->after.st_mode;
    if (r == 1) {
        autoclose int fd = open_text(&text);

        r = fd < 0 ? fd : base_note_bytes(layer_fd, arena, fd, note);
    }
    free(text.bytes);
    return r < 0 ? r : 0;
}

static int note_plain(struct arena *arena, const struct plan_tree *tree,
                      const struct change *change, const struct choice *choice, int layer_fd,
                      struct base_note *note)
{
    const struct apply_part *part = &choice->part;
    autoclose int fd = part->content == APPLY_TEXT ? open_text(&part->text)
                       : part->content == APPLY_HOSTS
                           ? open_side(tree->tree->lower_fd, change->path)
                           : open_side(tree->tree->upper_fd, change->path);

    note->mode = ask_part_mode(change, choice);
    note->is_late = false;
    return fd < 0 ? fd : base_note_bytes(layer_fd, arena, fd, note);
}

/* The note of a file that is taken in part; old may be NULL. */
static int note_part(struct arena *arena, const struct plan_tree *tree, size_t index,
                     const struct base_note *old, bool is_dry, struct base_note *ret_note)
{
    const struct change *change = &tree->changes->list.items[index];
    const struct choice *choice = &tree->choices[index];
    int layer_fd = is_dry ? -EBADF : tree->layer_fd;

    *ret_note = old ? *old : (struct base_note){.path = change->path, .digest = "", .target = ""};
    return choice->is_merged ? note_merged(arena, tree, change, choice, layer_fd, ret_note)
                             : note_plain(arena, tree, change, choice, layer_fd, ret_note);
}

struct notes {
    const struct plan_tree *tree;
    struct journal *journal;
    bool is_dry;
    struct strbuf before, after;
};

/* A copy that no note has may be removed by the next run: taking the apply back needs it. */
static void keep_copy(const struct notes *notes, const struct base_note *note)
{
    autoclose int base_fd = -EBADF;

    if (notes->is_dry || !note->has_copy)
        return;
    base_fd = openat(notes->tree->layer_fd, "base", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (base_fd >= 0)
        (void)!linkat(base_fd, note->digest, notes->journal->dir_fd, note->digest, 0);
}

static int keep_part(struct notes *notes, const struct base_note *old, size_t index)
{
    struct base_note note;
    int r = note_part(&notes->journal->arena, notes->tree, index, old, notes->is_dry, &note);

    return r < 0 ? r : base_add_text(&note, &notes->after);
}

/* The index of a change that is taken in part, or -1. */
static ssize_t part_at(const struct plan_tree *tree, const char *path)
{
    size_t index = (size_t)(uintptr_t)map_get(&tree->by_path, 0, path, strlen(path));

    return index > 0 && tree->choices[index - 1].is_taken && tree->choices[index - 1].is_part
               ? (ssize_t)index - 1
               : -1;
}

/* The notes that stay: of what is left, with all that such a note of a directory has behind it. */
static int sort_notes(struct notes *notes, const struct map *left)
{
    const struct base *base = &notes->tree->base;
    bool is_kept = false;
    int r = 0;

    vec_each (&base->notes, note) {
        ssize_t part = (*note)->is_inner ? -1 : part_at(notes->tree, (*note)->path);

        if (!(*note)->is_inner)
            is_kept = (*note)->is_same || map_get(left, 0, (*note)->path, strlen((*note)->path));
        if (!is_kept || part >= 0)
            keep_copy(notes, *note);
        r = base_add_text(*note, &notes->before);
        if (r == 0 && part >= 0)
            r = keep_part(notes, *note, (size_t)part);
        else if (r == 0 && is_kept)
            r = base_add_text(*note, &notes->after);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; r == 0 && i < notes->tree->changes->list.count; i++) {
        const char *path = notes->tree->changes->list.items[i].path;

        if (part_at(notes->tree, path) >= 0 && !base_find(base, path))
            r = keep_part(notes, NULL, i);
    }
    return r;
}

static int write_notes(const struct notes *notes, const struct journal_index *index,
                       struct bawn_error *err)
{
    int store_fd = notes->journal->store_fd;
    int r = file_write(store_fd, index->before, notes->before.text ? notes->before.text : "",
                       notes->before.length, err);

    return r < 0 ? r
                 : file_write(store_fd, index->after, notes->after.text ? notes->after.text : "",
                              notes->after.length, err);
}

static int add_index(struct notes *notes, unsigned tree, struct bawn_error *err)
{
    struct journal *journal = notes->journal;
    struct journal_index index = {.tree = tree};
    char room[JOURNAL_NAME_BYTES];

    index.before =
        arena_strdup(&journal->arena, journal_kept_name(journal, "notes-before", tree, room));
    index.after =
        arena_strdup(&journal->arena, journal_kept_name(journal, "notes-after", tree, room));
    if (!index.before || !index.after || !vec_push(&journal->indexes, index))
        return error_memory(err);
    return notes->is_dry ? 0 : write_notes(notes, &index, err);
}

int take_notes(struct plan *plan, const struct plan_tree *tree, const struct map *left,
               struct bawn_error *err)
{
    struct notes notes = {
        .tree = tree, .journal = &plan->journal, .is_dry = plan->options->dry_run};
    int r = 0;

    if (tree->base.is_there) {
        r = sort_notes(&notes, left);
        r = r < 0 ? error_errno(err, -r, "note what is left to apply of %s", tree->tree->path)
                  : add_index(&notes, tree->apply->number, err);
    }
    strbuf_done(&notes.before);
    strbuf_done(&notes.after);
    return r;
}
