/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session with overlays keeps of what its commands change.
 *
 * How it works: a place that no sandbox sees (see places_open_changes) has one
 * directory for each such session, by its name: the one that it was given, or its SID. In there
 * are "lock", which whoever uses the layers holds; "workspace", a path; while a command
 * runs, and after bawn was killed, "running" with the time of the start; and for each tree a
 * directory with a number. That has "path", the tree; "upper" and "work", the layer. What else
 * is in there belongs to bawn-changes, which looks at the layers when the command has ended, and
 * removes the directory of one that changed nothing.
 *
 * A tree's directory is made under another name ("new") and then renamed.
 */
#ifndef BASE_LAYERS_H
#define BASE_LAYERS_H

#include <stdbool.h>

enum { LAYERS_NAME_BYTES = 65, LAYERS_TREES_MAX = 64 };

#define LAYERS_LOCK      "lock"
#define LAYERS_WORKSPACE "workspace"
#define LAYERS_RUNNING   "running"
#define LAYERS_PATH      "path"
#define LAYERS_UPPER     "upper"
#define LAYERS_WORK      "work"
#define LAYERS_NEW       "new"

/* Whether a session may be called that. */
bool layers_is_name(const char *name);

/* Whether somebody holds the lock of the session with this directory. */
bool layers_is_in_use(int dir_fd);

#endif
