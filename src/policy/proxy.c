/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/proxy.h"

#include "policy/build.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

bool proxy_parse(const char *text, struct host *ret_proxy)
{
    static const char scheme[] = "http://";
    char target[LIMIT_HOST_BYTES + sizeof("[]:65535")];
    size_t length;

    if (strncmp(text, scheme, sizeof(scheme) - 1) != 0)
        return false;
    text += sizeof(scheme) - 1;
    length = strlen(text);
    if (length > 0 && text[length - 1] == '/')
        length--;
    if (length >= sizeof(target))
        return false;
    memcpy(target, text, length);
    target[length] = '\0';
    return !host_parse_target(target, ret_proxy);
}

int proxy_add_direct(struct policy *policy, const char *text)
{
    struct net_rule *rule = arena_new(&policy->arena, struct net_rule);

    if (!rule)
        return -ENOMEM;
    *rule = (struct net_rule){.spelled = text};
    if (host_parse_rule(text, &rule->host))
        return -EINVAL;
    return netindex_add(&policy->direct_index, rule) ? 0 : -ENOMEM;
}

bool proxy_find(const struct policy *policy, struct host *ret_proxy)
{
    const struct setting *setting = &policy->settings[SETTING_NETWORK_UPSTREAM_PROXY];

    return setting->is_set && proxy_parse(setting->text, ret_proxy);
}

static void found(void *context, const struct net_rule *rule, unsigned specificity)
{
    (void)rule;
    (void)specificity;
    *(bool *)context = true;
}

bool proxy_serves(const struct policy *policy, const struct host *target)
{
    bool is_direct = false;
    const char *special;
    unsigned bits;

    if (!policy->settings[SETTING_NETWORK_UPSTREAM_PROXY].is_set)
        return false;
    special = host_special(target, &bits);
    if (special && strcmp(special, "loopback") == 0)
        return false;
    netindex_ask(&policy->direct_index, target, found, &is_direct);
    return !is_direct;
}

bool proxy_takes(const struct policy *policy, const struct host *target, struct host *ret_proxy)
{
    uint64_t mode = policy_number(policy, SETTING_NETWORK_MODE);
    struct host address;

    if ((mode != NETWORK_PROXY && mode != NETWORK_ISOLATED) || !proxy_serves(policy, target))
        return false;
    vec_each (&policy->items, item) {
        if (target->kind == HOST_NAME && item->list == LIST_NETWORK_HOSTS &&
            strcasecmp(item->key, target->name) == 0 && host_parse_address(item->value, &address))
            return proxy_serves(policy, &address) && proxy_find(policy, ret_proxy);
    }
    return proxy_find(policy, ret_proxy);
}
