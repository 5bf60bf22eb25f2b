/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/build.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/home.h"
#include "policy/message.h"
#include "policy/network.h"
#include "policy/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void policy_done(struct policy *policy)
{
    pathtree_done(&policy->tree);
    netindex_done(&policy->net_index);
    netindex_done(&policy->direct_index);
    vec_done(&policy->layers);
    vec_done(&policy->rules);
    vec_done(&policy->net_rules);
    vec_done(&policy->items);
    arena_done(&policy->arena);
}

const char *layer_word(enum layer_id id)
{
    static const char *const words[] = {
        [LAYER_BUILTIN] = "built-in",
        [LAYER_ORG] = "org",
        [LAYER_USER] = "user",
        [LAYER_PROJECT] = "project",
        [LAYER_LOCAL] = "local",
        [LAYER_POLICY] = "--policy",
        [LAYER_ENVIRONMENT] = "environment",
        [LAYER_FLAGS] = "command line",
    };

    return words[id];
}

const char *access_word(enum access access)
{
    static const char *const words[] = {
        [ACCESS_UNSET] = "unset",     [ACCESS_ALLOW] = "allow", [ACCESS_OVERLAY] = "overlay",
        [ACCESS_PRIVATE] = "private", [ACCESS_ASK] = "ask",     [ACCESS_DENY] = "deny",
    };

    return words[access];
}

static const struct {
    const char *word;
    enum access read, write;
    bool read_only;
} mode_table[] = {
    {"ro", ACCESS_ALLOW, ACCESS_DENY, true},
    {"rw", ACCESS_ALLOW, ACCESS_ALLOW, false},
    {"overlay", ACCESS_ALLOW, ACCESS_OVERLAY, false},
    {"private", ACCESS_PRIVATE, ACCESS_PRIVATE, false},
    {"copy", ACCESS_ALLOW, ACCESS_PRIVATE, false},
    {"ask", ACCESS_ASK, ACCESS_ASK, false},
    {"deny", ACCESS_DENY, ACCESS_DENY, false},
};

bool rule_set_mode(struct path_rule *rule, const char *mode)
{
    for (size_t i = 0; i < sizeof(mode_table) / sizeof(mode_table[0]); i++) {
        if (strcmp(mode, mode_table[i].word) != 0)
            continue;
        rule->read = mode_table[i].read;
        rule->write = mode_table[i].write;
        rule->read_only = mode_table[i].read_only;
        return true;
    }
    return false;
}

const char *rule_mode(const struct path_rule *rule)
{
    for (size_t i = 0; i < sizeof(mode_table) / sizeof(mode_table[0]); i++)
        if (rule->read == mode_table[i].read && rule->write == mode_table[i].write)
            return mode_table[i].word;
    return rule->write == ACCESS_ASK ? "confirm" : "protect";
}

const struct layer *policy_add_layer(struct policy *policy, enum layer_id id,
                                     enum authority authority, const char *name, const char *file,
                                     const char *sha256)
{
    struct layer *layer = arena_new(&policy->arena, struct layer);

    if (!layer)
        return NULL;
    layer->id = id;
    layer->authority = authority;
    layer->order = (unsigned)policy->layers.count;
    layer->name = arena_strdup(&policy->arena, name);
    layer->file = file ? arena_strdup(&policy->arena, file) : NULL;
    layer->sha256 = sha256 ? arena_strdup(&policy->arena, sha256) : NULL;
    if (!layer->name || (file && !layer->file) || (sha256 && !layer->sha256) ||
        !vec_push(&policy->layers, layer))
        return NULL;
    return layer;
}

bool policy_is_in_home(const struct policy *policy, const char *path)
{
    return *policy->home && strcmp(policy->home, "/") != 0 && path_is_below(path, policy->home);
}

uint64_t policy_number(const struct policy *policy, enum setting_id id)
{
    if (policy->settings[id].is_set)
        return policy->settings[id].number;
    switch (id) {
    case SETTING_READS:
        return READS_STRICT;
    case SETTING_REQUIRE_OS_SANDBOX:
        return true;
    case SETTING_AUDIT:
        return AUDIT_ON;
    case SETTING_ASK_TIMEOUT:
        return ASK_SECONDS;
    case SETTING_NETWORK_MODE:
        return NETWORK_NONE;
    case SETTING_NETWORK_UNLISTED:
        return UNLISTED_DENY;
    case SETTING_NETWORK_LOCAL_BINDING:
        return true;
    case SETTING_NETWORK_PROXY_ENV:
        /* podman hands the variables on to containers, whose loopback is another one. */
        return !policy_number(policy, SETTING_PROCESS_CONTAINERS);
    case SETTING_LIMITS_PRESET:
        return LIMITS_DEFAULT;
    case SETTING_LATE:
        return LATE_WATCH;
    default:
        return 0;
    }
}

/* The org's lock on a key or on one above it, or NULL. */
static const struct item *find_lock(const struct policy *policy, const char *key)
{
    vec_each (&policy->items, item) {
        size_t length = strlen(item->value);

        if (item->list == LIST_LOCK && strncmp(key, item->value, length) == 0 &&
            (key[length] == '\0' || key[length] == '.'))
            return item;
    }
    return NULL;
}

static bool heeds_locks(const struct layer *layer)
{
    return layer->authority != AUTHORITY_ORG && layer->authority != AUTHORITY_BUILTIN;
}

static bool is_locked(const struct policy *policy, const struct layer *layer, const char *key,
                      struct origin origin, struct bawn_report *report)
{
    const struct item *lock = heeds_locks(layer) ? find_lock(policy, key) : NULL;

    if (!lock)
        return false;
    report_add(report, BAWN_ERROR, "policy.locked", origin, "%s is locked by %s:%u:%u", key,
               lock->origin.file, lock->origin.line, lock->origin.column);
    report_hint(report, "take it out here, or ask whoever keeps %s to unlock it",
                lock->origin.file);
    return true;
}

/* Says that a project layer tried to widen, and how it could. */
static void complain_widening(const struct layer *layer, const char *key, struct origin origin,
                              struct bawn_report *report)
{
    report_add(report, BAWN_WARNING, "policy.widens", origin,
               "%s has no effect: a project may only narrow what the user allows", key);
    if (layer->file)
        report_hint(report, "read the file, then approve it with 'bawn policy approve %s'",
                    layer->file);
}

/* A project's number where the default is not known yet (limits) counts as narrowing: the plan
 * takes the smaller of both. */
static bool setting_narrows(const struct policy *policy, enum setting_id id, uint64_t number)
{
    if (setting_table[id].narrow == NARROW_NEVER)
        return false;
    if (!policy->settings[id].is_set && setting_table[id].type != VALUE_BOOL &&
        setting_table[id].type != VALUE_WORD)
        return true;
    return setting_strictness(id, number) >= setting_strictness(id, policy_number(policy, id));
}

/* SECURITY: whoever has the proxy sees where all connections go, and what they say without TLS. An
 * engine is a program that runs outside, with the caller's rights. */
static bool is_way_out(enum setting_id id)
{
    return id == SETTING_NETWORK_UPSTREAM_PROXY || id == SETTING_NETWORK_ENGINE ||
           id == SETTING_NETWORK_ENGINE_PATH;
}

static bool may_choose_way_out(const struct layer *layer, const char *key, struct origin origin,
                               struct bawn_report *report)
{
    if (layer->authority >= AUTHORITY_USER)
        return true;
    report_add(report, BAWN_WARNING, "policy.upstream_proxy", origin,
               "%s has no effect: only the user and the org choose what connections go through",
               key);
    return false;
}

int policy_set(struct policy *policy, const struct layer *layer, enum setting_id id,
               const char *text, struct origin origin, struct bawn_report *report)
{
    struct setting *setting = &policy->settings[id];
    const char *key = setting_table[id].key;
    char expects[160];
    uint64_t number;

    if (!setting_parse(id, text, &number)) {
        setting_expects(id, expects, sizeof(expects));
        /* SECURITY: what is no proxy to us may have a password in it. */
        if (setting_table[id].type == VALUE_PROXY)
            text = "the value";
        report_add(report, BAWN_ERROR, "config.bad_value", origin, "%s: '%s' is not %s", key, text,
                   expects);
        return 0;
    }
    if (is_locked(policy, layer, key, origin, report))
        return 0;
    if (is_way_out(id) && !may_choose_way_out(layer, key, origin, report))
        return 0;
    if (layer->authority == AUTHORITY_PROJECT && !setting_narrows(policy, id, number)) {
        complain_widening(layer, key, origin, report);
        return 0;
    }
    if (setting->is_set && setting->layer->authority > layer->authority &&
        setting_is_denial(id, setting->number) && number != setting->number) {
        if (!setting->origin.line)
            report_add(report, BAWN_WARNING, "policy.denied_above", origin,
                       "%s has no effect: with %s it is %s, and only the %s layer can change that",
                       key, setting->origin.file, setting->text, layer_word(setting->layer->id));
        else
            report_add(report, BAWN_WARNING, "policy.denied_above", origin,
                       "%s has no effect: %s:%u:%u says %s, and only the %s layer can change that",
                       key, setting->origin.file, setting->origin.line, setting->origin.column,
                       setting->text, layer_word(setting->layer->id));
        return 0;
    }
    text = arena_strdup(&policy->arena, text);
    if (!text)
        return -ENOMEM;
    *setting = (struct setting){
        .is_set = true, .number = number, .text = text, .layer = layer, .origin = origin};
    return 0;
}

int policy_add_item(struct policy *policy, const struct item *item, struct bawn_report *report)
{
    const char *key = list_table[item->list].key;
    bool widens = list_table[item->list].widens ||
                  ((item->list == LIST_TOOL_RULES || item->list == LIST_COMMAND_RULES) &&
                   item->access == ACCESS_ALLOW);

    if (item->list == LIST_LOCK && item->layer->authority != AUTHORITY_ORG) {
        report_add(report, BAWN_ERROR, "policy.lock_not_org", item->origin,
                   "lock: only an org policy can lock keys");
        return 0;
    }
    if (is_locked(policy, item->layer, key, item->origin, report))
        return 0;
    if (item->list == LIST_NETWORK_UPSTREAM_NO_PROXY &&
        !may_choose_way_out(item->layer, key, item->origin, report))
        return 0;
    if (widens && item->layer->authority == AUTHORITY_PROJECT) {
        complain_widening(item->layer, key, item->origin, report);
        return 0;
    }
    if (item->list == LIST_REOPEN && item->layer->authority < AUTHORITY_USER) {
        report_add(report, BAWN_WARNING, "policy.reopen", item->origin,
                   "%s has no effect: only the user and the org re-open built-in entries", key);
        return 0;
    }
    if (item->list == LIST_NETWORK_HOSTS) {
        vec_each (&policy->items, other) {
            if (other->list != item->list || strcmp(other->key, item->key) != 0)
                continue;
            if (other->layer->authority > item->layer->authority)
                report_add(report, BAWN_WARNING, "policy.denied_above", item->origin,
                           "%s.%s has no effect: %s:%u:%u pins it already", key, item->key,
                           other->origin.file, other->origin.line, other->origin.column);
            else
                *other = *item;
            return 0;
        }
    }
    return vec_push(&policy->items, *item) ? 0 : -ENOMEM;
}

/* The list that a rule about a host is in. */
static const char *net_key(const struct net_rule *rule)
{
    static const char *const keys[] = {[NET_ALLOW] = "sandbox.network.allow",
                                       [NET_ASK] = "sandbox.network.ask",
                                       [NET_DENY] = "sandbox.network.deny"};

    return keys[rule->verdict];
}

static bool parse_net(struct net_rule *rule, const char *key, const char *host,
                      struct bawn_report *report)
{
    const char *wrong = host_parse_rule(host, &rule->host);

    if (!wrong)
        return true;
    report_add(report, BAWN_ERROR, "config.bad_host", rule->origin, "%s: '%s': %s", key, host,
               wrong);
    if (strcmp(host, "*") == 0)
        report_hint(report, rule->verdict == NET_DENY
                                ? "to deny every host, set sandbox.network: false"
                                : "to be asked about every host, set sandbox.network: true");
    return false;
}

int policy_add_net(struct policy *policy, const struct net_rule *rule, const char *host,
                   struct bawn_report *report)
{
    const char *key = net_key(rule);
    struct net_rule *copy = arena_new(&policy->arena, struct net_rule);

    if (!copy)
        return -ENOMEM;
    *copy = *rule;
    if (!parse_net(copy, key, host, report) ||
        is_locked(policy, rule->layer, key, rule->origin, report))
        return 0;
    if (rule->layer->authority == AUTHORITY_PROJECT && rule->verdict == NET_ALLOW) {
        complain_widening(rule->layer, key, rule->origin, report);
        return 0;
    }
    /* SECURITY: whoever says yes to a project's question must not grant more than the user does. */
    if (rule->layer->authority == AUTHORITY_PROJECT && (rule->opaque || rule->ech)) {
        complain_widening(rule->layer, rule->opaque ? "opaque" : "ech", rule->origin, report);
        copy->opaque = copy->ech = false;
    }
    copy->spelled = arena_strdup(&policy->arena, host);
    return copy->spelled && vec_push(&policy->net_rules, copy) ? 0 : -ENOMEM;
}

/* SECURITY: the key comes from the rule, not from the file it was in: a lock on sandbox.paths holds
 * for every format. */
static bool is_rule_locked(const struct policy *policy, const struct path_rule *rule,
                           struct bawn_report *report)
{
    char key[64];

    if (!heeds_locks(rule->layer))
        return false;
    (void)snprintf(key, sizeof(key), "sandbox.%s",
                   rule->kind == RULE_PATH ? "paths" : rule_mode(rule));
    return is_locked(policy, rule->layer, key, rule->origin, report);
}

int policy_add_rule(struct policy *policy, const struct path_rule *rule, struct bawn_report *report)
{
    struct path_rule *copy;

    if (is_rule_locked(policy, rule, report))
        return 0;
    if (policy->rules.count >= LIMIT_RULES) {
        report_add(report, BAWN_ERROR, "policy.too_many", rule->origin,
                   "more than %d path rules in one policy", LIMIT_RULES);
        return 0;
    }
    copy = arena_new(&policy->arena, struct path_rule);
    if (!copy)
        return -ENOMEM;
    *copy = *rule;
    return vec_push(&policy->rules, copy) ? 0 : -ENOMEM;
}

int policy_add_found(struct policy *policy, const struct path_rule *rule, struct bawn_error *err)
{
    struct path_rule *copy = arena_new(&policy->arena, struct path_rule);

    if (!copy)
        return error_memory(err);
    *copy = *rule;
    if (!vec_push(&policy->rules, copy))
        return error_memory(err);
    return pathtree_add(&policy->tree, &policy->arena, copy, err);
}

static int add_copy(struct policy *policy, const struct path_rule *rule, const char *path,
                    bool wild, struct bawn_error *err)
{
    struct path_rule alias = *rule;

    alias.link = rule->path;
    alias.wild = wild;
    alias.path = arena_strdup(&policy->arena, path);
    if (rule_is_copy(&alias) && !home_can_copy(policy, path))
        (void)rule_set_mode(&alias, "ro");
    return alias.path ? policy_add_found(policy, &alias, err) : error_memory(err);
}

int policy_add_alias(struct policy *policy, const struct path_rule *rule, const char *path,
                     struct bawn_error *err)
{
    return add_copy(policy, rule, path, rule->wild, err);
}

int policy_add_match(struct policy *policy, const struct path_rule *rule, const char *path,
                     struct bawn_error *err)
{
    return add_copy(policy, rule, path, false, err);
}

static bool is_listed(const struct path_rule *rule)
{
    return rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED;
}

/* Drops the built-in entries that the policy re-opens; complains of names that are none. */
static int apply_reopen(struct policy *policy, struct bawn_report *report)
{
    struct map reopened = {0};
    size_t kept = 0;
    int r = 0;

    vec_each (&policy->items, item) {
        if (item->list == LIST_REOPEN &&
            !map_put(&reopened, 0, item->value, strlen(item->value), item))
            r = -ENOMEM;
    }
    for (size_t i = 0; i < policy->rules.count; i++) {
        struct path_rule *rule = policy->rules.items[i];

        if (is_listed(rule) && map_get(&reopened, 0, rule->spelled, strlen(rule->spelled))) {
            /* Found: a second scope remembers which names were entries. */
            if (!map_put(&reopened, 1, rule->spelled, strlen(rule->spelled), rule))
                r = -ENOMEM;
            continue;
        }
        policy->rules.items[kept++] = rule;
    }
    policy->rules.count = kept;
    vec_each (&policy->items, item) {
        if (item->list != LIST_REOPEN || map_get(&reopened, 1, item->value, strlen(item->value)))
            continue;
        report_add(report, BAWN_ERROR, "policy.no_such_entry", item->origin,
                   "sandbox.reopen: '%s' is not an entry of the built-in lists", item->value);
        report_hint(report, "'bawn policy show --builtin' prints them");
    }
    map_done(&reopened);
    return r;
}

/* A device that is denied is a path that is denied. */
static int deny_devices(struct policy *policy)
{
    vec_each (&policy->items, item) {
        struct path_rule *rule;

        if (item->list != LIST_DEVICES_DENY)
            continue;
        rule = arena_new(&policy->arena, struct path_rule);
        if (!rule)
            return -ENOMEM;
        *rule = (struct path_rule){.kind = RULE_PATTERN,
                                   .path = item->value,
                                   .spelled = item->value,
                                   .read = ACCESS_DENY,
                                   .write = ACCESS_DENY,
                                   .is_repeat = true, /* of the item */
                                   .layer = item->layer,
                                   .origin = item->origin};
        if (!vec_push(&policy->rules, rule))
            return -ENOMEM;
    }
    return 0;
}

/* Whoever allows containers gives up what the profile and the lists cover in /proc: the kernel
 * would refuse a container one of its own. */
static void uncover_proc(struct policy *policy)
{
    size_t kept = 0;

    if (!policy_number(policy, SETTING_PROCESS_CONTAINERS))
        return;
    for (size_t i = 0; i < policy->rules.count; i++) {
        struct path_rule *rule = policy->rules.items[i];

        if (rule->layer->authority != AUTHORITY_BUILTIN || strncmp(rule->path, "/proc/", 6) != 0)
            policy->rules.items[kept++] = rule;
    }
    policy->rules.count = kept;
}

/* SECURITY: nothing of the host's is to change. Devices are no files, and the kernel's own trees
 * cannot be layered. What is private changes nothing, and neither does a copy; where there is no
 * place for one the original is laid over. */
static void lay_over_all(struct policy *policy)
{
    static const char *const others[] = {"/dev", "/proc", "/sys"};

    if (!policy_number(policy, SETTING_OVERLAY_ALL))
        return;
    vec_each (&policy->rules, rule) {
        bool is_copy = rule_is_copy(*rule) && !home_can_copy(policy, (*rule)->path);
        bool is_other = (*rule)->kind != RULE_PATH || ((*rule)->write != ACCESS_ALLOW && !is_copy);

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            is_other |= path_is_below((*rule)->path, others[i]);
        if (!is_other)
            (void)rule_set_mode(*rule, "overlay");
    }
}

static void warn_not_yet(const struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->items, item) {
        const char *why = list_not_yet(
            item->list,
            network_is_routed(policy) ? NETWORK_VETH : policy_number(policy, SETTING_NETWORK_MODE));

        if (why)
            report_add(report, BAWN_WARNING, "policy.not_yet", item->origin, "%s: %s: %s",
                       list_table[item->list].key, item->value, why);
    }
}

int policy_finish(struct policy *policy, struct bawn_report *report, struct bawn_error *err)
{
    int r = apply_reopen(policy, report);

    if (r == 0)
        r = network_settle(policy, report);
    if (r == 0)
        r = deny_devices(policy);
    if (r == 0)
        r = home_add(policy, report);
    if (r == 0)
        r = sysfs_add(policy);
    if (r < 0)
        return error_memory(err);
    lay_over_all(policy);
    home_settle_copies(policy, report);
    uncover_proc(policy);
    warn_not_yet(policy, report);
    vec_each (&policy->rules, rule) {
        r = pathtree_add(&policy->tree, &policy->arena, *rule, err);
        if (r < 0)
            return r;
    }
    vec_each (&policy->net_rules, rule) {
        if (!netindex_add(&policy->net_index, *rule))
            return error_memory(err);
    }
    return message_summarize(policy) < 0 ? error_memory(err) : 0;
}
