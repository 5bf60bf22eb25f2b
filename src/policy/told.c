/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/told.h"

#include "base/limits.h"
#include "base/path.h"

#include <string.h>

const char *told_start(const struct policy *policy)
{
    return policy->told.cwd ? policy->told.cwd : policy->workspace;
}

const char *told_outside(const struct policy *policy, const char *path,
                         char buffer[static TOLD_PATH_BYTES])
{
    const char *at = policy->told.workspace_at;

    if (!at || strcmp(at, policy->workspace) == 0)
        return path;
    if (path_is_below(path, policy->workspace))
        return NULL;
    return path_moved(path, at, policy->workspace, buffer, TOLD_PATH_BYTES);
}

const char *told_inside(const struct policy *policy, const char *path,
                        char buffer[static TOLD_PATH_BYTES])
{
    const char *at = policy->told.workspace_at;

    return at ? path_moved(path, policy->workspace, at, buffer, TOLD_PATH_BYTES) : path;
}

int told_decide(const struct policy *policy, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT])
{
    static const struct path_decision none = {.access = ACCESS_DENY, .reason = DECIDED_BY_DEFAULT};
    char buffer[TOLD_PATH_BYTES];
    const char *outside = told_outside(policy, path, buffer);

    if (outside)
        return decide_path(policy, outside, ret_decisions);
    for (int op = 0; op < PATH_OP_COUNT; op++)
        ret_decisions[op] = none;
    return 0;
}

int told_decide_socket(const struct policy *policy, const char *path,
                       struct path_decision *ret_decision)
{
    char buffer[TOLD_PATH_BYTES];
    const char *outside = told_outside(policy, path, buffer);

    return outside ? decide_socket(policy, outside, ret_decision) : 0;
}
