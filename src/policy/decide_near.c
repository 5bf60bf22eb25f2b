/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/decide_near.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct decide_dir *dir)
{
    free(dir->path);
    tree_dir_done(&dir->tree);
    *dir = (struct decide_dir){0};
}

void decide_dirs_done(struct decide_dirs *dirs)
{
    for (unsigned i = 0; i < DECIDE_DIRS; i++)
        forget(&dirs->known[i]);
}

static struct decide_dir *slot_of(struct decide_dirs *dirs, const char *path, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3ULL;
    return &dirs->known[(hash ^ hash >> 32) % DECIDE_DIRS];
}

/* The directory that is the first part of a path; NULL: it cannot be kept. */
static const struct decide_dir *dir_of(const struct policy *policy, struct decide_dirs *dirs,
                                       const char *path, size_t length)
{
    struct decide_dir *slot = slot_of(dirs, path, length);
    struct decide_dir dir = {.length = length};

    if (slot->path && slot->length == length && memcmp(slot->path, path, length) == 0)
        return slot;
    dir.path = strndup(path, length);
    if (!dir.path || pathtree_enter(&policy->tree, dir.path, &dir.tree) < 0) {
        forget(&dir);
        return NULL;
    }
    forget(slot);
    *slot = dir;
    return slot;
}

int decide_near(const struct policy *policy, struct decide_dirs *dirs, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT])
{
    const char *name = strrchr(path, '/');
    size_t length = name ? (size_t)(name - path) : 0;
    const struct decide_dir *dir = length && name[1] ? dir_of(policy, dirs, path, length) : NULL;

    return dir ? decide_in(policy, &dir->tree, name + 1, ret_decisions)
               : decide_path(policy, path, ret_decisions);
}
