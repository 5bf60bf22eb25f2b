/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/decide_net.h"

#include "policy/build.h"
#include "policy/network.h"

#include <string.h>
#include <strings.h>

/* The addresses that are the host's localhost. */
static const char *const loopback[] = {"127.0.0.1", "::1"};

struct net_match {
    const struct net_rule *rule; /* NULL: none */
    unsigned specificity;
};

/* What the rules of each speaker say of a host: a denial, the most specific of the others, and any
 * wish to be asked, however wide. */
struct net_search {
    unsigned lowest_bits;          /* a range must be at least this narrow to open; 0: any */
    bool only_restrict;            /* the rules are about an address that the name stands for */
    const struct net_asker *asker; /* NULL: unknown */
    const struct net_rule *denied;
    const struct net_rule *for_program;
    const struct net_rule *ask_port; /* any wish to be asked about that very port */
    struct net_match ask[AUTHORITY_COUNT];
    struct net_match best[AUTHORITY_COUNT];
};

/* How little has to be known of what is said on a connection. */
static unsigned net_laxity(const struct net_rule *rule)
{
    return rule->opaque ? 2 : rule->ech;
}

bool decide_net_outranks(const struct net_rule *rule, const struct net_rule *before)
{
    const struct layer *own = rule->layer;
    const struct layer *other = before->layer;

    if (rule->verdict != before->verdict)
        return rule->verdict > before->verdict;
    if (own->authority == other->authority && own->order != other->order)
        return own->order > other->order;
    /* Lists are merged: who says both in one place has said the wider. */
    if (own->authority == other->authority)
        return net_laxity(rule) > net_laxity(before);
    if (own->authority == AUTHORITY_BUILTIN || other->authority == AUTHORITY_BUILTIN)
        return other->authority == AUTHORITY_BUILTIN;
    if (net_laxity(rule) != net_laxity(before))
        return net_laxity(rule) < net_laxity(before);
    return own->authority > other->authority;
}

static void net_match(struct net_match *best, const struct net_rule *rule, unsigned specificity)
{
    if (!best->rule || specificity > best->specificity ||
        (specificity == best->specificity && decide_net_outranks(rule, best->rule)))
        *best = (struct net_match){.rule = rule, .specificity = specificity};
}

static void net_found(void *context, const struct net_rule *rule, unsigned specificity)
{
    struct net_search *search = context;
    unsigned who = rule->layer->authority;

    if (rule->verdict == NET_DENY) {
        /* The same denial is named whatever order the rules came in. */
        if (!search->denied || rule->layer->order < search->denied->layer->order)
            search->denied = rule;
        return;
    }
    if (rule->by && !(search->asker && search->asker->is_by(search->asker->context, rule))) {
        search->for_program = rule;
        return;
    }
    if (rule->verdict == NET_ASK && rule->host.port != 0 && !search->ask_port)
        search->ask_port = rule;
    /* A wish about the name is named rather than one about its address. */
    if (rule->verdict == NET_ASK && !(search->only_restrict && search->ask[who].rule))
        net_match(&search->ask[who], rule, specificity);
    if (!search->only_restrict && rule->host.prefix_bits >= search->lowest_bits)
        net_match(&search->best[who], rule, specificity);
}

/* The most specific rule of all that may widen. */
static const struct net_rule *net_winner(const struct net_search *search)
{
    struct net_match winner = {0};

    for (unsigned who = 0; who < AUTHORITY_COUNT; who++) {
        const struct net_match *best = &search->best[who];

        if (best->rule && who != AUTHORITY_PROJECT)
            net_match(&winner, best->rule, best->specificity);
    }
    return winner.rule;
}

/* The wish to be asked that stands over a grant of this authority: of a stronger speaker who does
 * not allow it himself, or of the project. */
static const struct net_rule *net_wish(const struct net_search *search, unsigned authority)
{
    for (unsigned who = AUTHORITY_COUNT; who-- > AUTHORITY_PROJECT;) {
        const struct net_rule *own = search->best[who].rule;
        bool allows = own && own->verdict == NET_ALLOW;

        if (search->ask[who].rule && !allows && (who > authority || who == AUTHORITY_PROJECT))
            return search->ask[who].rule;
    }
    return NULL;
}

static void decide_allowed(const struct net_search *search, unsigned authority,
                           struct net_decision *decision)
{
    const struct net_rule *wish = net_wish(search, authority);

    decision->access = wish ? ACCESS_ASK : ACCESS_ALLOW;
    if (!wish)
        return;
    decision->rule = wish;
    decision->item = NULL;
    decision->reason = NET_BY_RULE;
}

static bool is_loopback_kind(const char *special)
{
    return special && strcmp(special, "loopback") == 0;
}

/* The port of the host's that a target is, or NULL. Not at any address of loopback's: what listens
 * at 127.0.0.2 alone was not listed. */
static const struct item *find_host_port(const struct policy *policy, const struct host *target,
                                         const char *special)
{
    if (!is_loopback_kind(special))
        return NULL;
    if (target->kind == HOST_ADDRESS && strcmp(target->name, loopback[0]) != 0 &&
        strcmp(target->name, loopback[1]) != 0)
        return NULL;
    return network_host_port(policy, target->port);
}

/* An entry is as specific as a rule can be: of those that want to be asked only one for that port
 * is. */
static void decide_host_port(const struct net_search *search, struct net_decision *decision)
{
    decision->reason = NET_BY_HOST_PORT;
    decide_allowed(search, decision->item->layer->authority, decision);
    if (decision->access != ACCESS_ALLOW || !search->ask_port)
        return;
    decision->access = ACCESS_ASK;
    decision->reason = NET_BY_RULE;
    decision->rule = search->ask_port;
    decision->item = NULL;
}

static void decide_proxied(const struct policy *policy, const struct net_search *search,
                           struct net_decision *decision)
{
    const struct net_rule *winner = net_winner(search);

    if (decision->item) {
        decide_host_port(search, decision);
    } else if (decision->special && !winner) {
        decision->reason = NET_BY_SPECIAL;
    } else if (!winner && policy_number(policy, SETTING_NETWORK_MODE) == NETWORK_ISOLATED) {
        decision->reason = NET_BY_MODE;
        decide_allowed(search, AUTHORITY_BUILTIN, decision);
    } else if (!winner) {
        decision->reason = NET_BY_UNLISTED;
        if (policy_number(policy, SETTING_NETWORK_UNLISTED) == UNLISTED_ASK)
            decision->access = ACCESS_ASK;
    } else {
        decision->rule = winner;
        decision->reason = NET_BY_RULE;
        decision->access = ACCESS_ASK;
        if (winner->verdict == NET_ALLOW)
            decide_allowed(search, winner->layer->authority, decision);
    }
}

/* By an address alone, which no rule makes public: nobody between who connects and the routes knows
 * of names. */
static void decide_routed(const struct policy *policy, const struct host *target,
                          struct net_decision *decision)
{
    if (!decision->special && target->kind == HOST_ADDRESS && !host_is_v4(target) &&
        !network_routes_v6(policy))
        decision->special = "IPv6";
    if (decision->special)
        decision->reason = NET_BY_ROUTE;
    else
        decision->access = ACCESS_ALLOW;
}

/* What is said against the addresses of the host's loopback holds for its name, and for a port of
 * the host's, which is one port at both of them. */
static void search_loopback(const struct policy *policy, uint16_t port, struct net_search *search)
{
    struct host address;

    search->only_restrict = true;
    for (size_t i = 0; i < 2; i++) {
        (void)host_parse_address(loopback[i], &address);
        address.port = port;
        netindex_ask(&policy->net_index, &address, net_found, search);
    }
}

/* The same of those that a name is pinned to. */
static void search_pins(const struct policy *policy, const struct host *target,
                        struct net_search *search)
{
    struct host address;

    search->only_restrict = true;
    vec_each (&policy->items, item) {
        if (item->list != LIST_NETWORK_HOSTS || strcasecmp(item->key, target->name) != 0 ||
            !host_parse_address(item->value, &address))
            continue;
        address.port = target->port;
        netindex_ask(&policy->net_index, &address, net_found, search);
    }
}

/* What rules say against localhost holds for its addresses. */
static void search_localhost(const struct policy *policy, const struct host *target,
                             struct net_search *search)
{
    const struct host name = {.kind = HOST_NAME, .name = "localhost", .port = target->port};

    search->only_restrict = true;
    netindex_ask(&policy->net_index, &name, net_found, search);
}

void decide_net_by(const struct policy *policy, const struct host *target,
                   const struct net_asker *asker, struct net_decision *ret_decision)
{
    struct net_search search = {.asker = asker};
    uint64_t mode = policy_number(policy, SETTING_NETWORK_MODE);

    *ret_decision = (struct net_decision){.access = ACCESS_DENY, .reason = NET_BY_MODE};
    if (mode == NETWORK_NONE)
        return;
    ret_decision->special = host_special(target, &search.lowest_bits);
    netindex_ask(&policy->net_index, target, net_found, &search);
    ret_decision->item = find_host_port(policy, target, ret_decision->special);
    if (target->kind == HOST_NAME)
        search_pins(policy, target, &search);
    else if (is_loopback_kind(ret_decision->special))
        search_localhost(policy, target, &search);
    if (ret_decision->item || (target->kind == HOST_NAME && ret_decision->special))
        search_loopback(policy, target->port, &search);
    ret_decision->for_program = search.for_program;
    if (search.denied) {
        ret_decision->item = NULL;
        ret_decision->rule = search.denied;
        ret_decision->reason = NET_BY_RULE;
    } else if (network_is_routed(policy)) {
        ret_decision->item = NULL;
        decide_routed(policy, target, ret_decision);
    } else if (mode == NETWORK_PROXY || mode == NETWORK_ISOLATED) {
        decide_proxied(policy, &search, ret_decision);
    } else {
        ret_decision->item = NULL;
        ret_decision->access = ACCESS_ALLOW;
    }
}

void decide_net(const struct policy *policy, const struct host *target,
                struct net_decision *ret_decision)
{
    decide_net_by(policy, target, NULL, ret_decision);
}

static bool is_pinned(const struct policy *policy, const char *name, const struct host *address)
{
    struct host pinned;

    vec_each (&policy->items, item) {
        if (item->list == LIST_NETWORK_HOSTS && strcasecmp(item->key, name) == 0 &&
            host_parse_address(item->value, &pinned) &&
            memcmp(pinned.address, address->address, sizeof(pinned.address)) == 0)
            return true;
    }
    return false;
}

static bool is_any(void *context, const struct net_rule *rule)
{
    (void)context;
    (void)rule;
    return true;
}

void decide_net_address(const struct policy *policy, const struct host *name, bool is_approved,
                        const struct host *address, struct net_decision *ret_decision)
{
    static const struct net_asker all = {.is_by = is_any};
    struct net_decision for_others = {.access = ACCESS_DENY};
    struct net_decision on_address;
    struct host target = *address;

    target.port = name->port;
    decide_net_by(policy, name, &all, ret_decision);
    /* A wish to be asked about one program is none about the others. */
    if (ret_decision->access == ACCESS_ASK)
        decide_net(policy, name, &for_others);
    if (for_others.access == ACCESS_ALLOW)
        *ret_decision = for_others;
    if (is_approved && ret_decision->access == ACCESS_ASK)
        ret_decision->access = ACCESS_ALLOW;
    if (ret_decision->access == ACCESS_DENY)
        return;
    decide_net(policy, &target, &on_address);
    /* That nobody lists an ordinary address by itself is no matter: the name is. */
    if (on_address.reason == NET_BY_UNLISTED ||
        (on_address.reason == NET_BY_SPECIAL && is_pinned(policy, name->name, address)))
        return;
    /* That question was about the address, too: the policy itself says that it is the name's. */
    if (is_approved && on_address.access == ACCESS_ASK && is_pinned(policy, name->name, address))
        return;
    if (on_address.access > ret_decision->access)
        *ret_decision = on_address;
}

bool decide_net_lists(const struct policy *policy, const struct host *to,
                      const struct host *address, bool is_approved)
{
    struct net_decision decision;
    struct host target = *address;

    if (to->kind == HOST_NAME && is_pinned(policy, to->name, address))
        return true;
    target.port = to->port;
    decide_net(policy, &target, &decision);
    return decision.access <= (is_approved ? ACCESS_ASK : ACCESS_ALLOW) &&
           (decision.reason == NET_BY_RULE || decision.reason == NET_BY_HOST_PORT);
}

struct lookup_search {
    const struct policy *policy;
    const struct net_asker *asker; /* of the question; NULL: unknown */
    struct net_asker own;
    struct host target;
    enum access laxest;
};

static bool is_for_lookup(void *context, const struct net_rule *rule)
{
    const struct net_asker *asker = ((struct lookup_search *)context)->asker;

    return rule->host.kind == HOST_NAME || (asker && asker->is_by(asker->context, rule));
}

/* With the rules for other programs and without: one that wants to be asked about another program
 * says nothing of this one. */
static void lookup_port(struct lookup_search *search, uint16_t port)
{
    const struct net_asker *askers[] = {&search->own, search->asker};

    search->target.port = port;
    for (size_t i = 0; i < 2; i++) {
        struct net_decision decision;

        decide_net_by(search->policy, &search->target, askers[i], &decision);
        if (decision.access < search->laxest)
            search->laxest = decision.access;
    }
}

static void lookup_found(void *context, const struct net_rule *rule, unsigned specificity)
{
    (void)specificity;
    lookup_port(context, rule->host.port);
}

enum access decide_net_lookup_by(const struct policy *policy, const struct host *name,
                                 const struct net_asker *asker)
{
    struct lookup_search search = {
        .policy = policy, .asker = asker, .target = *name, .laxest = ACCESS_DENY};

    search.own = (struct net_asker){.is_by = is_for_lookup, .context = &search};
    lookup_port(&search, 0);
    netindex_ask_ports(&policy->net_index, name, lookup_found, &search);
    return search.laxest;
}

enum access decide_net_lookup(const struct policy *policy, const struct host *name)
{
    return decide_net_lookup_by(policy, name, NULL);
}
