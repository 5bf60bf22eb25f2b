/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BLOCK_LEAST = 16 * 1024, BLOCK_MOST = 256 * 1024 };

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

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = calloc(1, sizeof(*block) + size);

    if (!block)
        return NULL;
    block->size = size;
    block->older = arena->newest;
    arena->newest = block;
    return block;
}

/* KERNEL(5.14): to take pages together costs a fraction of meeting each one alone. */
static void take_pages(const struct arena_block *block)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t end = (uintptr_t)block->bytes + block->size;

    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

bool arena_reserve(struct arena *arena, size_t size)
{
    const struct arena_block *block = arena->newest;

    if (block && block->size - block->used >= size)
        return true;
    block = add_block(arena, size);
    if (block)
        take_pages(block);
    return block;
}

/* Each block is twice the one before: what has grown goes on growing. */
static bool add_room(struct arena *arena, size_t size)
{
    const struct arena_block *block = arena->newest;
    size_t room = block ? block->size * 2 : BLOCK_LEAST;

    if (room > BLOCK_MOST)
        room = BLOCK_MOST;
    return arena_reserve(arena, room > size ? room : size);
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
        if (!add_room(arena, size))
            return NULL;
        block = arena->newest;
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
    struct arena_block *block = arena->newest;
    char *tried = block ? block->bytes + block->used : NULL;
    size_t room = block ? block->size - block->used : 0;
    va_list args;
    char *text;
    int length;

    /* Mostly there is room, and one look at the format is enough. Else nobody gets that memory. */
    va_start(args, format);
    length = vsnprintf(tried, room, format, args);
    va_end(args);
    text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (!text && room)
        memset(tried, 0, room);
    if (!text || text == tried)
        return text;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

char *arena_join(struct arena *arena, ...)
{
    size_t length = 0;
    va_list texts;
    char *joined;
    char *end;

    va_start(texts, arena);
    for (const char *text; (text = va_arg(texts, const char *));)
        length += strlen(text);
    va_end(texts);
    joined = end = arena_alloc(arena, length + 1);
    if (!joined)
        return NULL;
    va_start(texts, arena);
    for (const char *text; (text = va_arg(texts, const char *));)
        end = stpcpy(end, text);
    va_end(texts);
    return joined;
}
