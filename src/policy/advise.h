/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy allows that its author may not have meant: advice, not errors. */
#ifndef POLICY_ADVISE_H
#define POLICY_ADVISE_H

#include "policy/model.h"

#include <bawn/report.h>

/* A warning for each. -1 when memory is short. */
int advise_policy(const struct policy *policy, struct bawn_report *report);

#endif
