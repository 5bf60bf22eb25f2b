/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 16 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

void arena_done(struct arena *arena)
{
    while (arena->newest) {
        struct arena_block *older = arena->newest->older;

        free(arena->newest);
        arena->newest = older;
    }
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    struct arena_block *block = arena->newest;
    void *memory;

    if (size > (size_t)-1 / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!block || block->size - block->used < size) {
        size_t want = size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES;

        block = calloc(1, sizeof(*block) + want);
        if (!block)
            return NULL;
        block->size = want;
        block->older = arena->newest;
        arena->newest = block;
    }
    memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

char *arena_strndup(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);

    if (copy && length)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
