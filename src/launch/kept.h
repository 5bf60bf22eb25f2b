/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set-up in the home that is kept.
 *
 * SECURITY: whoever worked in it before may have left anything under any name,
 * and another sandbox of the same workspace may be at work in it now. So no link
 * is followed, all is used by descriptor, and nothing that is there is replaced.
 */
#ifndef LAUNCH_KEPT_H
#define LAUNCH_KEPT_H

#include "wire/image.h"

/* A directory or file to mount on, or a link, which may be there already. Where something is to be
 * mounted, anything else under its name is refused. The working directory is the new root. */
int kept_make_entry(const struct image *image, const struct image_mount *step,
                    struct bawn_error *err);

/* Covers what may be there by something empty that nobody can read. */
int kept_mask(const struct image *image, const struct image_mount *step, struct bawn_error *err);

#endif
