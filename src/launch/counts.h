/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counts per user: how much of it is the sandbox's. */
#ifndef LAUNCH_COUNTS_H
#define LAUNCH_COUNTS_H

#include "wire/image.h"

/* Needs the user namespace of the sandbox, and none of its ids. Leaves errno alone. Returns 0 or a
 * negative errno. */
int counts_limit(const struct image_limits *limits);

#endif
