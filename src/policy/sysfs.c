/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/sysfs.h"

#include "base/path.h"
#include "policy/build.h"

#include <errno.h>

static const char place[] = "/sys";

static bool is_spoken_of(const struct policy *policy)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && (*rule)->layer->authority != AUTHORITY_PROJECT &&
            path_is_below(place, (*rule)->path))
            return true;
    }
    return false;
}

/*
 * Runtimes look there whenever they start (limits of control groups, huge pages, NUMA nodes), and
 * nobody could tell what to answer. SECURITY: what is asked about can be looked at without a
 * question, and there a name that somebody guesses tells of a container, a service, a user's
 * session or a network interface of the host. Whoever allows containers has the sandbox's own
 * groups there.
 */
int sysfs_add(struct policy *policy)
{
    struct path_rule *rule;

    if (policy_number(policy, SETTING_READS) != READS_DYNAMIC || policy->layers.count == 0 ||
        policy_number(policy, SETTING_PROCESS_CONTAINERS) || is_spoken_of(policy))
        return 0;
    rule = arena_new(&policy->arena, struct path_rule);
    if (!rule)
        return -ENOMEM;
    *rule = (struct path_rule){.kind = RULE_PATH,
                               .path = place,
                               .spelled = place,
                               .name = "sys",
                               .layer = policy->layers.items[0],
                               .origin = policy->settings[SETTING_READS].origin};
    (void)rule_set_mode(rule, "private");
    return vec_push(&policy->rules, rule) ? 0 : -ENOMEM;
}
