/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/reach.h"

#include "base/limits.h"
#include "base/path.h"
#include "base/scratch.h"
#include "policy/fold.h"
#include "policy/glob.h"

#include <string.h>

/* How far a pattern has come along a path. */
struct reach {
    const struct path_rule *rule;
    bool has_name;  /* a component that is not ** has matched */
    bool ends_star; /* the last component was taken by ** */
};

static bool reach_end(const struct reach *reach, const char *pattern)
{
    size_t length;

    if (!path_next(&pattern, &length))
        return false;
    /* What a leading or user-written ** takes is protected where a link leads as well. */
    return !reach->ends_star || (reach->has_name && reach->rule->kind == RULE_PROTECTED);
}

/* Whether a proper beginning of the pattern matches the whole path. */
static bool reaches(struct reach reach, const char *pattern, const char *path)
{
    const char *rest = path;
    const char *next = pattern;
    size_t name_length = 0;
    size_t length = 0;
    const char *name = path_next(&rest, &name_length);
    const char *component = path_next(&next, &length);

    if (!name)
        return reach_end(&reach, pattern);
    if (!component)
        return false;
    if (reach.rule->wild && length == 2 && memcmp(component, "**", 2) == 0) {
        if (reaches(reach, next, path))
            return true;
        reach.ends_star = true;
        return reaches(reach, pattern, rest);
    }
    if (reach.rule->wild ? !glob_match(component, length, name, name_length)
                         : length != name_length || memcmp(component, name, length) != 0)
        return false;
    reach.has_name = true;
    reach.ends_star = false;
    return reaches(reach, next, rest);
}

bool reach_is_below(const struct path_rule *rule, const char *compared, const char *path)
{
    return reaches((struct reach){.rule = rule}, compared, path);
}

bool reach_refuses_below(const struct policy *policy, const char *path)
{
    scratch char folded[2 * LIMIT_PATH_BYTES];
    scratch char compared[2 * LIMIT_PATH_BYTES];

    if (strlen(path) >= LIMIT_PATH_BYTES)
        return true;
    folded[fold_name(path, strlen(path), folded)] = '\0';
    vec_each (&policy->rules, each) {
        const struct path_rule *rule = *each;
        bool is_folded = rule->kind == RULE_PROTECTED;

        if (rule->write < ACCESS_ASK || rule->read_only)
            continue;
        if (is_folded && strlen(rule->path) < LIMIT_PATH_BYTES)
            compared[fold_name(rule->path, strlen(rule->path), compared)] = '\0';
        if (reach_is_below(rule, is_folded ? compared : rule->path, is_folded ? folded : path))
            return true;
    }
    return false;
}
