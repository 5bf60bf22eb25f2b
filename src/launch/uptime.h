/* SPDX-License-Identifier: Apache-2.0 */
/* A time namespace in which the clocks that count from the boot begin at zero. */
#ifndef LAUNCH_UPTIME_H
#define LAUNCH_UPTIME_H

#include <bawn/error.h>

/* After unshare(CLONE_NEWTIME), before the first child, which would be in it. Needs the
 * capabilities of the sandbox's user namespace, and the host's /proc. */
int uptime_set(int *ret_ns, struct bawn_error *err);
/* Nobody may share the calling process's memory. */
int uptime_enter(int ns, struct bawn_error *err);

#endif
