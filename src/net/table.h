/* SPDX-License-Identifier: Apache-2.0 */
/*
 * So many things by name, and in the order of their use: what is not used goes first.
 *
 * How it works: the links are in the things themselves, and the room for all that may be
 * there is taken at the start, so that putting one in never fails. SECURITY: who is inside
 * chooses the names; the hash has a secret, or he could make all of them meet.
 */
#ifndef NET_TABLE_H
#define NET_TABLE_H

#include <bawn/error.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in its owner, first of all. */
struct table_entry {
    const char *name;         /* borrowed */
    struct table_entry *next; /* with the same hash */
    struct table_entry *older, *newer;
};

struct table {
    struct table_entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
    uint64_t secret;
    struct table_entry *oldest, *newest;
};

int table_init(struct table *table, size_t most, struct bawn_error *err);
void table_done(struct table *table);

struct table_entry *table_find(const struct table *table, const char *name);
/* The name must not be there yet. It becomes the newest. */
void table_put(struct table *table, struct table_entry *entry);
void table_remove(struct table *table, struct table_entry *entry);
/* It becomes the newest. */
void table_use(struct table *table, struct table_entry *entry);

#endif
