/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host's tree was like when a session changed it, so that it shows what the host has
 * changed since.
 *
 * How it works: at the end of each run every change is looked up in the tree, and what is there is
 * written into an index beside the layer, with a copy of each file that the session changed. The
 * first note of a path counts for as long as the path is among the changes: that is what the
 * session started from. Where there was nothing, that is noted, too. What somebody writes into the
 * tree while a command runs in it has a later change time than the run's start.
 *
 * The layer also has what the session did not change: directories on the way to a change, files
 * that were opened for writing. These are noted as the same. What the host does to them later is no
 * change of the session's.
 */
#ifndef OVERLAY_BASE_H
#define OVERLAY_BASE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "overlay/changes.h"
#include "overlay/named.h"

#include <time.h>

enum { BASE_COPY_BYTES = 8 * 1024 * 1024 }; /* of larger files no copy is kept */

struct base_note {
    const char *path;
    mode_t mode; /* 0: there was nothing */
    uint64_t size, ino;
    struct timespec modified, changed;
    const char *digest; /* of a file's bytes, or "" */
    const char *target; /* of a link, or "" */
    bool is_late;       /* changed while the command ran */
    bool is_inner;      /* in a directory that was deleted or replaced, whose note it follows */
    bool is_whole;      /* such a directory */
    bool is_same;       /* the layer had it like this; times are the layer's */
    bool has_copy;
};

struct base {
    struct arena arena;
    VEC(struct base_note *) notes;
    struct map by_path;
    bool is_there; /* there was an index at all */
};

/*
 * At the end of a run. layer_fd is the directory of the tree's layer, in which "base" is kept;
 * since is the start of the run as file systems stamp it (CLOCK_REALTIME_COARSE). For a run that
 * was killed it may be called later, with the start that this run had.
 */
int base_note(const struct overlay_tree *tree, int layer_fd, const struct changes *changes,
              struct timespec since, struct bawn_error *err);

/* The index; without one it is empty. */
int base_load(int layer_fd, struct base *ret_base, struct bawn_error *err);
void base_done(struct base *base);

/* Takes out what the host alone changed. A directory that the host removed stays where the session
 * changed something in it. */
void base_leave_out(const struct base *base, struct changes *changes);

/* Whether a path of the tree lies in a directory of it; "" is the tree. */
bool base_is_in(const char *path, const char *dir);

/* Whether the layer has it still as it was noted as the same. note may be NULL. */
bool base_is_untouched(const struct base_note *note, const struct change *change);

enum base_state {
    BASE_SAME,
    BASE_CHANGED,
    BASE_CHANGED_MEANWHILE, /* while the command ran: nobody knows which came first */
    BASE_NOT_NOTED,         /* the host has something there of which nothing is known */
};

/* What has become of the host's side of a change since. which_path, in memory of its own, is what
 * differs: the change's path, or one in a directory that the session deleted; NULL when it is the
 * same. */
int base_compare(const struct base *base, const struct overlay_tree *tree,
                 const struct change *change, enum base_state *ret_state, char **ret_which_path);

/*
 * The note of a file of the host's that becomes these bytes, with a copy of them; where the session
 * started from is here now. layer_fd -EBADF: without the copy. Its text is the arena's.
 */
int base_note_bytes(int layer_fd, struct arena *arena, int fd, struct base_note *note);

/* The note of a path, or NULL. */
const struct base_note *base_find(const struct base *base, const char *path);

/* The copy of the file as it was: a descriptor, or -errno. */
int base_open_copy(int layer_fd, const struct base_note *note);

/* Index as text: for who takes notes away and puts them back. */
int base_add_text(const struct base_note *note, struct strbuf *out);
int base_parse(struct base *base, char *text);
int base_write(int layer_fd, const struct strbuf *text, struct bawn_error *err);
enum { BASE_INDEX_BYTES = 512 * 1024 * 1024 };

#endif
