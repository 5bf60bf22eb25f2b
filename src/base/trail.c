/* SPDX-License-Identifier: Apache-2.0 */
#include "base/trail.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>

int trail_next(struct trail *trail, char ret_name[static NAME_MAX + 1])
{
    const char *cursor = trail->rest;
    size_t length;
    const char *name = path_next(&cursor, &length);

    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    if (name)
        memcpy(ret_name, name, length);
    ret_name[length] = '\0';
    memmove(trail->rest, cursor, strlen(cursor) + 1);
    return name != NULL;
}

int trail_link(struct trail *trail, const char *target)
{
    size_t length = strlen(target);
    size_t left = strlen(trail->rest);

    if (length == 0)
        return -ENOENT;
    if (++trail->links > LIMIT_SYMLINKS)
        return -ELOOP;
    if (length + 1 + left >= sizeof(trail->rest))
        return -ENAMETOOLONG;
    memmove(trail->rest + length + 1, trail->rest, left + 1);
    memcpy(trail->rest, target, length);
    trail->rest[length] = '/';
    return 0;
}
