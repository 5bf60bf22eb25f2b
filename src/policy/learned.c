/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/learned.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void path_done(struct learned_path *path)
{
    free(path->path);
    free(path->first);
}

void learned_done(struct learned_paths *learned)
{
    vec_each (&learned->all, path)
        path_done(path);
    vec_done(&learned->all);
}

static struct learned_path *find(struct learned_paths *learned, const char *path, bool writes)
{
    vec_each (&learned->all, known) {
        if (known->writes == writes && strcmp(known->path, path) == 0)
            return known;
    }
    return NULL;
}

int learned_add(struct learned_paths *learned, const char *path, bool writes, bool is_dir,
                const char *program, uint64_t uses)
{
    struct learned_path *known = find(learned, path, writes);
    struct learned_path new = {.writes = writes, .is_dir = is_dir, .uses = uses, .paths = 1};

    if (known) {
        known->uses += uses;
        known->is_dir = known->is_dir || is_dir;
        if (!*known->program)
            (void)snprintf(known->program, sizeof(known->program), "%s", program);
        return 0;
    }
    if (learned->all.count == LEARNED_PATHS) {
        learned->left_out += uses;
        return 0;
    }
    (void)snprintf(new.program, sizeof(new.program), "%s", program);
    new.path = strdup(path);
    new.first = strdup(path);
    if (new.path &&new.first && vec_push(&learned->all, new))
        return 0;
    path_done(&new);
    return -ENOMEM;
}

static int compare(const void *a, const void *b)
{
    const struct learned_path *one = a;
    const struct learned_path *other = b;
    int order = strcmp(one->path, other->path);

    return order ? order : (int)other->writes - (int)one->writes;
}

static int compare_uses(const void *a, const void *b)
{
    const struct learned_path *one = a;
    const struct learned_path *other = b;

    return one->uses == other->uses ? compare(a, b) : one->uses < other->uses ? 1 : -1;
}

static void sort(struct learned_paths *learned, int (*by)(const void *, const void *))
{
    if (learned->all.count > 1)
        qsort(learned->all.items, learned->all.count, sizeof(*learned->all.items), by);
}

/* The evidence of one goes to another, and the entry away. */
static void absorb(struct learned_path *into, struct learned_path *from)
{
    into->uses += from->uses;
    into->paths += from->paths;
    if (!*into->program)
        (void)snprintf(into->program, sizeof(into->program), "%s", from->program);
    path_done(from);
    from->path = from->first = NULL;
}

static void drop_absorbed(struct learned_paths *learned)
{
    size_t kept = 0;

    vec_each (&learned->all, path) {
        if (path->path)
            learned->all.items[kept++] = *path;
    }
    learned->all.count = kept;
}

static bool covers(const struct learned_path *dir, const struct learned_path *path)
{
    return dir != path && dir->path && path->path && (dir->writes || !path->writes) &&
           (dir->is_dir ? path_is_below(path->path, dir->path)
                        : strcmp(path->path, dir->path) == 0);
}

/* What another entry grants already. */
static void merge_covered(struct learned_paths *learned)
{
    vec_each (&learned->all, dir) {
        vec_each (&learned->all, path) {
            if (covers(dir, path))
                absorb(dir, path);
        }
    }
    drop_absorbed(learned);
}

struct folding {
    struct learned_paths *learned;
    learned_may_fold may_fold;
    void *context;
    bool anywhere; /* entries count wherever below the directory they are */
    size_t until;  /* no more than so many entries are as they should be */
};

/* The first names of a path; false: it has no more than these. */
static bool cut(const char *path, size_t depth, char dir[static LIMIT_PATH_BYTES])
{
    const char *rest = path;
    size_t length;

    for (size_t i = 0; i < depth; i++) {
        if (!path_next(&rest, &length))
            return false;
    }
    (void)snprintf(dir, LIMIT_PATH_BYTES, "%.*s", (int)(rest - path), path);
    return path_next(&rest, &length) != NULL && (size_t)(rest - path) < LIMIT_PATH_BYTES;
}

/* All that is below a directory becomes the directory. */
static int fold_into(struct learned_paths *learned, const char *dir, bool writes)
{
    struct learned_path folded = {.writes = writes, .is_dir = true, .path = strdup(dir)};

    vec_each (&learned->all, path) {
        if (!path_is_below(path->path, dir) || (path->writes && !writes))
            continue;
        if (!folded.first) {
            folded.first = path->first;
            path->first = NULL;
        }
        absorb(&folded, path);
    }
    drop_absorbed(learned);
    if (folded.path && vec_push(&learned->all, folded)) {
        sort(learned, compare);
        return 0;
    }
    path_done(&folded);
    return -ENOMEM;
}

/* What lies in one directory is together in the order of the paths, from at on. Returns how many
 * that are; counts has those that speak for the directory, read and written. */
static size_t count_in(const struct folding *folding, size_t at, const char *dir, size_t depth,
                       size_t counts[2])
{
    const struct learned_paths *learned = folding->learned;
    size_t count = 0;

    counts[false] = counts[true] = 0;
    for (; at + count < learned->all.count; count++) {
        const struct learned_path *path = &learned->all.items[at + count];

        if (!path_is_below(path->path, dir))
            break;
        if (folding->anywhere || path_depth(path->path) == depth + 1)
            counts[path->writes]++;
    }
    return count;
}

/* Folds directories of one depth. */
static int fold_level(const struct folding *folding, size_t depth)
{
    struct learned_paths *learned = folding->learned;
    char dir[LIMIT_PATH_BYTES];
    int r = 0;

    for (size_t at = 0; r == 0 && at < learned->all.count && learned->all.count > folding->until;) {
        size_t counts[2];
        size_t count;
        bool writes;

        if (!cut(learned->all.items[at].path, depth, dir)) {
            at++;
            continue;
        }
        count = count_in(folding, at, dir, depth, counts);
        writes = counts[true] >= LEARNED_FOLD;
        if ((!writes && counts[false] < LEARNED_FOLD) ||
            !folding->may_fold(folding->context, dir)) {
            at += count;
            continue;
        }
        /* The directory comes before what is left in it. */
        r = fold_into(learned, dir, writes);
        at++;
    }
    return r;
}

static int fold(const struct folding *folding)
{
    size_t deepest = 1;
    int r = 0;

    vec_each (&folding->learned->all, path) {
        size_t depth = path_depth(path->path);

        deepest = depth > deepest ? depth : deepest;
    }
    for (size_t depth = deepest - 1; r == 0 && depth > 0; depth--)
        r = fold_level(folding, depth);
    return r;
}

/* Of too many the most used stay. */
static void leave_out(struct learned_paths *learned)
{
    if (learned->all.count <= LEARNED_MOST)
        return;
    sort(learned, compare_uses);
    while (learned->all.count > LEARNED_MOST) {
        struct learned_path *last = &learned->all.items[--learned->all.count];

        learned->left_out += last->uses;
        path_done(last);
    }
    sort(learned, compare);
}

int learned_fold(struct learned_paths *learned, learned_may_fold may_fold, void *context)
{
    struct folding folding = {.learned = learned, .may_fold = may_fold, .context = context};
    int r;

    sort(learned, compare);
    merge_covered(learned);
    r = fold(&folding);
    folding.anywhere = true;
    folding.until = LEARNED_LINES;
    if (r == 0)
        r = fold(&folding);
    if (r < 0)
        return r;
    merge_covered(learned);
    leave_out(learned);
    return 0;
}
