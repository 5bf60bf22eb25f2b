/* SPDX-License-Identifier: Apache-2.0 */
/* Of one path: what differs, and whether it may ever be applied. */
#include "base/error.h"
#include "overlay/walk.h"

#include <string.h>
#include <sys/sysmacros.h>

enum { MODE_BITS = 07777, SET_ID_BITS = S_ISUID | S_ISGID };

int walk_add(struct walk *walk, const struct change *change)
{
    struct change added = *change;

    added.path = arena_strndup(&walk->changes->arena, walk->path, walk->path_length);
    if (!added.path || !vec_push(&walk->changes->list, added))
        return error_memory(walk->err);
    return 0;
}

/* The layer has it as the tree has it. */
static int add_same(struct walk *walk, const struct change *change)
{
    struct change added = *change;

    added.path = arena_strndup(&walk->changes->arena, walk->path, walk->path_length);
    return added.path && vec_push(&walk->changes->same, added) ? 0 : error_memory(walk->err);
}

/* A negative result of a comparison is a reason not to apply, or the end of it all. */
static int note_trouble(struct walk *walk, struct change *change, int result)
{
    if (result >= 0)
        return 0;
    if (!entry_is_own_fault(-result))
        return error_errno(walk->err, -result, "compare %s", walk->path);
    change->bar = CHANGE_UNREADABLE;
    change->errnum = -result;
    return 0;
}

/* Both are of one type. */
static int compare_content(struct walk *walk, const struct entry *before, const struct entry *after)
{
    switch (after->status.st_mode & S_IFMT) {
    case S_IFREG:
        return compare_data(after, before, walk->room, NULL);
    case S_IFLNK:
        return compare_links(after, before);
    case S_IFCHR:
    case S_IFBLK:
        return after->status.st_rdev == before->status.st_rdev;
    default:
        return 1;
    }
}

static bool has_other_times(const struct stat *before, const struct stat *after)
{
    return before->st_mtim.tv_sec != after->st_mtim.tv_sec ||
           before->st_mtim.tv_nsec != after->st_mtim.tv_nsec;
}

static int compare_all(struct walk *walk, const struct entry *before, const struct entry *after,
                       struct change *change)
{
    int same = compare_content(walk, before, after);
    int result = note_trouble(walk, change, same);

    if (result < 0)
        return result;
    /* What cannot be read may differ. */
    if (same != 1)
        change->what |= CHANGE_CONTENT;
    if ((before->status.st_mode ^ after->status.st_mode) & MODE_BITS)
        change->what |= CHANGE_MODE;
    same = compare_attributes(after, before, walk->room);
    result = note_trouble(walk, change, same);
    if (same == 0)
        change->what |= CHANGE_ATTRIBUTES;
    if (change->what && has_other_times(&before->status, &after->status))
        change->what |= CHANGE_TIMES;
    return result;
}

/* It will be read when it is applied. */
static int try_data(const struct entry *after)
{
    autoclose int fd = S_ISREG(after->status.st_mode) ? entry_open_data(after) : -EBADF;

    return S_ISREG(after->status.st_mode) && fd < 0 ? fd : 0;
}

/* SECURITY: a program with these bits runs with the rights of its owner, who on the host is not
 * the command. So it may have only what the host's file has, and that one's content. */
static bool gets_set_id(const struct level *parent, const struct change *change)
{
    unsigned after = change->after.st_mode & SET_ID_BITS;
    unsigned before = change->kind == CHANGE_CHANGED ? change->before.st_mode & SET_ID_BITS : 0;

    if (S_ISLNK(change->after.st_mode))
        return false;
    /* A directory made in one with set-group-id gets it from there. */
    if (S_ISDIR(change->after.st_mode) && parent && parent->gives_group)
        before |= S_ISGID;
    return (after & ~before) || (after && !S_ISDIR(change->after.st_mode) &&
                                 (change->kind != CHANGE_CHANGED || change->what & CHANGE_CONTENT));
}

static void bar_type(const struct level *parent, struct change *change)
{
    switch (change->after.st_mode & S_IFMT) {
    case S_IFCHR:
    case S_IFBLK:
        change->bar = CHANGE_DEVICE;
        break;
    case S_IFSOCK:
        change->bar = CHANGE_SOCKET;
        break;
    default:
        if (gets_set_id(parent, change))
            change->bar = CHANGE_SET_ID;
    }
}

int walk_judge(struct walk *walk, const struct level *parent, const struct entry *before,
               const struct entry *after, ssize_t *ret_row)
{
    struct change change = {.before = before->status, .after = after->status};
    int result = 0;

    *ret_row = WALK_NO_ROW;
    if (!before->status.st_mode) {
        change.kind = CHANGE_ADDED;
    } else if ((before->status.st_mode ^ after->status.st_mode) & S_IFMT) {
        change.kind = CHANGE_REPLACED;
    } else {
        change.kind = CHANGE_CHANGED;
        result = compare_all(walk, before, after, &change);
        if (result == 0 && !change.what && change.bar == CHANGE_FREE)
            return add_same(walk, &change);
        if (result < 0)
            return result;
    }
    if (change.kind != CHANGE_CHANGED)
        result = note_trouble(walk, &change, try_data(after));
    if (change.bar == CHANGE_FREE)
        bar_type(parent, &change);
    if (result == 0)
        result = walk_add(walk, &change);
    if (result == 0)
        *ret_row = (ssize_t)walk->changes->list.count - 1;
    return result;
}
