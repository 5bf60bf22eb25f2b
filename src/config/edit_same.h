/* SPDX-License-Identifier: Apache-2.0 */
/* What two versions of a policy file say differently. */
#ifndef CONFIG_EDIT_SAME_H
#define CONFIG_EDIT_SAME_H

#include "config/edit.h"
#include "config/node.h"

enum edit_difference {
    EDIT_DIFFERS_BY_RULE, /* the rule is all that more has beyond less, or its mode */
    EDIT_DIFFERS,
    EDIT_NO_MEMORY,
};

/*
 * Compares all that is said, in its order. A key with nothing behind it says
 * nothing, as an empty list does. is_mode: both have the path, with another mode.
 */
enum edit_difference edit_differs(const struct node *less, const struct node *more,
                                  const struct edit_rule *rule, bool is_mode);

#endif
