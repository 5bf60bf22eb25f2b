/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files take that have no name any more, and that a tree of processes has open.
 *
 * KERNEL: a file that is unlinked while it is open keeps its room. No walk over directories finds
 * it, but the tables of descriptors in /proc do. Not found is what is only mapped, or only on the
 * way through a socket.
 */
#ifndef KERNEL_NAMELESS_H
#define KERNEL_NAMELESS_H

#include "base/layers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NAMELESS_TREES = LAYERS_TREES_MAX, NAMELESS_DESCRIPTORS = 1 << 20 };

/* Bytes of those files that lie in the mounts at these places below the root. What cannot be looked
 * at counts as nothing; ret_is_full: there are more descriptors than NAMELESS_DESCRIPTORS. */
uint64_t nameless_measure(pid_t pid, int root_fd, const char *const *places, size_t count,
                          bool *ret_is_full);

#endif
