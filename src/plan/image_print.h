/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled plan as text: all that is decided in it, in the order in which it is done. */
#ifndef PLAN_IMAGE_PRINT_H
#define PLAN_IMAGE_PRINT_H

#include "base/strbuf.h"
#include "wire/image.h"

/* The image is one that image_check passed. The kernel's name, the version and the number of the
 * image are left out: same decisions, same text. */
int image_print(const struct image *image, struct strbuf *out, struct bawn_error *err);

#endif
