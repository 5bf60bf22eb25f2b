/* SPDX-License-Identifier: Apache-2.0 */
/* The new root, made by the steps of an image. */
#ifndef LAUNCH_ROOT_H
#define LAUNCH_ROOT_H

#include "launch/launch.h"

/* Where the new root is while it is made; and beside it, files of our own to mount. */
#define ROOT_SHELF "/proc/shelf/"
#define ROOT_POINT "/proc/root"

/* An entry in a directory of our own: STEP_DIR, STEP_FILE, STEP_TEXT, STEP_TOLD or
 * STEP_SYMLINK. */
int root_make_entry(const struct image *image, int dir_fd, const struct image_mount *step,
                    struct bawn_error *err);

/* Makes what is the same at every start of an image, in an empty directory that a later
 * launch_request can name. Its modes are those of the root: the caller's umask is to be 0. */
int root_skeleton(const struct image *image, int dir_fd, struct bawn_error *err);

/* The root from the image's steps: afterwards "/" is the new root and nothing else is mounted.
 * trees are those that the launcher opened: the skeleton, if there is one, then the id-mapped
 * ones in the order of the steps; NULL when it opened none. *ret_fd is the root, O_PATH. */
int root_make(const struct launch_request *request, const int *trees, int *ret_fd,
              struct bawn_error *err);

/* Opens a tree of the host as a mount of its own, whose files get the ids of a user namespace.
 * No link on the way is followed. */
int root_clone_mapped(const struct image *image, const struct image_mount *step, int userns_fd,
                      struct bawn_error *err);

/* Covers what fd is open on with a file or directory of the shelf, "mask-dir" or "mask-file". 0, or
 * a negative errno. */
int root_cover(int fd, const char *with);

/* A clone of the skeleton that is mounted nowhere yet. */
int root_clone_skeleton(const struct launch_skeleton *skeleton, struct bawn_error *err);

#endif
