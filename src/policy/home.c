/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/home.h"

#include "base/path.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

/* Whether somebody shows the home as it is: as the workspace, by name, or with all of the host. */
static bool is_home_shown(const struct policy *policy)
{
    const struct setting *reads = &policy->settings[SETTING_READS];

    if (path_is_below(policy->home, policy->workspace) || strcmp(policy->home, "/") == 0 ||
        (reads->is_set && reads->number == READS_STATIC &&
         !policy_number(policy, SETTING_PROCESS_OBSERVE)))
        return true;
    vec_each (&policy->rules, rule) {
        bool is_strong = (*rule)->layer->authority > AUTHORITY_PROJECT;

        /* A user whose home is /usr or the like has what the profile shows there. */
        if ((*rule)->kind == RULE_PATH &&
            (is_strong
                 ? path_is_below(policy->home, (*rule)->path)
                 : (*rule)->layer->id == LAYER_BUILTIN && strcmp(policy->home, (*rule)->path) == 0))
            return true;
    }
    return false;
}

int home_add(struct policy *policy, struct bawn_report *report)
{
    const struct setting *setting = &policy->settings[SETTING_HOME];
    bool is_kept = policy_number(policy, SETTING_HOME) == HOME_KEEP;
    struct path_rule *rule;

    if (policy_number(policy, SETTING_HOME) == HOME_NONE || policy->layers.count == 0)
        return 0;
    if (is_home_shown(policy)) {
        if (is_kept)
            report_add(report, BAWN_WARNING, "policy.home_shown", setting->origin,
                       "sandbox.home: keep has no effect: the home itself is shown");
        return 0;
    }
    rule = arena_new(&policy->arena, struct path_rule);
    if (!rule)
        return -ENOMEM;
    *rule = (struct path_rule){.kind = RULE_PATH,
                               .path = policy->home,
                               .spelled = policy->home,
                               .name = "home",
                               .read = ACCESS_PRIVATE,
                               .write = ACCESS_PRIVATE,
                               .is_kept = is_kept,
                               .layer = policy->layers.items[0],
                               .origin = setting->origin};
    return vec_push(&policy->rules, rule) ? 0 : -ENOMEM;
}

bool home_can_copy(const struct policy *policy, const char *path)
{
    const struct path_rule *nearest = NULL;

    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_PATH && (*rule)->layer->authority != AUTHORITY_PROJECT &&
            path_is_below(path, (*rule)->path) && strcmp(path, (*rule)->path) != 0 &&
            (!nearest || path_is_below((*rule)->path, nearest->path)))
            nearest = *rule;
    }
    return nearest && nearest->read == ACCESS_PRIVATE;
}

void home_settle_copies(struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->rules, rule) {
        if (!rule_is_copy(*rule) || home_can_copy(policy, (*rule)->path))
            continue;
        (void)rule_set_mode(*rule, "ro");
        report_add(report, BAWN_WARNING, "policy.copy", (*rule)->origin,
                   "%s is shown read-only: there is no private place around it for a copy",
                   (*rule)->path);
        report_hint(report, "a copy is for a file below a home of the sandbox's own");
    }
}
