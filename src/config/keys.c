/* SPDX-License-Identifier: Apache-2.0 */
#include "config/keys.h"

#include "base/text.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Keys whose loaders are in format_bawn.c. */
static const struct {
    const char *key;
    const char *takes;
    const char *help;
} special_keys[] = {
    {"version", "1", "The version of the format."},
    {"sandbox.paths", "NAME: {root, mode, make, suffixes, max_file_bytes}",
     "A file, or a directory and all below it. mode is ro, rw, overlay (a directory; writes go to "
     "a "
     "layer for review), private (an empty tmpfs), ask or deny. With make: true and mode rw, run "
     "makes the "
     "directory if it does not exist; not for a project. The tools that ask bawn hold suffixes and "
     "max_file_bytes; the kernel does not."},
    {"tool_rules", "TOOL: {approval_required, allow, ask, deny}",
     "Which uses of a tool need approval. The lists hold patterns of commands."},
};

static const struct pattern_list pattern_lists[] = {
    {"sandbox.deny", ACCESS_DENY, ACCESS_DENY,
     "The command can neither read nor write what matches."},
    {"sandbox.ask", ACCESS_ASK, ACCESS_ASK,
     "bawn asks before the command reads or writes what matches."},
    {"sandbox.protect", ACCESS_UNSET, ACCESS_DENY,
     "The command cannot write what matches, whether it exists or not. Other rules decide about "
     "reading."},
    {"sandbox.confirm", ACCESS_UNSET, ACCESS_ASK,
     "bawn asks before the command writes what matches. Other rules decide about reading."},
};

static const struct host_list host_lists[] = {
    {"sandbox.network.allow", NET_ALLOW,
     "Hosts that the command may connect to in proxy mode. Behind a host there can be opaque, "
     "ech=allow and by=PROGRAM; see NETWORK RULES."},
    {"sandbox.network.ask", NET_ASK,
     "Hosts that bawn asks about before each connection, with the same words behind them."},
    {"sandbox.network.deny", NET_DENY,
     "Hosts that the command never reaches, whoever allows them."},
};

const struct pattern_list *keys_find_patterns(const char *key)
{
    for (size_t i = 0; i < COUNT(pattern_lists); i++)
        if (strcmp(key, pattern_lists[i].key) == 0)
            return &pattern_lists[i];
    return NULL;
}

const struct host_list *keys_find_hosts(const char *key)
{
    for (size_t i = 0; i < COUNT(host_lists); i++)
        if (strcmp(key, host_lists[i].key) == 0)
            return &host_lists[i];
    return NULL;
}

void keys_each(void (*visit)(void *context, const char *key), void *context)
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

bool keys_is_list(const char *key)
{
    enum list_id list = list_find(key);

    return keys_find_patterns(key) || keys_find_hosts(key) ||
           (list != LIST_COUNT && !list_table[list].is_map);
}

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

bool keys_has(const char *key)
{
    struct key_search search = {.key = key};

    if (*key)
        keys_each(search_key, &search);
    return search.found;
}

struct key_list {
    const char *all[128];
    size_t count;
};

static void collect_key(void *context, const char *key)
{
    struct key_list *keys = context;

    if (keys->count < COUNT(keys->all))
        keys->all[keys->count++] = key;
}

const char *keys_nearest(const char *text)
{
    struct key_list keys = {0};

    keys_each(collect_key, &keys);
    return text_nearest(text, keys.all, keys.count);
}

/* Help for keys that are not in policy/setting.c. */
static bool describe_own(struct config_key *key)
{
    const struct pattern_list *patterns = keys_find_patterns(key->key);
    const struct host_list *hosts = keys_find_hosts(key->key);
    const char *takes = patterns ? "a list of patterns" : "a list of hosts";

    key->help = patterns ? patterns->help : hosts ? hosts->help : NULL;
    for (size_t i = 0; !key->help && i < COUNT(special_keys); i++) {
        if (strcmp(key->key, special_keys[i].key) == 0) {
            key->help = special_keys[i].help;
            takes = special_keys[i].takes;
        }
    }
    if (key->help)
        (void)snprintf(key->takes, sizeof(key->takes), "%s", takes);
    return key->help != NULL;
}

bool config_key(size_t index, struct config_key *ret_key)
{
    struct key_list keys = {0};
    enum setting_id setting;
    enum list_id list;

    *ret_key = (struct config_key){0};
    keys_each(collect_key, &keys);
    if (index >= keys.count)
        return false;
    ret_key->key = keys.all[index];
    if (describe_own(ret_key))
        return true;
    setting = setting_find(ret_key->key);
    list = list_find(ret_key->key);
    if (setting != SETTING_COUNT) {
        setting_expects(setting, ret_key->takes, sizeof(ret_key->takes));
        ret_key->help = setting_table[setting].help;
    } else if (list != LIST_COUNT) {
        (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "%s",
                       list_table[list].is_map ? "a map" : "a list");
        ret_key->help = list_table[list].help;
    }
    return true;
}

const char *keys_refusal(const char *key)
{
    static const char io_max[] =
        "bawn has one key for each rate: sandbox.limits.io_read_bytes, io_write_bytes, "
        "io_read_ops and io_write_ops, per second and for the workspace's disk";
    static const struct {
        const char *key, *why;
    } refused[] = {
        {"sandbox.limits.io_max", io_max},
        {"sandbox.limits.io", io_max},
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(refused[i].key, key) == 0)
            return refused[i].why;
    }
    return NULL;
}
