/* SPDX-License-Identifier: Apache-2.0 */
/* Names as file systems take them that do not tell upper from lower case. */
#ifndef POLICY_FOLD_H
#define POLICY_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the folded name, never longer than it was and without a NUL, and
 * returns its length. Letters of ASCII become lower case, and so does every
 * sequence of UTF-8 that folds to letters of ASCII; what such file systems pass
 * over is left out. All else stays: the names that are compared are of ASCII.
 */
size_t fold_name(const char *name, size_t length, char *out);

/* Whether it may be another name then: most are of lower case already. */
bool fold_changes(const char *name, size_t length);

#endif
