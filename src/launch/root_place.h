/* SPDX-License-Identifier: Apache-2.0 */
/* One step of the new root: what is mounted, made, masked or sealed. */
#ifndef LAUNCH_ROOT_PLACE_H
#define LAUNCH_ROOT_PLACE_H

#include "kernel/sys.h"
#include "launch/closed.h"
#include "launch/root.h"

/* SECURITY: a path of the host is opened without following any link, and used by descriptor:
 * whoever swaps a directory for a link meanwhile gets ELOOP, not a mount. */
enum { RESOLVE_HOST = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

struct root {
    const struct image *image;
    const int *trees;  /* id-mapped, used up in order */
    bool is_delegated; /* see launch_request */
    int fd;            /* the new root */
    int host_proc;     /* for a build that leaves the pid namespace out; else -EBADF */
    int remount_proc;  /* where there is no mount_setattr: the procfs around us; else -EBADF */
    int proc;          /* the procfs around us */
    char *mounts;      /* the list of the mounts around us, once somebody asked */
    const struct launch_layer *layers; /* see launch_request */
    unsigned overlays;                 /* made so far */
    struct closed closed;
};

/* Carries out one step; the working directory is the new root. */
int root_place(struct root *root, const struct image_mount *step, struct bawn_error *err);

/* What a step shows of the host, O_PATH; no link on the way is followed. */
int root_open_source(const struct image *image, const struct image_mount *step,
                     struct bawn_error *err);

/* Moves a tree to the step's target. Inside a tree of the host the target is opened link-free too.
 */
int root_attach(struct root *root, const struct image_mount *step, int tree,
                struct bawn_error *err);

/* A tree of the host that becomes the root itself; the working directory is the one it is made in.
 */
int root_place_base(struct root *root, const struct image_mount *step, struct bawn_error *err);

#endif
