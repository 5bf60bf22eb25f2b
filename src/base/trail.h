/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is still to walk of a path that is followed name by name. A name is taken
 * from the front; where that is a symbolic link, what it says is put before the
 * rest.
 *
 * Who walks looks, and each in its own way. A question is about names, and most
 * of them need not exist (policy/resolve.c). A call that is made for somebody
 * holds a descriptor of each directory, for names change meanwhile
 * (supervise/locate.c). The way to the plans is by names that nobody else can
 * change, in the fewest calls (base/places.c).
 */
#ifndef BASE_TRAIL_H
#define BASE_TRAIL_H

#include "base/limits.h"

#include <limits.h>

struct trail {
    char rest[2 * LIMIT_PATH_BYTES];
    unsigned links; /* that were met */
};

/* Takes the next name, which is never "." or empty: 1; 0: there is none; -ENAMETOOLONG. */
int trail_next(struct trail *trail, char ret_name[static NAME_MAX + 1]);

/* The name taken last is a link that leads to target, which is walked next: from the root, or from
 * where the link is. -ELOOP, -ENAMETOOLONG, -ENOENT (it is empty) as the kernel would say. */
int trail_link(struct trail *trail, const char *target);

#endif
