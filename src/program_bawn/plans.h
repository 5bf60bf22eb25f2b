/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of compiled plans, and whether one of them still holds. */
#ifndef PROGRAM_BAWN_PLANS_H
#define PROGRAM_BAWN_PLANS_H

#include "base/limits.h"
#include "wire/image.h"

#include <stdbool.h>

/* See base/places.h. */
struct plans {
    int fd;                      /* O_PATH; negative: there is none */
    char path[LIMIT_PATH_BYTES]; /* without links */
};
bool plans_open(struct plans *plans, bool makes);
void plans_close(struct plans *plans);
#define autoplans __attribute__((cleanup(plans_close)))

/* Whether all that the image in file was made from is as it was. bytes is where the file is mapped,
 * which is written to: directories that changed without consequence are noted as they are now. */
bool plans_hold(const struct image *image, char *const *variables, int file, const char *bytes);

/* Removes a tree, without following a link. */
void plans_remove(int dir_fd, const char *name);

#endif
