/* SPDX-License-Identifier: Apache-2.0 */
/* Programs by their names, as exec looks for them. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/limits.h"

#include <bawn/error.h>
#include <stdbool.h>

/* Where to look when there is no PATH. */
extern const char program_places[];

/* The next program of that name on the host: *places is what is left of a PATH. False: there is no
 * other. */
bool program_next(const char **places, const char *name, char ret_path[LIMIT_PATH_BYTES]);

/* Becomes another program of bawn's. SECURITY: it is beside this one, or where it was installed; it
 * is never looked for in PATH. Returns a negative errno. */
int program_become(const char *name, char *const *argv, char *const *variables);

/* "NAME is PATH, which this policy does not show", and what would show it. preset: one that is made
 * for it, or NULL. Returns -ENOENT. */
int program_refuse(const char *name, const char *path, const char *preset, struct bawn_error *err);

#endif
