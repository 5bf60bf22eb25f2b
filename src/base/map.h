/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from (number, bytes) to a pointer. Keys are borrowed. Reading needs no lock. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    const char *key;
    size_t key_length;
    uint64_t scope;
    uint32_t hash; /* of the three */
    void *value;   /* NULL: free slot */
};

struct map {
    struct map_entry *entries;
    size_t count;
    size_t size; /* 0 or a power of two */
};

void map_done(struct map *map);

/* The value, or NULL. scope tells keys with the same bytes apart. */
void *map_get(const struct map *map, uint64_t scope, const char *key, size_t key_length);

/* Makes room for so many keys in one step. False when out of memory. */
bool map_reserve(struct map *map, size_t count);

/* Adds or replaces. value must not be NULL. False when out of memory. */
bool map_put(struct map *map, uint64_t scope, const char *key, size_t key_length, void *value);

#endif
