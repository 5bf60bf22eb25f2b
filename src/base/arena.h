/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once: a policy and a plan live in one each. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *newest;
};

void arena_done(struct arena *arena);

/* Takes so many bytes from the system at once, for who knows that they will be used. False when out
 * of memory. */
bool arena_reserve(struct arena *arena, size_t size);

/* Zeroed and aligned for any type. NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *arena, const char *format,
                                                         ...);

/* The texts behind each other; the last is NULL. For what is made for every rule: cheaper than a
 * format. */
__attribute__((sentinel)) char *arena_join(struct arena *arena, ...);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))

#endif
