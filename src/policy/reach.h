/* SPDX-License-Identifier: Apache-2.0 */
/* Whether rules are about what is below a path. */
#ifndef POLICY_REACH_H
#define POLICY_REACH_H

#include "policy/model.h"

/* Whether a rule is about something below a path. compared is its path as names are compared, so
 * for an entry of the list of protected paths both are folded. */
bool reach_is_below(const struct path_rule *rule, const char *compared, const char *path);

/* Whether any rule refuses writing to something below a path. */
bool reach_refuses_below(const struct policy *policy, const char *path);

#endif
