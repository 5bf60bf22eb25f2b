/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_LEAST = 64 };

/* FNV-1a with a final mix: the keys are path components and host labels of the user's own policy.
 */
static uint64_t map_hash(uint64_t scope, const char *key, size_t key_length)
{
    uint64_t hash = 0xcbf29ce484222325ULL ^ scope * 0x9e3779b97f4a7c15ULL;

    for (size_t i = 0; i < key_length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3ULL;
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 29;
}

void map_done(struct map *map)
{
    free(map->entries);
    memset(map, 0, sizeof(*map));
}

static struct map_entry *map_slot(const struct map *map, uint64_t scope, const char *key,
                                  size_t key_length)
{
    size_t mask = map->size - 1;

    for (size_t i = map_hash(scope, key, key_length) & mask;; i = (i + 1) & mask) {
        struct map_entry *entry = &map->entries[i];

        if (!entry->value || (entry->scope == scope && entry->key_length == key_length &&
                              memcmp(entry->key, key, key_length) == 0))
            return entry;
    }
}

void *map_get(const struct map *map, uint64_t scope, const char *key, size_t key_length)
{
    return map->size ? map_slot(map, scope, key, key_length)->value : NULL;
}

static bool map_resize(struct map *map, size_t size)
{
    struct map bigger = {.size = size};

    bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
    if (!bigger.entries)
        return false;
    for (size_t i = 0; i < map->size; i++) {
        const struct map_entry *entry = &map->entries[i];

        if (entry->value)
            *map_slot(&bigger, entry->scope, entry->key, entry->key_length) = *entry;
    }
    free(map->entries);
    map->entries = bigger.entries;
    map->size = bigger.size;
    return true;
}

bool map_reserve(struct map *map, size_t count)
{
    size_t size = MAP_LEAST;

    while (size / 2 < count)
        size *= 2;
    return size <= map->size || map_resize(map, size);
}

bool map_put(struct map *map, uint64_t scope, const char *key, size_t key_length, void *value)
{
    struct map_entry *entry;

    /* At most half full, so that a look-up ends soon. */
    if ((map->count + 1) * 2 > map->size && !map_resize(map, map->size ? map->size * 2 : MAP_LEAST))
        return false;
    entry = map_slot(map, scope, key, key_length);
    if (!entry->value)
        map->count++;
    *entry =
        (struct map_entry){.key = key, .key_length = key_length, .scope = scope, .value = value};
    return true;
}
