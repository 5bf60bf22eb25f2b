/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ids.h"

#include "base/cleanup.h"
#include "kernel/probe_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1024 * 1024 };

uint32_t ids_from_root(const char *map)
{
    autofree char *text = probe_read(map);
    uint32_t inside, outside, count, found = 0;
    int length = 0;

    for (const char *at = text;
         at && sscanf(at, "%u %u %u%n", &inside, &outside, &count, &length) == 3; at += length) {
        /* Ranges that follow each other count as one. */
        if (inside == found)
            found += count;
    }
    return found;
}

bool ids_are_all(void)
{
    return ids_from_root("/proc/self/uid_map") == UINT32_MAX;
}

bool ids_range(struct view *view, const char *file, unsigned uid, uint32_t *ret_first,
               uint32_t *ret_count)
{
    const char *user = view_user_name(view, uid);
    autofree char *text = NULL;
    size_t length = 0;
    char number[16];
    char *rest;

    (void)snprintf(number, sizeof(number), "%u", uid);
    if (view_read(view, file, FILE_BYTES, &text, &length, NULL) < 0)
        return false;
    rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *owner = strsep(&line, ":");
        const char *first = strsep(&line, ":");

        if (!line || (strcmp(owner, number) != 0 && !(user && strcmp(owner, user) == 0)))
            continue;
        *ret_first = (uint32_t)strtoul(first, NULL, 10);
        *ret_count = (uint32_t)strtoul(line, NULL, 10);
        if (*ret_count > 1)
            return true;
    }
    return false;
}
