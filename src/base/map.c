/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_LEAST = 64 };

static uint64_t map_mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
}

/* Up to eight bytes, as a number: with the length no other bytes have it. */
static uint64_t map_word(const char *bytes, size_t length)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    uint32_t first, last;

    if (length >= sizeof(first)) {
        memcpy(&first, bytes, sizeof(first));
        memcpy(&last, bytes + length - sizeof(last), sizeof(last));
        return first | (uint64_t)last << 32;
    }
    return length ? byte[0] | (unsigned)byte[length / 2] << 8 | (unsigned)byte[length - 1] << 16
                  : 0;
}

/* The keys are paths, their components, and host labels of the user's own policy. */
static uint32_t map_hash(uint64_t scope, const char *key, size_t key_length)
{
    uint64_t hash = map_mix(scope, key_length);
    uint64_t word;

    for (; key_length > sizeof(word); key += sizeof(word), key_length -= sizeof(word)) {
        memcpy(&word, key, sizeof(word));
        hash = map_mix(hash, word);
    }
    hash = map_mix(hash, map_word(key, key_length));
    return (uint32_t)(hash >> 32);
}

void map_done(struct map *map)
{
    free(map->entries);
    free(map->slots);
    memset(map, 0, sizeof(*map));
}

/* Where an entry with this key is, or would be. */
static struct map_slot *find_slot(const struct map *map, uint32_t hash, uint64_t scope,
                                  const char *key, size_t key_length)
{
    size_t mask = map->size - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &map->slots[i];
        const struct map_entry *entry;

        if (!slot->number)
            return slot;
        entry = &map->entries[slot->number - 1];
        if (slot->hash == hash && entry->scope == scope && entry->key_length == key_length &&
            memcmp(entry->key, key, key_length) == 0)
            return slot;
    }
}

void *map_get(const struct map *map, uint64_t scope, const char *key, size_t key_length)
{
    const struct map_slot *slot;

    if (!map->size)
        return NULL;
    slot = find_slot(map, map_hash(scope, key, key_length), scope, key, key_length);
    return slot->number ? map->entries[slot->number - 1].value : NULL;
}

static bool map_resize(struct map *map, size_t size)
{
    struct map_slot *slots = calloc(size, sizeof(*slots));
    struct map_entry *entries = slots ? realloc(map->entries, size / 2 * sizeof(*entries)) : NULL;

    if (!entries) {
        free(slots);
        return false;
    }
    for (size_t i = 0; i < map->size; i++) {
        size_t at = map->slots[i].hash & (size - 1);

        if (!map->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & (size - 1);
        slots[at] = map->slots[i];
    }
    free(map->slots);
    map->entries = entries;
    map->slots = slots;
    map->size = size;
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
    uint32_t hash = map_hash(scope, key, key_length);
    struct map_slot *slot;

    /* At most half full, so that a look-up ends soon. */
    if (map->count == map->size / 2 && !map_resize(map, map->size ? map->size * 2 : MAP_LEAST))
        return false;
    slot = find_slot(map, hash, scope, key, key_length);
    if (!slot->number)
        *slot = (struct map_slot){.hash = hash, .number = (uint32_t)++map->count};
    map->entries[slot->number - 1] =
        (struct map_entry){.key = key, .key_length = key_length, .scope = scope, .value = value};
    return true;
}
