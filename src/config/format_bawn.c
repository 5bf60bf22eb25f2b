/* SPDX-License-Identifier: Apache-2.0 */
/* bawn YAML into a layer. */
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/source.h"
#include "policy/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys with a shape of their own. A handler returns 0 or -ENOMEM. */
struct special_key {
    const char *key;
    int (*load)(const struct config_source *source, const struct node *node, const char *key);
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int load_map(const struct config_source *source, const struct node *node, enum list_id list)
{
    if (node->kind == NODE_NULL)
        return 0;
    if (node->kind != NODE_MAP) {
        source_wrong_type(source, node, list_table[list].key, "a map");
        return 0;
    }
    for (const struct node *child = node->first; child; child = child->next) {
        char full[LIMIT_KEY_BYTES + 64];
        const char *text = child->text;
        int r;

        (void)snprintf(full, sizeof(full), "%s.%s", list_table[list].key, child->key);
        if (child->kind != NODE_BOOL)
            text = source_text(source, child, full);
        r = text ? source_add_item(source, list, child->key, text, child->key_origin) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int load_suffixes(const struct config_source *source, const struct node *node,
                         struct path_rule *rule, const char *key)
{
    const char **suffixes;
    size_t count = 0;

    if (!source_is_list(source, node, key))
        return 0;
    for (const struct node *child = node->first; child; child = child->next)
        count++;
    suffixes = arena_alloc(&source->policy->arena, (count + 1) * sizeof(*suffixes));
    if (!suffixes)
        return -ENOMEM;
    count = 0;
    for (const struct node *child = node->first; child; child = child->next) {
        const char *text = source_text(source, child, key);

        if (!text)
            continue;
        if (text[0] != '.' || text[1] == '\0' || strchr(text, '/')) {
            report_add(source->report, BAWN_ERROR, "config.bad_value", child->origin,
                       "%s: '%s' is not a suffix such as .md", key, text);
            continue;
        }
        suffixes[count] = arena_strdup(&source->policy->arena, text);
        if (!suffixes[count++])
            return -ENOMEM;
    }
    rule->suffixes = suffixes;
    return 0;
}

/* SECURITY: nothing outside the workspace is made because a project wants it. */
static void load_make(const struct config_source *source, const struct node *node,
                      struct path_rule *rule, const char *key)
{
    if (node->kind != NODE_BOOL)
        source_wrong_type(source, node, key, "true or false");
    else if (source->layer->authority < AUTHORITY_USER)
        report_add(source->report, BAWN_WARNING, "policy.make", node->origin,
                   "%s has no effect: bawn makes directories only for the user and the org", key);
    else
        rule->is_new = strcmp(node->text, "true") == 0;
}

static int load_path_key(const struct config_source *source, const struct node *node,
                         const char *where, struct path_rule *rule, const char **root)
{
    static const char *const known[] = {"root", "mode", "make", "suffixes", "max_file_bytes"};
    const char *text;
    char full[256];

    (void)snprintf(full, sizeof(full), "%s.%s.%s", where, rule->name, node->key);
    if (strcmp(node->key, "suffixes") == 0)
        return load_suffixes(source, node, rule, full);
    if (strcmp(node->key, "make") == 0) {
        load_make(source, node, rule, full);
        return 0;
    }
    if (strcmp(node->key, "root") != 0 && strcmp(node->key, "mode") != 0 &&
        strcmp(node->key, "max_file_bytes") != 0) {
        source_unknown_key(source, node, full, known, COUNT(known));
        return 0;
    }
    text = source_text(source, node, full);
    if (!text)
        return 0;
    if (strcmp(node->key, "root") == 0) {
        *root = text;
    } else if (strcmp(node->key, "max_file_bytes") == 0) {
        if (!text_parse_size(text, &rule->max_file_bytes) || rule->max_file_bytes == 0)
            report_add(source->report, BAWN_ERROR, "config.bad_value", node->origin,
                       "%s: '%s' is not a size such as 512K or 2M", full, text);
    } else if (!rule_set_mode(rule, text)) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", node->origin,
                   "%s: '%s' is not ro, rw, overlay, private, copy, ask or deny", full, text);
    }
    return 0;
}

/* What the keys of an entry must be together. full is the entry's key. */
static bool is_whole(const struct config_source *source, const struct node *node, const char *full,
                     const struct path_rule *rule, const char *root, const char *root_word)
{
    if (!root || rule->read == ACCESS_UNSET) {
        report_add(source->report, BAWN_ERROR, "config.missing_key", node->key_origin,
                   "%s: there is no '%s'", full, root ? "mode" : root_word);
        report_hint(source->report, "write %s: {%s: PATH, mode: ro}", node->key, root_word);
        return false;
    }
    if (rule->is_new && rule->write != ACCESS_ALLOW) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", node->key_origin,
                   "%s: 'make' goes with mode rw", full);
        return false;
    }
    if (strchr(root, '*')) {
        report_add(source->report, BAWN_WARNING, "config.odd_path", node->key_origin,
                   "%s: '%s' is a path, not a pattern: its * stands for itself", full, root);
        report_hint(source->report, "patterns go into sandbox.deny, ask, protect or confirm");
    }
    return true;
}

int source_load_path(const struct config_source *source, const struct node *node, const char *where,
                     const char *root_word)
{
    struct path_rule rule = {.name = arena_strdup(&source->policy->arena, node->key),
                             .origin = node->key_origin};
    size_t complaints = bawn_report_count(source->report);
    const char *root = NULL;
    char expected[64];
    char full[256];
    int r = 0;

    if (!rule.name)
        return -ENOMEM;
    (void)snprintf(full, sizeof(full), "%s.%s", where, node->key);
    if (node->kind != NODE_MAP) {
        (void)snprintf(expected, sizeof(expected), "a map such as {%s: ., mode: rw}", root_word);
        source_wrong_type(source, node, full, expected);
        return 0;
    }
    for (const struct node *child = node->first; child && r == 0; child = child->next)
        r = load_path_key(source, child, where, &rule, &root);
    if (r < 0 || bawn_report_count(source->report) != complaints)
        return r;
    if (!is_whole(source, node, full, &rule, root, root_word))
        return 0;
    return source_add_path(source, &rule, root, "sandbox.paths");
}

static int load_paths(const struct config_source *source, const struct node *node, const char *key)
{
    int r = 0;

    if (node->kind == NODE_NULL)
        return 0;
    if (node->kind != NODE_MAP) {
        source_wrong_type(source, node, key, "a map of names");
        return 0;
    }
    for (const struct node *child = node->first; child && r == 0; child = child->next)
        r = source_load_path(source, child, "sandbox.paths", "root");
    return r;
}

static int load_version(const struct config_source *source, const struct node *node,
                        const char *key)
{
    if (node->kind != NODE_NUMBER || strcmp(node->text, "1") != 0) {
        report_add(source->report, BAWN_ERROR, "config.version", node->origin,
                   "%s: this bawn reads version 1", key);
        report_hint(source->report, "a newer bawn may be needed for this file");
    }
    return 0;
}

static int load_tool_rule(const struct config_source *source, const struct node *tool,
                          const struct node *node)
{
    static const char *const known[] = {"approval_required", "allow", "ask", "deny"};
    static const enum access lists[] = {ACCESS_UNSET, ACCESS_ALLOW, ACCESS_ASK, ACCESS_DENY};
    struct item item = {.layer = source->layer, .origin = node->key_origin};
    char full[256];
    size_t which = 0;
    int r = 0;

    (void)snprintf(full, sizeof(full), "tool_rules.%s.%s", tool->key, node->key);
    while (which < COUNT(known) && strcmp(node->key, known[which]) != 0)
        which++;
    if (which == COUNT(known)) {
        source_unknown_key(source, node, full, known, COUNT(known));
        return 0;
    }
    item.key = arena_strdup(&source->policy->arena, tool->key);
    if (!item.key)
        return -ENOMEM;
    if (which == 0) {
        if (node->kind != NODE_BOOL) {
            source_wrong_type(source, node, full, "true or false");
            return 0;
        }
        item.list = LIST_TOOL_RULES;
        item.value = item.key;
        item.access = strcmp(node->text, "true") == 0 ? ACCESS_ASK : ACCESS_ALLOW;
        return policy_add_item(source->policy, &item, source->report);
    }
    if (!source_is_list(source, node, full))
        return 0;
    item.list = LIST_COMMAND_RULES;
    item.access = lists[which];
    for (const struct node *child = node->first; child && r == 0; child = child->next) {
        const char *text = source_text(source, child, full);

        if (!text)
            continue;
        item.value = arena_strdup(&source->policy->arena, text);
        item.origin = child->origin;
        r = item.value ? policy_add_item(source->policy, &item, source->report) : -ENOMEM;
    }
    return r;
}

static int load_tool_rules(const struct config_source *source, const struct node *node,
                           const char *key)
{
    char full[LIMIT_KEY_BYTES + 16];
    int r = 0;

    if (node->kind == NODE_NULL)
        return 0;
    if (node->kind != NODE_MAP) {
        source_wrong_type(source, node, key, "a map of tools");
        return 0;
    }
    for (const struct node *tool = node->first; tool && r == 0; tool = tool->next) {
        if (strlen(tool->key) > 63 || tool->key[strcspn(tool->key, " ()")]) {
            report_add(source->report, BAWN_ERROR, "config.key", tool->key_origin,
                       "tool_rules: a tool's name has at most 63 bytes, without blanks and ( )");
            continue;
        }
        if (tool->kind != NODE_MAP && tool->kind != NODE_NULL) {
            (void)snprintf(full, sizeof(full), "tool_rules.%s", tool->key);
            source_wrong_type(source, tool, full, "a map such as {approval_required: true}");
            continue;
        }
        for (const struct node *rule = tool->first; rule && r == 0; rule = rule->next)
            r = load_tool_rule(source, tool, rule);
    }
    return r;
}

static const struct special_key special_keys[] = {
    {"version", load_version},
    {"sandbox.paths", load_paths},
    {"tool_rules", load_tool_rules},
};

/* The keys directly below a prefix, each once. */
struct siblings {
    const char *prefix;
    struct arena arena;
    const char *known[64];
    size_t count;
};

static void collect_sibling(void *context, const char *key)
{
    struct siblings *siblings = context;
    size_t length = strlen(siblings->prefix);
    const char *name;

    if (strncmp(key, siblings->prefix, length) != 0)
        return;
    name = arena_strndup(&siblings->arena, key + length, strcspn(key + length, "."));
    if (!name || siblings->count == COUNT(siblings->known) || strcmp(name, "*") == 0)
        return;
    for (size_t i = 0; i < siblings->count; i++)
        if (strcmp(siblings->known[i], name) == 0)
            return;
    siblings->known[siblings->count++] = name;
}

static void complain_unknown(const struct config_source *source, const struct node *node,
                             const char *key)
{
    struct siblings siblings = {0};
    char prefix[LIMIT_PATH_BYTES];
    const char *dot = strrchr(key, '.');

    (void)snprintf(prefix, sizeof(prefix), "%.*s", dot ? (int)(dot - key + 1) : 0, key);
    siblings.prefix = prefix;
    keys_each(collect_sibling, &siblings);
    source_unknown_key(source, node, key, siblings.known, siblings.count);
    arena_done(&siblings.arena);
}

static bool is_section(const char *key)
{
    static const char *const sections[] = {"sandbox",         "sandbox.network",
                                           "sandbox.limits",  "sandbox.process",
                                           "sandbox.devices", "sandbox.process.env"};

    for (size_t i = 0; i < COUNT(sections); i++)
        if (strcmp(key, sections[i]) == 0)
            return true;
    return false;
}

static int load_section(const struct config_source *source, const struct node *map,
                        const char *prefix);

static int load_key(const struct config_source *source, const struct node *node, const char *key)
{
    enum list_id list = list_find(key);
    int r;

    for (size_t i = 0; i < COUNT(special_keys); i++)
        if (strcmp(key, special_keys[i].key) == 0)
            return special_keys[i].load(source, node, key);
    if (is_section(key)) {
        if (node->kind == NODE_MAP)
            return load_section(source, node, key);
        return node->kind == NODE_NULL ? 0 : source_set_shorthand(source, node, key);
    }
    if (list != LIST_COUNT && list_table[list].is_map)
        return load_map(source, node, list);
    if (setting_find(key) != SETTING_COUNT) {
        if (node->kind == NODE_NULL)
            return 0;
        if (node->kind == NODE_LIST || node->kind == NODE_MAP) {
            source_wrong_type(source, node, key, "a single value");
            return 0;
        }
        return source_set_value(source, key, node->text, node->origin);
    }
    if (keys_find_hosts(key))
        return source_load_hosts(source, keys_find_hosts(key), node);
    /* An empty list of an unknown key must not pass for a known one. */
    r = keys_is_list(key) ? source_set_each(source, node, key, key) : -ENOENT;
    if (r != -ENOENT)
        return r;
    complain_unknown(source, node, key);
    return 0;
}

static int load_section(const struct config_source *source, const struct node *map,
                        const char *prefix)
{
    int r = 0;

    for (const struct node *child = map->first; child && r == 0; child = child->next) {
        autostrbuf struct strbuf key = {0};

        strbuf_addf(&key, "%s%s%s", prefix, *prefix ? "." : "", child->key);
        if (key.failed)
            return -ENOMEM;
        /* A dot in a key is part of its name here: it must not pass for a key further down. */
        if (strchr(child->key, '.')) {
            report_add(source->report, BAWN_ERROR, "config.unknown_key", child->key_origin,
                       "unknown key %s", key.text);
            report_hint(source->report,
                        "write a key below another as a map: sandbox: {reads: ...}");
        } else
            r = load_key(source, child, key.text);
    }
    return r;
}

int format_bawn_load(const struct config_source *source, const struct node *root)
{
    if (root->kind == NODE_NULL)
        return 0;
    if (root->kind != NODE_MAP) {
        source_wrong_type(source, root, "a policy", "a map with the key 'sandbox'");
        return 0;
    }
    return load_section(source, root, "");
}
