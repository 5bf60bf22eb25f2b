/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/network.h"

#include "policy/build.h"
#include "policy/proxy.h"
#include "policy/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A proxy of the host's, or who authorizes for it, is reached at the same port inside. */
static int add_proxy_ports(struct policy *policy)
{
    static const enum setting_id ids[] = {SETTING_NETWORK_HTTP_PROXY_PORT,
                                          SETTING_NETWORK_SOCKS_PROXY_PORT,
                                          SETTING_NETWORK_AUTHZ_PORT};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct setting *setting = &policy->settings[ids[i]];

        if (setting->is_set &&
            !vec_push(&policy->items, ((struct item){.list = LIST_NETWORK_HOST_PORTS,
                                                     .value = setting->text,
                                                     .is_implied = true,
                                                     .layer = setting->layer,
                                                     .origin = setting->origin})))
            return -ENOMEM;
    }
    return 0;
}

/* Of somebody who may widen, and is not the profile. */
static void imply_proxy(struct setting *mode, const struct layer *layer, struct origin origin)
{
    if (layer->authority == AUTHORITY_BUILTIN || layer->authority == AUTHORITY_PROJECT ||
        (mode->is_set && mode->number != NETWORK_NONE))
        return;
    *mode = (struct setting){.is_set = true,
                             .number = NETWORK_PROXY,
                             .text = setting_table[SETTING_NETWORK_MODE].words[NETWORK_PROXY],
                             .layer = layer,
                             .origin = origin};
}

/* Whoever allows a host or a port wants a network, where nobody but the profile says that there is
 * none. */
static void imply_network(struct policy *policy)
{
    struct setting *mode = &policy->settings[SETTING_NETWORK_MODE];

    if (mode->is_set && mode->layer->authority != AUTHORITY_BUILTIN)
        return;
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->verdict != NET_DENY)
            imply_proxy(mode, (*rule)->layer, (*rule)->origin);
    }
    vec_each (&policy->items, item) {
        if (item->list == LIST_NETWORK_HOST_PORTS || item->list == LIST_NETWORK_PUBLISH)
            imply_proxy(mode, item->layer, item->origin);
    }
}

/* What is listed twice, by whomever, is one port. */
static bool is_listed_before(const struct policy *policy, const struct item *last)
{
    for (const struct item *item = policy->items.items; item < last; item++) {
        if (item->list == last->list && strcmp(item->value, last->value) == 0)
            return true;
    }
    return false;
}

static void drop_same_ports(struct policy *policy)
{
    size_t kept = 0;

    for (size_t i = 0; i < policy->items.count; i++) {
        const struct item *item = &policy->items.items[i];
        bool is_port = item->list == LIST_NETWORK_HOST_PORTS || item->list == LIST_NETWORK_PUBLISH;

        if (!is_port || !is_listed_before(policy, item))
            policy->items.items[kept++] = *item;
    }
    policy->items.count = kept;
}

/* Each is a descriptor that is handed from one process to the next. */
static void limit_ports(const struct policy *policy, enum list_id list, struct bawn_report *report)
{
    unsigned count = 0;

    vec_each (&policy->items, item) {
        if (item->list == list && ++count == LIMIT_PORTS + 1)
            report_add(report, BAWN_ERROR, "policy.ports", item->origin, "%s: more than %d ports",
                       list_table[list].key, LIMIT_PORTS);
    }
}

/* Which of them a client is fits in one number. */
static void limit_programs(const struct policy *policy, struct bawn_report *report)
{
    const char *programs[LIMIT_PROGRAMS];
    unsigned count = 0;

    vec_each (&policy->net_rules, rule) {
        unsigned i = 0;

        while ((*rule)->by && i < count && strcmp(programs[i], (*rule)->by) != 0)
            i++;
        if (!(*rule)->by || i < count)
            continue;
        if (count == LIMIT_PROGRAMS) {
            report_add(report, BAWN_ERROR, "policy.programs", (*rule)->origin,
                       "by: more than %d programs", LIMIT_PROGRAMS);
            return;
        }
        programs[count++] = (*rule)->by;
    }
}

const struct item *network_host_port(const struct policy *policy, unsigned port)
{
    vec_each (&policy->items, item) {
        if (item->list == LIST_NETWORK_HOST_PORTS && strtoul(item->value, NULL, 10) == port)
            return item;
    }
    return NULL;
}

/* Inside, one port is bawn's own. */
static void check_ports(const struct policy *policy, struct bawn_report *report)
{
    vec_each (&policy->items, item) {
        struct published published = {0};

        if (item->list == LIST_NETWORK_HOST_PORTS)
            published.inside = (uint16_t)strtoul(item->value, NULL, 10);
        else if (item->list == LIST_NETWORK_PUBLISH)
            (void)publish_parse(item->value, &published);
        if (published.inside == LIMIT_OWN_PORT)
            report_add(report, BAWN_ERROR, "policy.ports", item->origin,
                       "%s: %s: port %d inside is bawn's own", list_table[item->list].key,
                       item->value, LIMIT_OWN_PORT);
        else if (item->list == LIST_NETWORK_PUBLISH && network_host_port(policy, published.inside))
            report_add(report, BAWN_ERROR, "policy.ports", item->origin,
                       "%s: %s: port %d inside is the host's, by sandbox.network.host_ports",
                       list_table[item->list].key, item->value, published.inside);
    }
}

static int add_direct(struct policy *policy)
{
    int r = 0;

    vec_each (&policy->items, item) {
        if (r == 0 && item->list == LIST_NETWORK_UPSTREAM_NO_PROXY)
            r = proxy_add_direct(policy, item->value);
    }
    return r;
}

bool network_is_routed(const struct policy *policy)
{
    uint64_t mode = policy_number(policy, SETTING_NETWORK_MODE);

    return mode == NETWORK_VETH || (mode == NETWORK_ISOLATED &&
                                    policy_number(policy, SETTING_NETWORK_ENGINE) != ENGINE_BAWN);
}

bool network_routes_v6(const struct policy *policy)
{
    return network_is_routed(policy) && policy_number(policy, SETTING_NETWORK_IPV6);
}

/* Elsewhere nobody would hold it; where there is no network it is moot. */
static void check_ipv6(const struct policy *policy, struct bawn_report *report)
{
    const struct setting *ipv6 = &policy->settings[SETTING_NETWORK_IPV6];
    uint64_t mode = policy_number(policy, SETTING_NETWORK_MODE);
    const char *why = "in this mode bawn-net reaches IPv6 hosts by the rules, as it does IPv4 ones";

    if (!ipv6->is_set || mode == NETWORK_NONE || network_is_routed(policy))
        return;
    if (mode == NETWORK_HOST)
        why = "the mode host has what the host has";
    report_add(report, BAWN_ERROR, "policy.ipv6", ipv6->origin,
               "%s: only the mode veth, and the mode isolated with sandbox.network.engine: "
               "slirp4netns or pasta, have it; %s",
               setting_table[SETTING_NETWORK_IPV6].key, why);
}

/* Which networks there can be. */
static void check_subnet(const struct policy *policy, struct bawn_report *report)
{
    const struct setting *subnet = &policy->settings[SETTING_NETWORK_CIDR];
    bool is_veth = policy_number(policy, SETTING_NETWORK_MODE) == NETWORK_VETH;

    if (subnet->is_set && network_is_routed(policy) && (subnet->number % 256 == 30) != is_veth)
        report_add(report, BAWN_ERROR, "config.bad_value", subnet->origin, "%s: %s: %s",
                   setting_table[SETTING_NETWORK_CIDR].key, subnet->text,
                   is_veth ? "the mode veth takes four addresses, as in 10.9.8.4/30"
                           : "sandbox.network.engine takes a network of /16 to /25");
}

int network_settle(struct policy *policy, struct bawn_report *report)
{
    int r = add_proxy_ports(policy);

    if (r < 0)
        return r;
    drop_same_ports(policy);
    r = add_direct(policy);
    if (r < 0)
        return r;
    imply_network(policy);
    limit_ports(policy, LIST_NETWORK_HOST_PORTS, report);
    limit_ports(policy, LIST_NETWORK_PUBLISH, report);
    limit_programs(policy, report);
    check_ports(policy, report);
    check_subnet(policy, report);
    check_ipv6(policy, report);
    return 0;
}
