/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text: no file is looked at. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The next component of *cursor, which moves behind it; empty ones and "." are passed over.
 * Returns NULL at the end. */
const char *path_next(const char **cursor, size_t *ret_length);

/* Whether any component is "..". */
bool path_has_dotdot(const char *path);

/*
 * Absolute, without empty components, "." and a final slash. ".." takes its
 * parent away: only right where no symbolic link can be in between. base is
 * put before a relative path. NULL with errno ENAMETOOLONG or ENOMEM.
 */
char *path_normalize(const char *base, const char *path);

/* Whether path is dir or lies below it; both normalized. */
bool path_is_below(const char *path, const char *dir);

/* path, with to in place of from where it lies below that; in buffer, or path itself where it does
 * not or the result would be too long. All normalized. */
const char *path_moved(const char *path, const char *from, const char *to, char *buffer,
                       size_t size);

/* Makes an absolute path that of its directory; that of "/" is itself. */
void path_cut_name(char *path);

/* How many components. */
size_t path_depth(const char *path);

#endif
