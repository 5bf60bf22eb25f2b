/* SPDX-License-Identifier: Apache-2.0 */
/* The git repository that the workspace belongs to. */
#ifndef API_REPOSITORY_H
#define API_REPOSITORY_H

#include "api/view.h"
#include "base/limits.h"

#include <stdbool.h>

struct repository {
    char top[LIMIT_PATH_BYTES];        /* of the work tree; "": there is none */
    char git_dir[LIMIT_PATH_BYTES];    /* what git has for this work tree */
    char common_dir[LIMIT_PATH_BYTES]; /* what all work trees share; the same if this is the only */
};

/*
 * Looks from the workspace upwards, below the home and as git does. SECURITY:
 * what is found is granted (api/grant_repository.c), and an earlier command may have made what
 * is found: a directory .git somewhere above, or a file .git that leads anywhere. So outside of the
 * workspace only that counts which
 *   - belongs to the user, as all directories down to the workspace do, in one file system;
 *   - has a configuration: no sandbox makes one, but below its own workspace with --preset git or
 *     --allow-containers;
 *   - is named by .git itself, or names that very work tree, in a file that no sandbox makes
 *     either, by a path without links of anybody's but root's.
 */
bool repository_find(struct view *view, const char *workspace, const char *home,
                     struct repository *ret_found);

#endif
