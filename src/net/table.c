/* SPDX-License-Identifier: Apache-2.0 */
#include "net/table.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const uint64_t prime = (1ULL << 61) - 1;

/* The bytes are the coefficients of a polynomial, and the secret is where it is taken: two names
 * meet for hardly any secret. */
static size_t bucket_of(const struct table *table, const char *name)
{
    uint64_t hash = 1;

    for (; *name; name++)
        hash = (uint64_t)(((unsigned __int128)hash * table->secret + (unsigned char)*name) % prime);
    return (size_t)(hash & (table->bucket_count - 1));
}

int table_init(struct table *table, size_t most, struct bawn_error *err)
{
    *table = (struct table){.bucket_count = 1};
    while (table->bucket_count < most)
        table->bucket_count *= 2;
    if (getrandom(&table->secret, sizeof(table->secret), 0) != (ssize_t)sizeof(table->secret))
        return error_errno(err, errno, "getrandom");
    /* Above the range of a byte, where neighbours would meet. */
    table->secret = (1ULL << 32) + table->secret % (prime - (1ULL << 32));
    table->buckets = calloc(table->bucket_count, sizeof(struct table_entry *));
    return table->buckets ? 0 : error_memory(err);
}

void table_done(struct table *table)
{
    free(table->buckets);
    memset(table, 0, sizeof(*table));
}

struct table_entry *table_find(const struct table *table, const char *name)
{
    struct table_entry *entry = table->buckets[bucket_of(table, name)];

    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

static void add_newest(struct table *table, struct table_entry *entry)
{
    entry->newer = NULL;
    entry->older = table->newest;
    *(table->newest ? &table->newest->newer : &table->oldest) = entry;
    table->newest = entry;
}

static void take_out(struct table *table, struct table_entry *entry)
{
    *(entry->older ? &entry->older->newer : &table->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &table->newest) = entry->older;
}

void table_put(struct table *table, struct table_entry *entry)
{
    struct table_entry **bucket = &table->buckets[bucket_of(table, entry->name)];

    entry->next = *bucket;
    *bucket = entry;
    add_newest(table, entry);
    table->count++;
}

void table_remove(struct table *table, struct table_entry *entry)
{
    struct table_entry **at = &table->buckets[bucket_of(table, entry->name)];

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    take_out(table, entry);
    table->count--;
}

void table_use(struct table *table, struct table_entry *entry)
{
    take_out(table, entry);
    add_newest(table, entry);
}
