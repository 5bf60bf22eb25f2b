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
    void *value;
};

struct map_slot {
    uint32_t hash;   /* of scope and key */
    uint32_t number; /* of the entry, from 1; 0: free */
};

/* The slots say where the entries are, which lie side by side: a table that is half empty is then
 * small. */
struct map {
    struct map_entry *entries;
    struct map_slot *slots;
    size_t count;
    size_t size; /* of the slots: 0 or a power of two; there is room for half as many entries */
};

void map_done(struct map *map);

/* The value, or NULL. scope tells keys with the same bytes apart. */
void *map_get(const struct map *map, uint64_t scope, const char *key, size_t key_length);

/* Makes room for so many keys in one step. False when out of memory. */
bool map_reserve(struct map *map, size_t count);

/* Adds or replaces. value must not be NULL. False when out of memory. */
bool map_put(struct map *map, uint64_t scope, const char *key, size_t key_length, void *value);

#endif
