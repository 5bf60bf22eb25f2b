/* SPDX-License-Identifier: Apache-2.0 */
/* bawn YAML into a layer. The tables in policy/setting.c name most keys; the rest is here. */
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "config/expand.h"
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
    const char *takes;
    const char *help;
};

static const struct {
    const char *key;
    enum access read, write;
    const char *help;
} pattern_lists[] = {
    {"sandbox.deny", ACCESS_DENY, ACCESS_DENY, "Neither read nor written."},
    {"sandbox.ask", ACCESS_ASK, ACCESS_ASK, "Asked about before each is read or written."},
    {"sandbox.protect", ACCESS_UNSET, ACCESS_DENY,
     "Not written, present or not; reading is left to other rules."},
    {"sandbox.confirm", ACCESS_UNSET, ACCESS_ASK,
     "Asked about before each is written; reading is left to other rules."},
};

static const struct {
    const char *key;
    unsigned verdict;
    const char *help;
} host_lists[] = {
    {"sandbox.network.allow", NET_ALLOW, "May be connected to in proxy mode."},
    {"sandbox.network.ask", NET_ASK, "Asked about before each connection."},
    {"sandbox.network.deny", NET_DENY, "Never connected to, whoever allows it."},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool config_is_key(const char *key);

static const char *const tool_names[] = {"read", "write", "list_files", "shell"};

static int add_pattern(const struct config_source *source, size_t list, const char *text,
                       struct origin origin)
{
    struct path_rule rule = {.kind = RULE_PATTERN,
                             .read = pattern_lists[list].read,
                             .write = pattern_lists[list].write,
                             .origin = origin};

    return source_add_pattern(source, &rule, source->base, text, pattern_lists[list].key);
}

static bool is_env_name(const char *name, bool star)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

    return *name && (*name < '0' || *name > '9') &&
           (name[length] == '\0' || (star && strcmp(name + length, "*") == 0));
}

/* What is wrong with a value of a list, or NULL. *value may be replaced by its full form. */
static const char *check_item(const struct config_source *source, enum list_id list,
                              const char *key, const char **value)
{
    const char *wrong = NULL;
    struct host host;
    uint64_t port;

    switch (list) {
    case LIST_NETWORK_UNIX_SOCKETS:
    case LIST_DEVICES_ALLOW:
    case LIST_DEVICES_DENY:
        *value = expand_path(source->policy, source->base, *value, &wrong);
        return *value || wrong ? wrong : "out of memory";
    case LIST_NETWORK_HOST_PORTS:
        return text_parse_count(*value, 65535, &port) && port ? NULL : "not a port";
    case LIST_NETWORK_PUBLISH: {
        const char *colon = strchr(*value, ':');
        char first[8];

        if (!colon)
            return text_parse_count(*value, 65535, &port) && port ? NULL : "not a port";
        (void)snprintf(first, sizeof(first), "%.*s", (int)(colon - *value), *value);
        return text_parse_count(first, 65535, &port) && port &&
                       text_parse_count(colon + 1, 65535, &port) && port
                   ? NULL
                   : "not PORT or HOSTPORT:PORT";
    }
    case LIST_NETWORK_HOSTS:
        wrong = host_parse_rule(key, &host);
        if (!wrong && host.kind != HOST_NAME)
            wrong = "only a plain name can be pinned";
        return wrong ? wrong : host_parse_address(*value, &host) ? NULL : "not an IP address";
    case LIST_ENV_PASS:
        if (strcmp(*value, "*") == 0)
            return "passing every variable would pass on your secrets: name those that are needed";
        return is_env_name(*value, true) ? NULL : "not the name of an environment variable";
    case LIST_ENV_DENY:
        return is_env_name(*value, true) ? NULL : "not the name of an environment variable";
    case LIST_ENV_SET:
        if (!is_env_name(key, false))
            return "not the name of an environment variable";
        return strncmp(key, "LD_", 3) == 0 ? "the loader's variables are never set" : NULL;
    case LIST_TOOLS:
        for (size_t i = 0; i < COUNT(tool_names); i++)
            if (strcmp(*value, tool_names[i]) == 0)
                return NULL;
        return "no such tool: there are read, write, list_files and shell";
    case LIST_LOCK:
        return config_is_key(*value) ? NULL : "no such key";
    default:
        return NULL;
    }
}

static int add_item(const struct config_source *source, enum list_id list, const char *item_key,
                    const char *value, struct origin origin)
{
    struct item item = {.list = list, .layer = source->layer, .origin = origin};
    const char *shown = item_key && list != LIST_COMMAND_RULES ? item_key : value;
    const char *wrong = check_item(source, list, item_key, &value);

    if (wrong) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", origin, "%s: '%s': %s",
                   list_table[list].key, shown, wrong);
        return 0;
    }
    item.key = item_key ? arena_strdup(&source->policy->arena, item_key) : NULL;
    item.value = arena_strdup(&source->policy->arena, value);
    if (!item.value || (item_key && !item.key))
        return -ENOMEM;
    return policy_add_item(source->policy, &item, source->report);
}

/* One value for any key that takes plain text. Returns -ENOENT when there is no such key. */
static int set_value(const struct config_source *source, const char *key, const char *value,
                     struct origin origin)
{
    enum setting_id setting = setting_find(key);
    enum list_id list = list_find(key);

    if (setting != SETTING_COUNT)
        return policy_set(source->policy, source->layer, setting, value, origin, source->report);
    for (size_t i = 0; i < COUNT(pattern_lists); i++)
        if (strcmp(key, pattern_lists[i].key) == 0)
            return add_pattern(source, i, value, origin);
    for (size_t i = 0; i < COUNT(host_lists); i++)
        if (strcmp(key, host_lists[i].key) == 0)
            return policy_add_net(source->policy, source->layer, host_lists[i].verdict, value,
                                  origin, source->report);
    if (list != LIST_COUNT && !list_table[list].is_map)
        return add_item(source, list, NULL, value, origin);
    return -ENOENT;
}

static int load_list(const struct config_source *source, const struct node *node, const char *key)
{
    if (!source_is_list(source, node, key))
        return 0;
    for (const struct node *child = node->first; child; child = child->next) {
        const char *text = source_text(source, child, key);
        int r = text ? set_value(source, key, text, child->origin) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

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
        r = text ? add_item(source, list, child->key, text, child->key_origin) : 0;
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

static int load_path_key(const struct config_source *source, const struct node *node,
                         const char *where, struct path_rule *rule, const char **root,
                         const char **mode)
{
    static const char *const known[] = {"root", "mode", "suffixes", "max_file_bytes"};
    const char *text;
    char full[256];

    (void)snprintf(full, sizeof(full), "%s.%s.%s", where, rule->name, node->key);
    if (strcmp(node->key, "suffixes") == 0)
        return load_suffixes(source, node, rule, full);
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
                   "%s: '%s' is not ro, rw, overlay, private, ask or deny", full, text);
    } else {
        *mode = text;
    }
    return 0;
}

int source_load_path(const struct config_source *source, const struct node *node, const char *where,
                     const char *root_word)
{
    struct path_rule rule = {.name = arena_strdup(&source->policy->arena, node->key),
                             .origin = node->key_origin};
    size_t complaints = bawn_report_count(source->report);
    const char *root = NULL;
    const char *mode = NULL;
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
        r = load_path_key(source, child, where, &rule, &root, &mode);
    if (r < 0 || bawn_report_count(source->report) != complaints)
        return r;
    if (!root || !mode) {
        report_add(source->report, BAWN_ERROR, "config.missing_key", node->key_origin,
                   "%s: there is no '%s'", full, root ? "mode" : root_word);
        report_hint(source->report, "write %s: {%s: PATH, mode: ro}", node->key, root_word);
        return 0;
    }
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
    {"version", load_version, "1", "The version of the format."},
    {"sandbox.paths", load_paths, "NAME: {root, mode, suffixes, max_file_bytes}",
     "A file, or a directory and all below it. mode is ro, rw, overlay (writes go to a layer that "
     "is reviewed later), private (an empty tmpfs), ask or deny. suffixes and max_file_bytes are "
     "held by the tools that ask bawn, not by the kernel."},
    {"tool_rules", load_tool_rules, "TOOL: {approval_required, allow, ask, deny}",
     "Which uses of a tool need approval; the lists hold patterns of commands."},
};

/* Calls visit with every key of a policy. */
static void each_key(void (*visit)(void *context, const char *key), void *context)
{
    for (size_t i = 0; i < COUNT(special_keys); i++)
        visit(context, special_keys[i].key);
    for (size_t i = 0; i < COUNT(pattern_lists); i++)
        visit(context, pattern_lists[i].key);
    for (size_t i = 0; i < COUNT(host_lists); i++)
        visit(context, host_lists[i].key);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        visit(context, setting_table[i].key);
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (i != LIST_TOOL_RULES && i != LIST_COMMAND_RULES) /* special keys have those */
            visit(context, list_table[i].key);
}

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
    each_key(collect_sibling, &siblings);
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

/* "network: false", "network: true" and "limits: strict" are short for a setting or two. */
static int load_shorthand(const struct config_source *source, const struct node *node,
                          const char *key)
{
    struct policy *policy = source->policy;
    int r = 0;

    if (strcmp(key, "sandbox.network") == 0 && node->kind == NODE_BOOL) {
        bool on = strcmp(node->text, "true") == 0;

        r = policy_set(policy, source->layer, SETTING_NETWORK_MODE, on ? "proxy" : "none",
                       node->origin, source->report);
        if (r == 0 && on)
            r = policy_set(policy, source->layer, SETTING_NETWORK_UNLISTED, "ask", node->origin,
                           source->report);
        return r;
    }
    if (strcmp(key, "sandbox.limits") == 0 && node->kind == NODE_STRING)
        return policy_set(policy, source->layer, SETTING_LIMITS_PRESET, node->text, node->origin,
                          source->report);
    source_wrong_type(source, node, key,
                      strcmp(key, "sandbox.network") == 0 ? "true, false or a map" : "a map");
    return 0;
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
        return node->kind == NODE_NULL ? 0 : load_shorthand(source, node, key);
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
        return set_value(source, key, node->text, node->origin);
    }
    /* An empty list of an unknown key must not pass for a known one. */
    r = config_is_list_key(key) ? load_list(source, node, key) : -ENOENT;
    if (r != -ENOENT)
        return r;
    complain_unknown(source, node, key);
    return 0;
}

bool config_is_list_key(const char *key)
{
    enum list_id list = list_find(key);

    for (size_t i = 0; i < COUNT(pattern_lists); i++)
        if (strcmp(key, pattern_lists[i].key) == 0)
            return true;
    for (size_t i = 0; i < COUNT(host_lists); i++)
        if (strcmp(key, host_lists[i].key) == 0)
            return true;
    return list != LIST_COUNT && !list_table[list].is_map;
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

struct nearest_key {
    const char *all[128];
    size_t count;
};

struct key_search {
    const char *key;
    bool found;
};

static void search_key(void *context, const char *key)
{
    struct key_search *search = context;
    size_t length = strlen(search->key);

    if (strncmp(key, search->key, length) == 0 && (key[length] == '\0' || key[length] == '.'))
        search->found = true;
}

/* Whether this is a key, or one that others are below. */
static bool config_is_key(const char *key)
{
    struct key_search search = {.key = key};

    if (*key)
        each_key(search_key, &search);
    return search.found;
}

static void collect_key(void *context, const char *key)
{
    struct nearest_key *keys = context;

    if (keys->count < COUNT(keys->all))
        keys->all[keys->count++] = key;
}

/* "sandbox.network.hosts.NAME" is NAME in the map; the name may have dots of its own. */
static int set_map_value(const struct config_source *source, const char *key, const char *value,
                         struct origin origin)
{
    for (enum list_id list = 0; list < LIST_COUNT; list++) {
        size_t length = strlen(list_table[list].key);

        if (!list_table[list].is_map || list == LIST_TOOL_RULES || list == LIST_COMMAND_RULES ||
            strncmp(key, list_table[list].key, length) != 0)
            continue;
        if (key[length] == '.' && key[length + 1])
            return add_item(source, list, key + length + 1, value, origin);
        if (key[length])
            continue;
        report_add(source->report, BAWN_ERROR, "config.missing_key", origin,
                   "%s is a map: it needs a name", key);
        report_hint(source->report, "write %s.NAME=VALUE", key);
        return 0;
    }
    return -ENOENT;
}

int config_set(const struct config_source *source, const char *key, const char *value,
               struct origin origin)
{
    struct node node = {.kind = NODE_STRING, .text = value, .origin = origin};
    struct nearest_key keys = {0};
    const char *nearest;
    int r;

    if (strcmp(key, "sandbox.network") == 0 || strcmp(key, "sandbox.limits") == 0) {
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            node.kind = NODE_BOOL;
        else if (strcmp(key, "sandbox.network") == 0)
            return set_value(source, "sandbox.network.mode", value, origin);
        return load_shorthand(source, &node, key);
    }
    r = set_value(source, key, value, origin);
    if (r == -ENOENT)
        r = set_map_value(source, key, value, origin);
    if (r != -ENOENT)
        return r;
    each_key(collect_key, &keys);
    nearest = text_nearest(key, keys.all, keys.count);
    report_add(source->report, BAWN_ERROR, "config.unknown_key", origin, "unknown key %s", key);
    if (nearest)
        report_hint(source->report, "did you mean '%s'?", nearest);
    return 0;
}

int config_set_path(const struct config_source *source, const char *mode, const char *path,
                    struct origin origin)
{
    struct path_rule rule = {.origin = origin};

    if (!rule_set_mode(&rule, mode)) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", origin,
                   "'%s' is not ro, rw, overlay, private, ask or deny", mode);
        return 0;
    }
    return source_add_path(source, &rule, path, "sandbox.paths");
}

bool config_key(size_t index, struct config_key *ret_key)
{
    struct nearest_key keys = {0};
    enum setting_id setting;
    enum list_id list;

    *ret_key = (struct config_key){0};
    each_key(collect_key, &keys);
    if (index >= keys.count)
        return false;
    ret_key->key = keys.all[index];
    setting = setting_find(ret_key->key);
    list = list_find(ret_key->key);
    for (size_t i = 0; i < COUNT(special_keys); i++) {
        if (strcmp(ret_key->key, special_keys[i].key) == 0) {
            (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "%s", special_keys[i].takes);
            ret_key->help = special_keys[i].help;
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(pattern_lists); i++)
        if (strcmp(ret_key->key, pattern_lists[i].key) == 0)
            ret_key->help = pattern_lists[i].help;
    if (ret_key->help)
        (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "a list of patterns");
    for (size_t i = 0; !ret_key->help && i < COUNT(host_lists); i++)
        if (strcmp(ret_key->key, host_lists[i].key) == 0)
            ret_key->help = host_lists[i].help;
    if (ret_key->help && !*ret_key->takes)
        (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "a list of hosts");
    if (setting != SETTING_COUNT) {
        setting_expects(setting, ret_key->takes, sizeof(ret_key->takes));
        ret_key->help = setting_table[setting].help;
    } else if (!ret_key->help && list != LIST_COUNT) {
        (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "%s",
                       list_table[list].is_map ? "a map" : "a list");
        ret_key->help = list_table[list].help;
    }
    return true;
}
