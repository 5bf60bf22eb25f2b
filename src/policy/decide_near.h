/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions on many paths of few directories: the tree is walked to each directory once, and from
 * there only the last name is looked for. The policy must not change meanwhile.
 */
#ifndef POLICY_DECIDE_NEAR_H
#define POLICY_DECIDE_NEAR_H

#include "policy/decide.h"
#include "policy/pathtree.h"

struct decide_dir {
    char *path; /* its first length bytes; owned. NULL: nobody */
    size_t length;
    struct tree_dir tree;
};

enum { DECIDE_DIRS = 64 };

/* Zeroed at first. */
struct decide_dirs {
    struct decide_dir known[DECIDE_DIRS]; /* by a hash of their paths */
};

void decide_dirs_done(struct decide_dirs *dirs);

/* As decide_path. */
int decide_near(const struct policy *policy, struct decide_dirs *dirs, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT]);

#endif
