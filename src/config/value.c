/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a policy, whatever file or option it came from. */
#include "base/limits.h"
#include "base/text.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/source.h"
#include "policy/build.h"
#include "policy/publish.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const tool_names[] = {"read", "write", "list_files", "shell"};

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
    struct published published;
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
    case LIST_NETWORK_UPSTREAM_NO_PROXY:
        if (**value == '.')
            return "write *.NAME for what is below a name, and **.NAME for the name itself, too";
        return host_parse_rule(*value, &host);
    case LIST_NETWORK_PUBLISH:
        return publish_parse(*value, &published);
    case LIST_NETWORK_HOSTS:
        wrong = host_parse_rule(key, &host);
        if (!wrong && host.kind != HOST_NAME)
            wrong = "only a plain name can be pinned";
        return wrong ? wrong : host_parse_address(*value, &host) ? NULL : "not an IP address";
    case LIST_ENV_PASS:
        if (strcmp(*value, "*") == 0)
            return "passing every variable would pass on your secrets: name those that are needed";
        if (env_is_dangerous(*value, strlen(*value)))
            return "makes programs run code of the caller's choice: it is never passed on";
        return is_env_name(*value, true) ? NULL : "not the name of an environment variable";
    case LIST_ENV_DENY:
        return is_env_name(*value, true) ? NULL : "not the name of an environment variable";
    case LIST_ENV_SET:
        if (!key || !is_env_name(key, false))
            return "not the name of an environment variable";
        if (env_is_fixed(key))
            return "is always /dev/null inside: no shell keeps what an agent typed";
        return env_is_dangerous(key, strlen(key))
                   ? "makes programs run code of somebody's choice: it is never set"
                   : NULL;
    case LIST_TOOLS:
        for (size_t i = 0; i < sizeof(tool_names) / sizeof(tool_names[0]); i++)
            if (strcmp(*value, tool_names[i]) == 0)
                return NULL;
        return "no such tool: there are read, write, list_files and shell";
    case LIST_LOCK:
        return keys_has(*value) ? NULL : "no such key";
    default:
        return NULL;
    }
}

int source_add_item(const struct config_source *source, enum list_id list, const char *item_key,
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

int source_set_value(const struct config_source *source, const char *key, const char *value,
                     struct origin origin)
{
    const struct pattern_list *patterns = keys_find_patterns(key);
    const struct host_list *hosts = keys_find_hosts(key);
    enum setting_id setting = setting_find(key);
    enum list_id list = list_find(key);

    if (setting != SETTING_COUNT)
        return policy_set(source->policy, source->layer, setting, value, origin, source->report);
    if (patterns) {
        struct path_rule rule = {.kind = RULE_PATTERN,
                                 .read = patterns->read,
                                 .write = patterns->write,
                                 .origin = origin};

        return source_add_pattern(source, &rule, source->base, value, key);
    }
    if (hosts)
        return source_add_host(source, hosts, value, origin);
    if (list != LIST_COUNT && !list_table[list].is_map)
        return source_add_item(source, list, NULL, value, origin);
    return -ENOENT;
}

int source_set_shorthand(const struct config_source *source, const struct node *node,
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
            return source_add_item(source, list, key + length + 1, value, origin);
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
    const char *nearest;
    int r;

    if (strcmp(key, "sandbox.network") == 0 || strcmp(key, "sandbox.limits") == 0) {
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            node.kind = NODE_BOOL;
        else if (strcmp(key, "sandbox.network") == 0)
            return source_set_value(source, "sandbox.network.mode", value, origin);
        return source_set_shorthand(source, &node, key);
    }
    r = source_set_value(source, key, value, origin);
    if (r == -ENOENT)
        r = set_map_value(source, key, value, origin);
    if (r != -ENOENT)
        return r;
    nearest = keys_nearest(key);
    report_add(source->report, BAWN_ERROR, "config.unknown_key", origin, "unknown key %s", key);
    if (keys_refusal(key))
        report_hint(source->report, "%s", keys_refusal(key));
    else if (nearest)
        report_hint(source->report, "did you mean '%s'?", nearest);
    return 0;
}

int config_set_path(const struct config_source *source, const char *mode, const char *path,
                    struct origin origin)
{
    struct path_rule rule = {.origin = origin};

    rule.is_new = strcmp(mode, "rw-new") == 0;
    if (!rule_set_mode(&rule, rule.is_new ? "rw" : mode)) {
        report_add(source->report, BAWN_ERROR, "config.bad_value", origin,
                   "'%s' is not ro, rw, overlay, private, copy, ask or deny", mode);
        return 0;
    }
    return source_add_path(source, &rule, path, "sandbox.paths");
}
