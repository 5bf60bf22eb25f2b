/* SPDX-License-Identifier: Apache-2.0 */
/* Rules whose paths lead through symbolic links: they hold at both ends. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/message.h"

#include <errno.h>
#include <string.h>

/*
 * How it works: a rule on ~/.ssh must hold for /data/dotfiles/ssh when that is
 * where ~/.ssh leads, so it is added there again as an alias. A denial always
 * is. A grant is only when every link on the way lies where the command cannot
 * write: a link that it can make or replace must not carry a grant to a place
 * of its choice.
 */
struct alias {
    const struct path_rule *rule;
    char *path;              /* where it leads */
    struct link_notes links; /* on the way */
};

struct follower {
    struct policy *policy;
    VEC(struct alias) aliases;
};

/* How much of a pattern stands before its first wildcard component. */
static size_t literal_prefix(const char *pattern)
{
    const char *cursor = pattern;
    size_t prefix = 0;
    const char *name;
    size_t length;

    while ((name = path_next(&cursor, &length))) {
        for (size_t i = 0; i < length; i++)
            if (strchr("*?[\\", name[i]))
                return prefix;
        prefix = (size_t)(cursor - pattern);
    }
    return prefix;
}

/* Finds out where a rule leads; notes it when that is elsewhere. */
static int find_alias(struct follower *follower, const struct path_rule *rule)
{
    size_t prefix = rule->wild ? literal_prefix(rule->path) : strlen(rule->path);
    autostrbuf struct strbuf joined = {0};
    char start[LIMIT_PATH_BYTES];
    char resolved[LIMIT_PATH_BYTES];
    struct alias alias = {.rule = rule};
    struct link_notes notes;
    int r;

    if (prefix == 0 || prefix >= sizeof(start))
        return 0;
    memcpy(start, rule->path, prefix);
    start[prefix] = '\0';
    link_notes_init(&notes);
    r = resolve_path(NULL, "/", start, &notes.looker, resolved, NULL);
    alias.links = notes;
    /* In a pattern the resolved part must stand for itself. */
    if (r < 0 || strcmp(resolved, start) == 0 || (rule->wild && strpbrk(resolved, "*?[\\"))) {
        link_notes_done(&alias.links);
        return 0;
    }
    strbuf_addf(&joined, "%s%s", strcmp(resolved, "/") == 0 && rule->path[prefix] ? "" : resolved,
                rule->path + prefix);
    alias.path = strbuf_take(&joined);
    if (alias.path && !alias.links.links.failed && vec_push(&follower->aliases, alias))
        return 0;
    free(alias.path);
    link_notes_done(&alias.links);
    return -ENOMEM;
}

static bool grants_writing(const struct path_rule *rule)
{
    return rule->write == ACCESS_ALLOW;
}

/* Whether the command could change a link: by the rules as they are, or by a grant that other links
 * would carry. */
static bool is_changeable(const struct follower *follower, const char *link)
{
    struct path_decision decisions[PATH_OP_COUNT];

    if (decide_path(follower->policy, link, decisions) < 0 ||
        decisions[PATH_WRITE].access == ACCESS_ALLOW)
        return true;
    vec_each (&follower->aliases, other) {
        if (grants_writing(other->rule) && path_is_below(link, other->path))
            return true;
    }
    return false;
}

static int add_alias(struct follower *follower, const struct alias *alias,
                     struct bawn_report *report, struct bawn_error *err)
{
    const struct path_rule *rule = alias->rule;
    bool grants = rule->read != ACCESS_UNSET && rule->read < ACCESS_ASK;

    for (const char *link = NULL; grants && (link = link_notes_next(&alias->links, link));) {
        autostrbuf struct strbuf label = {0};

        if (!is_changeable(follower, link))
            continue;
        message_rule_label(rule, &label);
        report_add(report, BAWN_WARNING, "policy.changeable_link", rule->origin,
                   "%s: the link '%s' leads elsewhere and the command can change it: it is not "
                   "followed",
                   label.text ? label.text : "", link);
        report_hint(report, "name the place itself: '%s'", alias->path);
        return 0;
    }
    return policy_add_alias(follower->policy, rule, alias->path, err);
}

int links_follow(struct policy *policy, struct bawn_report *report, struct bawn_error *err)
{
    struct follower follower = {.policy = policy};
    size_t count = policy->rules.count;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = find_alias(&follower, policy->rules.items[i]);
    if (r < 0)
        error_memory(err);
    /* Denials first, so that grants are judged with all of them in place. */
    for (int pass = 0; r == 0 && pass < 2; pass++) {
        for (size_t i = 0; r == 0 && i < follower.aliases.count; i++) {
            const struct alias *alias = &follower.aliases.items[i];

            if ((alias->rule->write == ACCESS_ALLOW || alias->rule->read == ACCESS_ALLOW) ==
                (pass == 1))
                r = add_alias(&follower, alias, report, err);
        }
    }
    if (r == 0 && follower.aliases.count && message_summarize(policy) < 0)
        r = error_memory(err);
    vec_each (&follower.aliases, alias) {
        free(alias->path);
        link_notes_done(&alias->links);
    }
    vec_done(&follower.aliases);
    return r;
}
