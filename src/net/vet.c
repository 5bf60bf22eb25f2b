/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vet.h"

#include "policy/network.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct name_search {
    const struct policy *policy;
    struct host name;
    enum access access;
    struct net_decision *decision;
};

static void name_found(void *context, const struct net_rule *rule, unsigned specificity)
{
    struct name_search *search = context;

    (void)specificity;
    if (search->decision->access == search->access)
        return;
    search->name.port = rule->host.port;
    decide_net(search->policy, &search->name, search->decision);
}

enum access vet_name(const struct policy *policy, const struct host *name,
                     struct net_decision *ret_decision)
{
    struct name_search search = {.policy = policy, .name = *name, .decision = ret_decision};

    search.name.port = 0;
    search.access = decide_net_lookup(policy, name);
    decide_net(policy, &search.name, ret_decision);
    netindex_ask_ports(&policy->net_index, name, name_found, &search);
    return search.access;
}

static void make_host(const uint8_t address[16], uint16_t port, struct host *ret_host)
{
    char text[INET6_ADDRSTRLEN];

    (void)inet_ntop(AF_INET6, address, text, sizeof(text));
    (void)host_parse_address(text, ret_host);
    ret_host->port = port;
}

/* What is vetted, and what came of it. */
struct port_search {
    const struct policy *policy;
    struct host name;
    bool is_approved;
    const uint8_t (*addresses)[16];
    size_t count;
    struct host *allowed, *asked;
    size_t allowed_count;
    struct net_decision *decision;
};

static size_t vet_port(const struct port_search *search, struct net_decision *ret_decision)
{
    const struct policy *policy = search->policy;
    struct net_decision decision, asks = {.access = ACCESS_ALLOW};
    bool must_ask = false;
    size_t allowed = 0;

    for (size_t i = 0; i < search->count; i++) {
        struct host *address = &search->allowed[allowed];

        make_host(search->addresses[i], search->name.port, address);
        decide_net_address(policy, &search->name, search->is_approved, address, &decision);
        if (decision.access == ACCESS_ALLOW) {
            allowed++;
        } else if (decision.access == ACCESS_ASK) {
            /* One that must be listed is not passed over for others. */
            must_ask = must_ask || decision.special;
            if (asks.access == ACCESS_ALLOW)
                *search->asked = *address;
            if (asks.access == ACCESS_ALLOW)
                asks = decision;
        } else {
            *ret_decision = decision;
        }
        /* One that is only of a family which leads nowhere says nothing of the others. */
        if (decision.access == ACCESS_DENY && decision.special &&
            (decision.reason != NET_BY_ROUTE || host_is_v4(address) || network_routes_v6(policy)))
            return 0;
    }
    if (asks.access != ACCESS_ASK || (allowed > 0 && !must_ask))
        return allowed;
    *ret_decision = asks;
    return 0;
}

static void try_port(struct port_search *search, uint16_t port)
{
    struct net_decision decision;

    if (search->allowed_count > 0)
        return;
    search->name.port = port;
    search->allowed_count = vet_port(search, &decision);
    /* What is said of the address tells more than that some port is not listed. */
    if (search->allowed_count == 0 && search->decision->reason == NET_BY_UNLISTED)
        *search->decision = decision;
}

static void port_found(void *context, const struct net_rule *rule, unsigned specificity)
{
    (void)specificity;
    if (rule->host.port != 0)
        try_port(context, rule->host.port);
}

size_t vet_addresses(const struct policy *policy, const struct host *name, bool is_approved,
                     const uint8_t (*addresses)[16], size_t count, struct host *ret_allowed,
                     struct host *ret_asked, struct net_decision *ret_decision)
{
    struct port_search search = {.policy = policy,
                                 .name = *name,
                                 .is_approved = is_approved,
                                 .addresses = addresses,
                                 .count = count,
                                 .allowed = ret_allowed,
                                 .asked = ret_asked,
                                 .decision = ret_decision};

    *ret_decision = (struct net_decision){.access = ACCESS_DENY, .reason = NET_BY_UNLISTED};
    search.allowed_count = vet_port(&search, ret_decision);
    if (name->port != 0 || search.allowed_count > 0)
        return search.allowed_count;
    netindex_ask_ports(&policy->net_index, name, port_found, &search);
    for (size_t i = 0; i < count && search.allowed_count == 0; i++) {
        struct host address;

        make_host(addresses[i], 0, &address);
        netindex_ask_ports(&policy->net_index, &address, port_found, &search);
    }
    vec_each (&policy->items, item) {
        if (item->list == LIST_NETWORK_HOST_PORTS)
            try_port(&search, (uint16_t)strtoul(item->value, NULL, 10));
    }
    return search.allowed_count;
}

bool vet_aliases(const struct policy *policy, const struct host *name, const char *aliases,
                 size_t bytes, struct net_decision *ret_decision)
{
    for (const char *at = aliases; at < aliases + bytes; at += strlen(at) + 1) {
        struct host alias;

        /* What no rule can name no rule denies. */
        if (host_parse_rule(at, &alias) || alias.kind != HOST_NAME)
            continue;
        alias.port = name->port;
        decide_net(policy, &alias, ret_decision);
        if (ret_decision->access == ACCESS_DENY && ret_decision->reason == NET_BY_RULE)
            return true;
    }
    return false;
}

size_t vet_none(const uint8_t (*addresses)[16], size_t count, uint16_t port, struct host *ret_hosts)
{
    for (size_t i = 0; i < count; i++)
        make_host(addresses[i], port, &ret_hosts[i]);
    return count;
}
