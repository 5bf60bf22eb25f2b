/* SPDX-License-Identifier: Apache-2.0 */
/* The list of mounts, as the text of /proc/self/mountinfo has it. */
#ifndef BASE_MOUNTS_H
#define BASE_MOUNTS_H

#include "base/limits.h"
#include "base/strbuf.h"

#include <bawn/error.h>
#include <stdbool.h>

#define MOUNTS_PATH "/proc/self/mountinfo"

/* The list as text, to be freed. */
int mounts_read(int dir_fd, const char *path, char **ret_list, struct bawn_error *err);

struct mounts_row {
    char point[LIMIT_PATH_BYTES]; /* "" if it is longer */
    char type[32];                /* of the file system */
};

/* The next row of a list. False at its end. */
bool mounts_next(const char **rest, struct mounts_row *ret_row);

/* Adds a line for each mount at a path or below it: where it is, and of what type. */
void mounts_add_below(struct strbuf *out, const char *list, const char *path);

#endif
