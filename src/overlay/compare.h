/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two entries are the same. */
#ifndef OVERLAY_COMPARE_H
#define OVERLAY_COMPARE_H

#include "overlay/entry.h"

enum { COMPARE_BYTES = 256 * 1024 };

/* Room for what is read of two. */
struct compare_room {
    char one[COMPARE_BYTES], other[COMPARE_BYTES];
};

/* 1: the same, 0: not, else -errno. Both are regular files, both are symbolic links. ret_read may
 * be NULL: how much was read of each. */
int compare_data(const struct entry *one, const struct entry *other, struct compare_room *room,
                 size_t *ret_read);
int compare_links(const struct entry *one, const struct entry *other);
/* Extended attributes that users see and set: user.*, and access lists. What overlays, security
 * modules and the kernel keep for themselves is passed over. */
int compare_attributes(const struct entry *one, const struct entry *other,
                       struct compare_room *room);

/* Whether an attribute is one that is compared. */
bool compare_is_seen(const char *attribute);

#endif
