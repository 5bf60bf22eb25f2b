/* SPDX-License-Identifier: Apache-2.0 */
/* The user's git configuration as a command in the sandbox gets it: listed keys, each on a line. */
#ifndef CONFIG_GITCONFIG_H
#define CONFIG_GITCONFIG_H

#include "base/strbuf.h"

#include <stdbool.h>

/*
 * Whether a key is taken over. SECURITY: of those on the list no value runs anything, names a file
 * or a server, or is a secret. key is as git spells it: section and name in lower case.
 */
bool gitconfig_is_listed(const char *key);

/* Adds a key of the list with its value, whatever bytes are in that: it stays one value. Others are
 * passed over. value is NULL for a key without one, which means true. */
void gitconfig_add(struct strbuf *out, const char *key, const char *value);

#endif
