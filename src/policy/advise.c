/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/advise.h"

#include "base/path.h"
#include "base/report.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"

#include <string.h>

/* Whether the rule lets programs see what is on the host there, and is not overruled. */
static int is_shown_by(const struct policy *policy, const struct path_rule *rule, bool *ret_shown)
{
    struct path_decision decisions[PATH_OP_COUNT];

    *ret_shown = false;
    if (rule->layer->id == LAYER_BUILTIN || rule->wild || rule->link ||
        (rule->read != ACCESS_ALLOW && rule->read != ACCESS_OVERLAY))
        return 0;
    if (decide_path(policy, rule->path, decisions) < 0)
        return -1;
    *ret_shown = decisions[PATH_READ].rule == rule;
    return 0;
}

/* The built-in secret that the path is, or is in; or NULL. */
static const struct path_rule *find_secret(const struct policy *policy, const char *path)
{
    vec_each (&policy->rules, rule) {
        if ((*rule)->kind == RULE_SECRET && !(*rule)->wild && path_is_below(path, (*rule)->path))
            return *rule;
    }
    return NULL;
}

static void advise_grant(const struct policy *policy, const struct path_rule *rule,
                         struct bawn_report *report)
{
    autostrbuf struct strbuf label = {0};
    const struct path_rule *secret = find_secret(policy, rule->path);

    message_rule_label(rule, &label);
    if (path_is_below(policy->home, rule->path)) {
        report_add(report, BAWN_WARNING, "advice.home", rule->origin,
                   "%s grants the whole home '%s': a command can read all but the known secrets%s",
                   label.text, policy->home,
                   rule->write == ACCESS_ALLOW ? ", and write all but start-up files" : "");
        report_hint(report, "grant the directories that the work needs, one by one");
    } else if (secret) {
        report_add(report, BAWN_WARNING, "advice.secret", rule->origin,
                   "%s opens '%s' of the built-in secrets: %s", label.text, secret->spelled,
                   secret->reason ? secret->reason : "a secret");
        report_hint(report, "grant less of it, or hand in a key that is good for this work alone");
    }
}

static void advise_item(const struct item *item, struct bawn_report *report)
{
    if (item->list == LIST_EXCLUDED_COMMANDS) {
        report_add(report, BAWN_WARNING, "advice.excluded", item->origin,
                   "'%s' runs outside the sandbox: nothing of this policy holds for it",
                   item->value);
        report_hint(report, "take it out of sandbox.process.excluded_commands, and grant what it "
                            "needs: 'bawn why' tells what that is");
    } else if (item->list == LIST_REOPEN && item->layer->authority >= AUTHORITY_USER) {
        report_add(report, BAWN_WARNING, "advice.reopened", item->origin,
                   "'%s' is taken out of the built-in lists for every command", item->value);
        report_hint(report, "keep it for the runs that need it: --set sandbox.reopen=%s",
                    item->value);
    }
}

int advise_policy(const struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->items, item)
        advise_item(item, report);
    vec_each (&policy->rules, rule) {
        bool is_shown;

        if (is_shown_by(policy, *rule, &is_shown) < 0)
            return -1;
        if (is_shown)
            advise_grant(policy, *rule, report);
    }
    return 0;
}
