/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an overlay session changed: an upper layer compared with the tree below it.
 *
 * How it works: the kernel keeps in the upper layer whatever was written, under the path that it
 * has in the tree. A character device 0:0 there stands for what was removed. A directory with the
 * attribute user.overlay.opaque shows nothing of the one below it. A file that is in the upper
 * layer need not differ: whoever opens one for writing has it copied.
 *
 * SECURITY: the upper layer was filled by a command that nobody trusts. Nothing in it is followed,
 * opened with effects, or waited for; names may be anything but "/" and NUL.
 */
#ifndef OVERLAY_CHANGES_H
#define OVERLAY_CHANGES_H

#include "base/arena.h"
#include "base/vec.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <sys/stat.h>

/* A tree of the host's and the layer with its changes. Descriptors are borrowed. */
struct overlay_tree {
    const char *path; /* of the tree, absolute; for messages */
    int lower_fd;     /* its directory, O_PATH */
    int upper_fd;     /* the layer's, O_PATH */
};

enum change_kind {
    CHANGE_ADDED,
    CHANGE_CHANGED,
    CHANGE_DELETED,  /* with all that was in it */
    CHANGE_REPLACED, /* by something of another type */
};

/* In what it differs: of CHANGE_CHANGED, else 0. 0 also of a directory that is only barred. */
enum change_what {
    CHANGE_CONTENT = 1, /* of a file; of a link what it leads to */
    CHANGE_MODE = 2,
    CHANGE_ATTRIBUTES = 4, /* extended ones, without those of overlays themselves */
    CHANGE_TIMES = 8,      /* never alone */
};

/* Why it is never applied. */
enum change_bar {
    CHANGE_FREE,
    CHANGE_DEVICE,
    CHANGE_SOCKET,
    CHANGE_SET_ID, /* a mode with set-user-id or set-group-id that the host's file does not have */
    CHANGE_UNREADABLE, /* the layer, or what it is compared with, cannot be read: errnum says why */
};

struct change {
    const char *path; /* below the tree, without a leading "/"; "" is the tree itself */
    enum change_kind kind;
    unsigned what; /* enum change_what */
    enum change_bar bar;
    int errnum;
    struct stat before, after; /* st_mode 0: there is none */
    const char
        *from;     /* of a file that was added: the deleted one that had the same bytes, or NULL */
    bool is_moved; /* of a deleted file: it is the "from" of another change */
    size_t inside; /* of a directory that was deleted or replaced: the files that were in it */
};

struct changes {
    struct arena arena;
    VEC(struct change) list; /* sorted by path, "/" before all other bytes: parents come first */
    VEC(struct change) same; /* what the layer has as the tree has it, in no order */
};

/*
 * Compares; -errno where the layer or the tree itself cannot be read, or memory or descriptors are
 * out. What is in the layer costs time, what is in the tree does not, but for directories that were
 * deleted. The top of the layer is
 * compared, too: who makes the layer gives it the mode and the attributes of the tree.
 */
int changes_find(const struct overlay_tree *tree, struct changes *ret_changes,
                 struct bawn_error *err);
void changes_done(struct changes *changes);

/* That of a path, or NULL. */
const struct change *changes_at(const struct changes *changes, const char *path);

#endif
