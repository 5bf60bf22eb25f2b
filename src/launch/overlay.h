/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of the host with a layer above it, which takes what is written. */
#ifndef LAUNCH_OVERLAY_H
#define LAUNCH_OVERLAY_H

#include "launch/root_place.h"

/* Carries out STEP_OVERLAY. */
int overlay_place(struct root *root, const struct image_mount *step, struct bawn_error *err);

/* The directory of a layer as a mount of its own, whose files get the ids of a user namespace. */
int overlay_clone_layer(const struct launch_layer *layer, int userns_fd, struct bawn_error *err);

#endif
