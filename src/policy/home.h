/* SPDX-License-Identifier: Apache-2.0 */
/* The home inside, and the files of the real one that are copied into it. */
#ifndef POLICY_HOME_H
#define POLICY_HOME_H

#include "policy/model.h"

/* Adds the sandbox's own home, unless somebody shows the real one. It is the profile's, whoever has
 * set it: a grant in it is stronger. 0 or -ENOMEM. */
int home_add(struct policy *policy, struct bawn_report *report);

/* The name of rules that show what is in the real home, for who is observed. */
#define OBSERVED_RULE "observed"

/* Whether a copy can be made at this path: around it is a private place. */
bool home_can_copy(const struct policy *policy, const char *path);

/* Where none can, the file itself is shown, read-only, and that is a warning. */
void home_settle_copies(struct policy *policy, struct bawn_report *report);

#endif
