/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and patterns as users write them, made absolute. */
#ifndef CONFIG_EXPAND_H
#define CONFIG_EXPAND_H

#include "policy/model.h"

/*
 * A literal path: "/x", "~/x", "$NAME/x" with a name of the policy's places,
 * or relative to base. Every byte but these stands for itself. ".." is only
 * accepted in front of a relative path, where no link can be in between.
 * Returns the path, in the policy's arena; NULL with what is wrong in
 * *ret_wrong (NULL there: out of memory).
 */
const char *expand_path(struct policy *policy, const char *base, const char *text,
                        const char **ret_wrong);

/*
 * A pattern, gitignore-like: one without a slash inside matches at any depth
 * below base, others start at base, or at the root when they start with "/",
 * "~/" or "$NAME/". A final slash, with ** or without, is dropped. *ret_wild is false when
 * no wildcard is left: then the result is a literal path.
 */
const char *expand_pattern(struct policy *policy, const char *base, const char *text,
                           bool *ret_wild, const char **ret_wrong);

#endif
