/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of the host that are closed to the set-up although something in them is to be held.
 */
#ifndef LAUNCH_CLOSED_H
#define LAUNCH_CLOSED_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>

enum { CLOSED_MOST = 64 };

/* Those that are masked by now, by their targets. Nothing is freed: they are few. */
struct closed {
    const char *targets[CLOSED_MOST];
    size_t count;
};

/*
 * Masks the directory on the way to a target (relative to the working directory,
 * which is the new root) that we may not search. SECURITY: closed to us is not closed
 * to the command, for it may own the directory and open it. The capabilities of the set-up do
 * not count where a file has a group that the sandbox has no id for.
 */
int closed_mask(struct closed *closed, const char *target, struct bawn_error *err);

/* Whether a target lies in one of them: then there is nothing more to be placed. */
bool closed_hides(const struct closed *closed, const char *target);

#endif
