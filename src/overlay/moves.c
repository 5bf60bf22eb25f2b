/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: files of a size that was both deleted and added are looked at: a sum of how they
 * begin finds the pairs that may be the same, and all their bytes say whether they are. What is
 * read has a limit for the whole layer; past it nothing more is called a move.
 */
#include "base/error.h"
#include "overlay/walk.h"

#include <stdint.h>
#include <string.h>

enum {
    BEGIN_BYTES = 16 * 1024,
    READ_MIN = 4096, /* a file costs that much, if it is shorter too */
    TRIES = 16,      /* pairs with the same sum, for one file */
};
static const uint64_t read_limit = UINT64_C(1) << 30;

struct candidate {
    uint64_t size, sum;
    size_t index; /* in the list of changes */
    size_t taken; /* of the first one with these: how many have moved */
};

struct moves {
    const struct overlay_tree *tree;
    struct changes *changes;
    struct compare_room *room;
    VEC(struct candidate) deleted;
    VEC(struct candidate) added;
    uint64_t read;
};

static bool is_deleted(const struct change *change)
{
    return change->kind == CHANGE_DELETED && S_ISREG(change->before.st_mode) &&
           change->before.st_size > 0;
}

static bool is_added(const struct change *change)
{
    return change->kind == CHANGE_ADDED && S_ISREG(change->after.st_mode) &&
           change->after.st_size > 0 && change->bar == CHANGE_FREE;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *one = a;
    const struct candidate *other = b;

    if (one->size != other->size)
        return one->size < other->size ? -1 : 1;
    if (one->sum != other->sum)
        return one->sum < other->sum ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Where in a sorted list these would be first. */
static size_t find_first(const struct candidate *list, size_t count, uint64_t size, uint64_t sum)
{
    const struct candidate wanted = {.size = size, .sum = sum};
    size_t from = 0;

    while (from < count) {
        size_t middle = from + (count - from) / 2;

        if (compare_candidates(&list[middle], &wanted) < 0)
            from = middle + 1;
        else
            count = middle;
    }
    return from;
}

static bool may_read(struct moves *moves, uint64_t bytes)
{
    uint64_t cost = bytes > READ_MIN ? bytes : READ_MIN;

    if (cost > read_limit - moves->read)
        return false;
    moves->read += cost;
    return true;
}

/* FNV-1a of how it begins: 1, 0: it cannot be told, else -errno. */
static int sum_up(struct moves *moves, int root_fd, struct candidate *candidate)
{
    autoentry struct entry entry = ENTRY_NONE;
    autoclose int fd = -EBADF;
    ssize_t got = 0;
    int result;

    if (!may_read(moves, candidate->size < BEGIN_BYTES ? candidate->size : BEGIN_BYTES))
        return 0;
    result = entry_open_below(root_fd, moves->changes->list.items[candidate->index].path, &entry);
    if (result == 0)
        result = fd = entry_open_data(&entry);
    if (result >= 0)
        result = (int)(got = entry_read(fd, moves->room->one, BEGIN_BYTES));
    if (result < 0)
        return entry_is_own_fault(-result) ? 0 : result;
    candidate->sum = UINT64_C(0xcbf29ce484222325);
    for (ssize_t i = 0; i < got; i++)
        candidate->sum =
            (candidate->sum ^ (unsigned char)moves->room->one[i]) * UINT64_C(0x100000001b3);
    return 1;
}

static bool has_size(const struct candidate *list, size_t count, uint64_t size)
{
    size_t at = find_first(list, count, size, 0);

    return at < count && list[at].size == size;
}

/* Leaves the deleted files that have the size of one that was added, with their sums, sorted. */
static int sum_deleted(struct moves *moves)
{
    size_t kept = 0;

    qsort(moves->added.items, moves->added.count, sizeof(struct candidate), compare_candidates);
    vec_each (&moves->deleted, deleted) {
        int result = has_size(moves->added.items, moves->added.count, deleted->size)
                         ? sum_up(moves, moves->tree->lower_fd, deleted)
                         : 0;

        if (result < 0)
            return result;
        if (result == 1)
            moves->deleted.items[kept++] = *deleted;
    }
    moves->deleted.count = kept;
    if (kept > 0)
        qsort(moves->deleted.items, kept, sizeof(struct candidate), compare_candidates);
    return 0;
}

static const char *name_of(const struct change *change)
{
    const char *slash = strrchr(change->path, '/');

    return slash ? slash + 1 : change->path;
}

/* 1: the same bytes, 0: not, or it cannot be told; else -errno. */
static int is_same(struct moves *moves, const struct change *deleted, const struct change *added)
{
    autoentry struct entry one = ENTRY_NONE;
    autoentry struct entry other = ENTRY_NONE;
    int result;

    if (!may_read(moves, (uint64_t)added->after.st_size))
        return 0;
    result = entry_open_below(moves->tree->lower_fd, deleted->path, &one);
    if (result == 0)
        result = entry_open_below(moves->tree->upper_fd, added->path, &other);
    if (result == 0)
        result = compare_data(&one, &other, moves->room, NULL);
    return result < 0 && entry_is_own_fault(-result) ? 0 : result;
}

/* Of the deleted files with one sum the one that has the name, or the first. */
static int take_source(struct moves *moves, size_t first, struct change *added)
{
    struct candidate *range = moves->deleted.items + first;
    struct change *changes = moves->changes->list.items;
    size_t count = 0;

    while (first + count < moves->deleted.count && count < range->taken + TRIES &&
           range[count].size == range->size && range[count].sum == range->sum)
        count++;
    for (int by_name = 1; by_name >= 0; by_name--) {
        for (size_t i = range->taken; i < count; i++) {
            struct change *deleted = &changes[range[i].index];
            size_t swapped = range[i].index;
            int result;

            if (by_name != (strcmp(name_of(deleted), name_of(added)) == 0))
                continue;
            result = is_same(moves, deleted, added);
            if (result < 0)
                return result;
            if (result == 0)
                continue;
            added->from = deleted->path;
            deleted->is_moved = true;
            range[i].index = range[range->taken].index;
            range[range->taken++].index = swapped;
            return 0;
        }
    }
    return 0;
}

static int match(struct moves *moves)
{
    vec_each (&moves->added, added) {
        size_t first;
        int result;

        if (!has_size(moves->deleted.items, moves->deleted.count, added->size))
            continue;
        result = sum_up(moves, moves->tree->upper_fd, added);
        if (result < 0)
            return result;
        first = find_first(moves->deleted.items, moves->deleted.count, added->size, added->sum);
        if (result == 1 && first < moves->deleted.count &&
            moves->deleted.items[first].size == added->size &&
            moves->deleted.items[first].sum == added->sum)
            result = take_source(moves, first, &moves->changes->list.items[added->index]);
        if (result < 0)
            return result;
    }
    return 0;
}

int moves_find(const struct overlay_tree *tree, struct changes *changes, struct compare_room *room,
               struct bawn_error *err)
{
    struct moves moves = {.tree = tree, .changes = changes, .room = room};
    int result = 0;

    for (size_t i = 0; i < changes->list.count && result == 0; i++) {
        const struct change *change = &changes->list.items[i];

        if (is_deleted(change)) {
            struct candidate deleted = {.size = (uint64_t)change->before.st_size, .index = i};

            result = vec_push(&moves.deleted, deleted) ? 0 : -ENOMEM;
        } else if (is_added(change)) {
            struct candidate added = {.size = (uint64_t)change->after.st_size, .index = i};

            result = vec_push(&moves.added, added) ? 0 : -ENOMEM;
        }
    }
    if (result == 0 && moves.deleted.count > 0 && moves.added.count > 0)
        result = sum_deleted(&moves);
    if (result == 0)
        result = match(&moves);
    vec_done(&moves.deleted);
    vec_done(&moves.added);
    return result < 0 ? error_errno(err, -result, "look for files that moved") : 0;
}
