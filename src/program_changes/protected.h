/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths a policy would not let a command write, were it not for the overlay. */
#ifndef PROGRAM_CHANGES_PROTECTED_H
#define PROGRAM_CHANGES_PROTECTED_H

#include "base/arena.h"
#include "base/map.h"
#include "program_changes/store.h"

#include <bawn/bawn.h>

/* The user's own policy, and the one that bawn comes with: a path that one of them protects is. */
enum { PROTECTED_POLICIES = 2 };

struct protected_paths {
    struct bawn_policy *policies[PROTECTED_POLICIES];
    struct arena arena;
    struct map known; /* by path: why, or "" */
};

int protected_load(const struct store *store, struct protected_paths *ret_paths,
                   struct bawn_error *err);
void protected_done(struct protected_paths *paths);
#define autoprotected __attribute__((cleanup(protected_done)))

/* Of struct apply_options. */
const char *protected_why(void *context, const char *path, mode_t mode);

#endif
