/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions from inside, about the very sandbox that the asker is in. Its rules speak of the host,
 * and who asks names paths as they are inside; the two differ where the workspace is shown
 * elsewhere. Of other policies a path has one name.
 */
#ifndef POLICY_TOLD_H
#define POLICY_TOLD_H

#include "policy/decide.h"

enum { TOLD_PATH_BYTES = 3 * LIMIT_PATH_BYTES }; /* the workspace's own path is one part of it */

/* Where relative paths of a question start. */
const char *told_start(const struct policy *policy);

/* A path as the rules have it; NULL: the workspace is there outside, and inside it is not. */
const char *told_outside(const struct policy *policy, const char *path,
                         char buffer[static TOLD_PATH_BYTES]);
/* One of the rules' as it is inside. */
const char *told_inside(const struct policy *policy, const char *path,
                        char buffer[static TOLD_PATH_BYTES]);

/* decide_path and decide_socket, about a path as who asks names it. */
int told_decide(const struct policy *policy, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT]);
int told_decide_socket(const struct policy *policy, const char *path,
                       struct path_decision *ret_decision);

#endif
