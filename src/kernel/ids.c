/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ids.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "kernel/probe_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool ids_next_range(char **text, uid_t uid, const char *name, uint32_t *ret_first,
                    uint32_t *ret_count)
{
    char number[16];

    (void)snprintf(number, sizeof(number), "%u", (unsigned)uid);
    for (char *line; (line = strsep(text, "\n"));) {
        const char *owner = strsep(&line, ":");
        const char *start = strsep(&line, ":");
        uint64_t first, count;

        if (!line || (strcmp(owner, number) != 0 && !(name && strcmp(owner, name) == 0)) ||
            !text_parse_count(start, UINT32_MAX, &first) ||
            !text_parse_count(line, UINT32_MAX, &count) || count == 0)
            continue;
        *ret_first = (uint32_t)first;
        *ret_count = (uint32_t)count;
        return true;
    }
    return false;
}

bool ids_range(char *text, uid_t uid, const char *name, uint32_t *ret_first, uint32_t *ret_count)
{
    while (ids_next_range(&text, uid, name, ret_first, ret_count)) {
        if (*ret_count >= 2)
            return true;
    }
    return false;
}
