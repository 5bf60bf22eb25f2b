/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a path is among those that somebody named. */
#ifndef OVERLAY_SELECT_H
#define OVERLAY_SELECT_H

#include <stdbool.h>

/*
 * A wish is a path below the tree, or an absolute one; it selects what is below it, too. With
 * wildcards (* ? [a-z] within a name, ** for any number of directories) it selects what it matches,
 * unless something has just that name.
 */
bool select_matches(const char *wish, const char *tree_path, const char *path);

#endif
