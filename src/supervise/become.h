/* SPDX-License-Identifier: Apache-2.0 */
/* A child of the supervisor that is to do something as the caller would, and with its rights. */
#ifndef SUPERVISE_BECOME_H
#define SUPERVISE_BECOME_H

#include "supervise/call.h"

/* In a child: the caller's user namespace, root, ids and umask, and no capability. Its current
 * directory is cwd, or the root if there is none (negative). False: it must do nothing more. */
bool become_caller(const struct call *call, int cwd);

/* The same, in its other namespaces as well that decide what a file of /proc tells. */
bool become_neighbour(const struct call *call);

#endif
