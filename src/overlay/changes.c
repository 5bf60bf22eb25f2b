/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it works: the layer is walked, never the tree: what the layer does not have did not change.
 * A directory is listed once; what is no directory is judged at once, the directories when all of
 * it was listed. Of a chain of directories only the lowest are held open; whoever comes back to one
 * further up opens it again, by the names that led there, and looks whether it is the same.
 */
#include "overlay/changes.h"

#include "base/error.h"
#include "overlay/walk.h"

#include <fcntl.h>
#include <string.h>

#define OPAQUE_NAME   "user.overlay.opaque"
#define WHITEOUT_NAME "user.overlay.whiteout"

static void level_close(struct level *level)
{
    entry_close(&level->upper);
    entry_close(&level->lower);
}

static void level_done(struct level *level)
{
    level_close(level);
    vec_done(&level->names);
}

static struct level *top_of(struct walk *walk)
{
    return &walk->levels.items[walk->levels.count - 1];
}

static void pop_level(struct walk *walk)
{
    level_done(top_of(walk));
    walk->levels.count--;
    if (walk->levels.count)
        walk->path_length = top_of(walk)->path_length;
    walk->path[walk->path_length] = '\0';
}

/* Appends a name to the path of a level. False when that becomes too long. */
static bool walk_name(struct walk *walk, const struct level *level, const char *name)
{
    size_t at = level->path_length;
    size_t length = strlen(name);

    if (at + (at > 0) + length >= sizeof(walk->path))
        return false;
    if (at)
        walk->path[at++] = '/';
    memcpy(walk->path + at, name, length + 1);
    walk->path_length = at + length;
    return true;
}

static void walk_name_level(struct walk *walk, const struct level *level)
{
    walk->path_length = level->path_length;
    walk->path[walk->path_length] = '\0';
}

static struct change *row_of(const struct walk *walk, ssize_t row)
{
    struct change *items = walk->changes->list.items;

    return items && row != WALK_NO_ROW ? &items[row] : NULL;
}

/* The directory cannot be read as a whole: its own change says so. */
static int spoil_level(struct walk *walk, struct level *level, int errnum)
{
    struct change *row;
    int result = 0;

    if (!entry_is_own_fault(errnum) || level->path_length == 0)
        return error_errno(walk->err, errnum, "read the layer of %s at \"%s\"", walk->tree->path,
                           walk->path);
    if (level->row == WALK_NO_ROW) {
        struct change change = {
            .kind = CHANGE_CHANGED, .before = level->lower_was, .after = level->upper.status};

        walk_name_level(walk, level);
        result = walk_add(walk, &change);
        if (result < 0)
            return result;
        level->row = (ssize_t)walk->changes->list.count - 1;
    }
    row = row_of(walk, level->row);
    if (row) {
        row->bar = CHANGE_UNREADABLE;
        row->errnum = errnum;
    }
    return 0;
}

static bool is_whiteout(const struct level *level, const struct entry *entry)
{
    char value[8];

    if (S_ISCHR(entry->status.st_mode) && entry->status.st_rdev == 0)
        return true;
    /* KERNEL(6.7): another form of it, for layers that are themselves on an overlay. */
    return level->has_marks && S_ISREG(entry->status.st_mode) && entry->status.st_size == 0 &&
           entry_get_attribute(entry, WHITEOUT_NAME, value, sizeof(value)) != -ENODATA;
}

/* Opens what the tree has under a name; nothing is an entry with st_mode 0. */
static int open_lower(const struct level *level, const char *name, struct entry *ret_lower)
{
    int result = level->has_lower ? entry_open(level->lower.fd, name, ret_lower) : -ENOENT;

    if (result < 0)
        memset(&ret_lower->status, 0, sizeof(ret_lower->status));
    return entry_is_gone(-result) ? 0 : result;
}

/* The walk has its path. */
static int add_deleted(struct walk *walk, const struct stat *before)
{
    struct change change = {.kind = CHANGE_DELETED, .before = *before};

    return walk_add(walk, &change);
}

/* What the layer has stands over something that cannot be looked at. */
static int add_unreadable(struct walk *walk, const struct stat *after, int errnum)
{
    struct change change = {
        .kind = CHANGE_CHANGED, .after = *after, .bar = CHANGE_UNREADABLE, .errnum = errnum};

    if (!entry_is_own_fault(errnum))
        return error_errno(walk->err, errnum, "look at %s", walk->path);
    return walk_add(walk, &change);
}

static int list_level(struct walk *walk);

/* Goes down into a directory of the layer, which is judged already. parent NULL: the top. */
static int push_level(struct walk *walk, const struct level *parent, struct entry *upper,
                      struct entry *lower, ssize_t row)
{
    struct level level = {
        .path_length = walk->path_length,
        .row = row,
        .lower_was = lower->status,
        .has_lower = S_ISDIR(lower->status.st_mode),
        .is_opaque = parent && (parent->is_opaque || entry_has_attribute(upper, OPAQUE_NAME, "y")),
        .has_marks = entry_has_attribute(upper, OPAQUE_NAME, "x")};
    const struct change *change = row_of(walk, row);

    level.gives_group = upper->status.st_mode & S_ISGID && (!change || change->bar == CHANGE_FREE);
    level.upper = *upper;
    level.lower = level.has_lower ? *lower : (struct entry)ENTRY_NONE;
    if (!vec_push(&walk->levels, level))
        return error_memory(walk->err);
    upper->fd = -EBADF;
    if (level.has_lower)
        lower->fd = -EBADF;
    if (walk->levels.count > WALK_OPEN_LEVELS + 1) /* the first stays */
        level_close(&walk->levels.items[walk->levels.count - 1 - WALK_OPEN_LEVELS]);
    return list_level(walk);
}

static bool keep_name(struct level *level, const char *name)
{
    do {
        if (!vec_push(&level->names, *name))
            return false;
    } while (*name++);
    return true;
}

/* Judges one name of the level. A directory is kept for later, or gone into. */
static int judge_name(struct walk *walk, const char *name, bool is_later)
{
    struct level *level = top_of(walk);
    autoentry struct entry upper = ENTRY_NONE;
    autoentry struct entry lower = ENTRY_NONE;
    ssize_t row;
    int result;

    if (!walk_name(walk, level, name))
        return spoil_level(walk, level, ENAMETOOLONG);
    result = entry_open(level->upper.fd, name, &upper);
    if (result < 0)
        return entry_is_gone(-result) ? 0 : spoil_level(walk, level, -result);
    if (S_ISDIR(upper.status.st_mode) && !is_later)
        return keep_name(level, name) ? 0 : error_memory(walk->err);
    result = open_lower(level, name, &lower);
    if (result < 0)
        return add_unreadable(walk, &upper.status, -result);
    if (is_whiteout(level, &upper))
        return lower.status.st_mode ? add_deleted(walk, &lower.status) : 0;
    result = walk_judge(walk, level, &lower, &upper, &row);
    if (result == 0 && S_ISDIR(upper.status.st_mode))
        result = push_level(walk, level, &upper, &lower, row);
    return result;
}

/* Names of the tree that an opaque directory does not have. */
static int list_hidden(struct walk *walk)
{
    struct level *level = top_of(walk);
    DIR *dir = entry_list(level->lower.fd);
    const struct dirent *found;
    int result = 0;

    if (!dir)
        return entry_is_gone(errno) ? 0 : spoil_level(walk, level, errno);
    while (result == 0 && (found = entry_next(dir))) {
        struct stat status;

        if (fstatat(level->upper.fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (!entry_is_gone(errno))
            result = spoil_level(walk, level, errno);
        else if (fstatat(level->lower.fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            result = entry_is_gone(errno) ? 0 : spoil_level(walk, level, errno);
        else if (!walk_name(walk, level, found->d_name))
            result = spoil_level(walk, level, ENAMETOOLONG);
        else
            result = add_deleted(walk, &status);
    }
    if (result == 0 && !found && errno)
        result = spoil_level(walk, level, errno);
    (void)closedir(dir);
    return result;
}

static int list_level(struct walk *walk)
{
    struct level *level = top_of(walk);
    DIR *dir = entry_list(level->upper.fd);
    const struct dirent *found;
    int result = 0;

    if (!dir)
        return spoil_level(walk, level, errno);
    while (result == 0 && (found = entry_next(dir))) {
        if (found->d_type != DT_DIR)
            result = judge_name(walk, found->d_name, false);
        else if (!keep_name(level, found->d_name))
            result = error_memory(walk->err);
    }
    if (result == 0 && errno)
        result = spoil_level(walk, level, errno);
    (void)closedir(dir);
    if (result == 0 && level->is_opaque && level->has_lower)
        result = list_hidden(walk);
    return result;
}

/* 1: it is the same directory still, 0: it is not there, else -errno. */
static int open_again(int dir_fd, const char *name, struct entry *entry)
{
    struct entry again;
    int result = entry_open(dir_fd, name, &again);

    if (result < 0)
        return entry_is_gone(-result) ? 0 : result;
    if (again.status.st_dev != entry->status.st_dev ||
        again.status.st_ino != entry->status.st_ino) {
        entry_close(&again);
        return 0;
    }
    entry->fd = again.fd;
    return 1;
}

static int open_level_again(const struct walk *walk, const struct level *parent,
                            struct level *level)
{
    char name[NAME_MAX + 1];
    size_t from = parent->path_length + (parent->path_length > 0);
    int result;

    (void)snprintf(name, sizeof(name), "%.*s", (int)(level->path_length - from), walk->path + from);
    result = open_again(parent->upper.fd, name, &level->upper);
    if (result == 1 && level->has_lower) {
        /* What the tree lost meanwhile is not there, as if it never was. */
        result = parent->has_lower ? open_again(parent->lower.fd, name, &level->lower) : 0;
        level->has_lower = result == 1;
        result = result == 0 ? 1 : result;
    }
    return result;
}

/* Opens the top level and those above it that are held. 1, 0: it is not there, else -errno. */
static int reopen_top(struct walk *walk)
{
    struct level *levels = walk->levels.items;
    size_t top = walk->levels.count - 1;
    size_t at = top;

    while (levels[at].upper.fd < 0)
        at--;
    while (at++ < top) {
        int result = open_level_again(walk, &levels[at - 1], &levels[at]);

        if (result != 1)
            return result;
        if (at > WALK_OPEN_LEVELS)
            level_close(&levels[at - WALK_OPEN_LEVELS]);
    }
    return 1;
}

static int push_root(struct walk *walk)
{
    autoentry struct entry upper = ENTRY_NONE;
    autoentry struct entry lower = ENTRY_NONE;
    ssize_t row;
    int result = entry_open(walk->tree->upper_fd, "", &upper);

    if (result == 0)
        result = entry_open(walk->tree->lower_fd, "", &lower);
    if (result == 0 && !(S_ISDIR(upper.status.st_mode) && S_ISDIR(lower.status.st_mode)))
        result = -ENOTDIR;
    if (result < 0)
        return error_errno(walk->err, -result, "open %s and its layer", walk->tree->path);
    result = walk_judge(walk, NULL, &lower, &upper, &row);
    return result < 0 ? result : push_level(walk, NULL, &upper, &lower, row);
}

static int walk_layer(struct walk *walk)
{
    int result = push_root(walk);

    while (result == 0 && walk->levels.count > 0) {
        struct level *level = top_of(walk);
        const char *name = level->names.items + level->next;

        if (level->next == level->names.count) {
            pop_level(walk);
            continue;
        }
        level->next += strlen(name) + 1;
        result = reopen_top(walk);
        if (result == 1)
            result = judge_name(walk, name, true);
        else if (result == 0)
            pop_level(walk);
        else
            result = spoil_level(walk, level, -result);
    }
    return result;
}

/* "/" before all other bytes: what is in a directory comes right behind it. */
static int compare_paths(const void *a, const void *b)
{
    const unsigned char *one = (const unsigned char *)((const struct change *)a)->path;
    const unsigned char *other = (const unsigned char *)((const struct change *)b)->path;

    while (*one && *one == *other) {
        one++;
        other++;
    }
    return (*one ? *one == '/' ? 1 : *one + 1 : 0) - (*other ? *other == '/' ? 1 : *other + 1 : 0);
}

int changes_find(const struct overlay_tree *tree, struct changes *ret_changes,
                 struct bawn_error *err)
{
    autofree struct walk *walk = calloc(1, sizeof(*walk));
    autofree struct compare_room *room = malloc(sizeof(*room));
    struct changes changes = {0};
    int result;

    if (!walk || !room)
        return error_memory(err);
    *walk = (struct walk){.tree = tree, .changes = &changes, .err = err, .room = room};
    result = walk_layer(walk);
    vec_each (&walk->levels, level)
        level_done(level);
    vec_done(&walk->levels);
    if (result == 0 && changes.list.count > 0) {
        qsort(changes.list.items, changes.list.count, sizeof(struct change), compare_paths);
        result = moves_find(tree, &changes, room, err);
        if (result == 0)
            result = inside_count(tree, &changes, err);
    }
    if (result < 0)
        changes_done(&changes);
    else
        *ret_changes = changes;
    return result;
}

const struct change *changes_at(const struct changes *changes, const char *path)
{
    struct change wanted = {.path = path};

    return changes->list.count ? bsearch(&wanted, changes->list.items, changes->list.count,
                                         sizeof(wanted), compare_paths)
                               : NULL;
}

void changes_done(struct changes *changes)
{
    vec_done(&changes->list);
    vec_done(&changes->same);
    arena_done(&changes->arena);
}
