/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells about the machine, where it would be asked about. */
#ifndef POLICY_SYSFS_H
#define POLICY_SYSFS_H

#include "policy/model.h"

/* With reads: dynamic /sys is a place of the sandbox's own, unless somebody says what is there. It
 * is the profile's: a grant in it is stronger. 0 or -ENOMEM. */
int sysfs_add(struct policy *policy);

#endif
