/* SPDX-License-Identifier: Apache-2.0 */
/* Three versions of a text made one. */
#ifndef OVERLAY_MERGE_H
#define OVERLAY_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct merge_text {
    char *bytes;
    size_t length;
};

/* 1: ret_merged has both changes, in memory of its own; 0: they meet in a line, or it is no text;
 * else -errno. */
int merge_texts(const struct merge_text *base, const struct merge_text *host,
                const struct merge_text *session, struct merge_text *ret_merged);

/* All of a regular file that is open, if it is not larger than that; -EFBIG. */
int merge_read(int fd, size_t limit, struct merge_text *ret_text);

#endif
