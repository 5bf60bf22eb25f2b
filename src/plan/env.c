/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command: an allow-list, never the caller's whole one. */
#include "plan/plan.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_listed(const struct policy *policy, enum list_id list, const char *name,
                      size_t length)
{
    vec_each (&policy->items, item) {
        if (item->list == list && env_matches(item->value, name, length))
            return true;
    }
    return false;
}

static int add_env(struct plan *plan, const char *name, size_t length, const char *value,
                   bool passed)
{
    struct env_step step = {.name = arena_strndup(&plan->arena, name, length),
                            .value = arena_strdup(&plan->arena, value),
                            .passed = passed};

    if (!step.name || !step.value)
        return -ENOMEM;
    vec_each (&plan->env, other) {
        if (strcmp(other->name, step.name) == 0) {
            *other = step;
            return 0;
        }
    }
    return vec_push(&plan->env, step) ? 0 : -ENOMEM;
}

int plan_env(struct plan *plan, const char *const *environ)
{
    static const char *const own[][2] = {
        {"HISTFILE", "/dev/null"}, {"TMPDIR", "/tmp"}, {"TMPPREFIX", "/tmp/zsh"}};
    const struct policy *policy = plan->policy;
    int r = 0;

    for (; r == 0 && environ && *environ; environ++) {
        size_t length = strcspn(*environ, "=");

        if ((*environ)[length] == '=' && length > 0 && !env_is_dangerous(*environ, length) &&
            is_listed(policy, LIST_ENV_PASS, *environ, length) &&
            !is_listed(policy, LIST_ENV_DENY, *environ, length))
            r = add_env(plan, *environ, length, *environ + length + 1, true);
    }
    for (size_t i = 0; r == 0 && i < sizeof(own) / sizeof(own[0]); i++)
        r = add_env(plan, own[i][0], strlen(own[i][0]), own[i][1], false);
    vec_each (&policy->items, item) {
        if (r == 0 && item->list == LIST_ENV_SET && !env_is_fixed(item->key) &&
            !env_is_dangerous(item->key, strlen(item->key)) &&
            !is_listed(policy, LIST_ENV_DENY, item->key, strlen(item->key)))
            r = add_env(plan, item->key, strlen(item->key), item->value, false);
    }
    return r;
}
