/* SPDX-License-Identifier: Apache-2.0 */
#include "config/source.h"

#include "base/path.h"
#include "base/text.h"
#include "config/expand.h"
#include "config/keys.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

void source_wrong_type(const struct config_source *source, const struct node *node, const char *key,
                       const char *expected)
{
    report_add(source->report, BAWN_ERROR, "config.bad_type", node->origin,
               "%s: expected %s, found %s", key, expected, node_kind_word(node->kind));
}

void source_unknown_key(const struct config_source *source, const struct node *node,
                        const char *key, const char *const *known, size_t count)
{
    const char *nearest = text_nearest(node->key, known, count);
    char list[512] = "";
    size_t used = 0;

    report_add(source->report, BAWN_ERROR, "config.unknown_key", node->key_origin, "unknown key %s",
               key);
    if (keys_refusal(key)) {
        report_hint(source->report, "%s", keys_refusal(key));
        return;
    }
    if (nearest) {
        report_hint(source->report, "did you mean '%s'?", nearest);
        return;
    }
    for (size_t i = 0; i < count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", known[i]);
    if (count)
        report_hint(source->report, "the keys here are: %s", list);
}

const char *source_text(const struct config_source *source, const struct node *node,
                        const char *key)
{
    if (node->kind == NODE_STRING || node->kind == NODE_NUMBER)
        return node->text;
    source_wrong_type(source, node, key, "a string");
    if (node->kind == NODE_NULL && node->text && strcmp(node->text, "~") == 0)
        report_hint(source->report, "a bare ~ means nothing in YAML: write '~/' for your home");
    return NULL;
}

bool source_is_list(const struct config_source *source, const struct node *node, const char *key)
{
    if (node->kind == NODE_LIST || node->kind == NODE_NULL)
        return true;
    source_wrong_type(source, node, key, "a list");
    return false;
}

static int complain_path(const struct config_source *source, const struct path_rule *rule,
                         const char *key, const char *text, const char *wrong)
{
    if (!wrong)
        return -ENOMEM;
    report_add(source->report, BAWN_ERROR, "config.bad_path", rule->origin, "%s: '%s': %s", key,
               text, wrong);
    return 0;
}

int source_add_pattern(const struct config_source *source, const struct path_rule *rule,
                       const char *base, const char *text, const char *key)
{
    struct path_rule copy = *rule;
    const char *wrong;

    copy.path = expand_pattern(source->policy, base, text, &copy.wild, &wrong);
    if (!copy.path)
        return complain_path(source, rule, key, text, wrong);
    if (strstr(text, "://") || strchr(text, '{') || *text == ' ' || text[strlen(text) - 1] == ' ')
        report_add(
            source->report, BAWN_WARNING, "config.odd_pattern", rule->origin,
            "%s: bawn takes '%s' letter by letter: blanks, braces and schemes have no meaning", key,
            text);
    if (!copy.spelled)
        copy.spelled = arena_strdup(&source->policy->arena, text);
    copy.layer = source->layer;
    return copy.spelled ? policy_add_rule(source->policy, &copy, source->report) : -ENOMEM;
}

int source_add_path(const struct config_source *source, const struct path_rule *rule,
                    const char *text, const char *key)
{
    struct path_rule copy = *rule;
    const char *wrong;

    copy.path = expand_path(source->policy, source->base, text, &wrong);
    if (!copy.path)
        return complain_path(source, rule, key, text, wrong);
    copy.spelled = arena_strdup(&source->policy->arena, text);
    copy.layer = source->layer;
    if (!copy.spelled)
        return -ENOMEM;
    /* SECURITY: the host's procfs shows every process of the host; inside there is an own one. */
    if (path_is_below(copy.path, "/proc") && copy.read < ACCESS_PRIVATE) {
        report_add(source->report, BAWN_ERROR, "config.host_proc", rule->origin,
                   "%s: '%s': the host's /proc cannot be granted", key, text);
        report_hint(source->report, "the sandbox has a /proc of its own; take the rule out");
        return 0;
    }
    return policy_add_rule(source->policy, &copy, source->report);
}

int source_set_each(const struct config_source *source, const struct node *node, const char *key,
                    const char *bawn_key)
{
    int r = 0;

    if (!source_is_list(source, node, key))
        return 0;
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(source, child, key);

        if (text)
            r = source_set_value(source, bawn_key, text, child->origin);
    }
    return r;
}
