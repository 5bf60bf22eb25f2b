/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_MOUNTED_H
#define LAUNCH_MOUNTED_H

#include <stdbool.h>

/* Whether fd is open on the root of a mount. KERNEL(before 5.8): nobody knows, so it may be. */
bool mounted_may_be_root(int fd);

#endif
