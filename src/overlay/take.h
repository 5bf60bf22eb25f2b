/* SPDX-License-Identifier: Apache-2.0 */
/* What take.c and its part share. */
#ifndef OVERLAY_TAKE_H
#define OVERLAY_TAKE_H

#include "overlay/plan.h"

/* The index of the notes as it will be. left has the paths that stay changes. */
int take_notes(struct plan *plan, const struct plan_tree *tree, const struct map *left,
               struct bawn_error *err);

#endif
