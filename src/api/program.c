/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a name stands for, inside. */
#include "base/program.h"
#include "api/api.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "policy/decide.h"
#include "policy/resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether it is there inside: what is private is another place. */
static bool is_shown(const struct policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char resolved[LIMIT_PATH_BYTES];

    return resolve_path(policy, policy->workspace, path, &view_passing, resolved, NULL) == 0 &&
           decide_path(policy, resolved, decisions) == 0 &&
           decisions[PATH_READ].access < ACCESS_PRIVATE;
}

/* The first that is there and shown. False: none; *first is one that is there, or "". */
static bool find_shown(const struct policy *policy, const char *name, char path[LIMIT_PATH_BYTES],
                       char first[LIMIT_PATH_BYTES])
{
    const char *places = getenv("PATH");

    *first = '\0';
    if (!places || !*places)
        places = program_places;
    while (program_next(&places, name, path)) {
        if (is_shown(policy, path))
            return true;
        if (!*first)
            memcpy(first, path, LIMIT_PATH_BYTES);
    }
    return false;
}

int decide_program(const struct bawn_policy *policy, const char *name,
                   struct bawn_decision **ret_decision, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES], first[LIMIT_PATH_BYTES];
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf rule = {0};
    struct bawn_error why = {0};

    if (find_shown(&policy->policy, name, path, first))
        return bawn_decide(policy, BAWN_EXEC, path, ret_decision, err);
    if (!ret_decision)
        return BAWN_DENY;
    if (*first)
        (void)program_refuse(name, first, builtin_find("presets", name) ? name : NULL, &why);
    else
        (void)error_set(&why, ENOENT, "exec.not_found", "there is no such program in PATH");
    strbuf_addf(&text, "Cannot execute '%s': %s.", name, why.message);
    if (why.hint[0])
        strbuf_addf(&text, "\nTo show it: %s", why.hint);
    return decision_give(BAWN_DENY, why.code, &text, &rule, NULL, *first ? first : name,
                         ret_decision, err);
}
