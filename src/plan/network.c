/* SPDX-License-Identifier: Apache-2.0 */
/* The network: what is planned for it, and who holds each rule. */
#include "policy/network.h"
#include "plan/plan.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "policy/decide_net.h"
#include "policy/resolve.h"

#include <errno.h>
#include <string.h>

enum { LANDLOCK_TCP = 4 /* the first ABI that knows TCP */ };

static bool is_host(const struct plan *plan)
{
    return plan->network.mode == NETWORK_HOST;
}

/* Whether what the command sends goes through bawn-net. */
static bool is_filtered(const struct plan *plan)
{
    return (plan->network.mode == NETWORK_PROXY || plan->network.mode == NETWORK_ISOLATED) &&
           !network_is_routed(plan->policy);
}

/* Who holds rules about hosts; *note says why nobody does. */
static unsigned filtered_by(const struct plan *plan, const char **note)
{
    if (plan->network.steers)
        return plan_held_by(plan, GUARANTEE_HOST);
    if (plan->network.mode == NETWORK_ISOLATED && plan_has(plan, FEATURE_ANYIP)) {
        *note = "every port of every host needs nf_tables, 'bawn doctor' says why there is none; "
                "--net proxy does without, for hosts that are allowed";
        return 0;
    }
    *note =
        "connections cannot be steered to a proxy here, 'bawn doctor' says why; --net none goes "
        "without a network";
    return 0;
}

/* Whether an engine can lead out; *note says why not. */
static unsigned engine_by(const struct plan *plan, const char **note)
{
    if (plan->network.has_engine)
        return BY_NAMESPACE | BY_FIREWALL;
    if (!plan_has(plan, FEATURE_TUN))
        *note = "/dev/net/tun cannot be opened, 'bawn doctor' says what to do; without an engine "
                "the mode isolated does not need it";
    else if (plan->network.is_engine_open)
        *note = "the command can write that program, which would run outside";
    else
        *note = "that program is not there: install it (Debian: slirp4netns, or passt for pasta), "
                "or name it in sandbox.network.engine_path";
    return 0;
}

/* Whether the mode veth can be had; *note says why not. */
static unsigned routed_by(const struct plan *plan, const char **note)
{
    if (plan->network.mode != NETWORK_VETH)
        return engine_by(plan, note);
    if (plan->network.routes)
        return BY_NAMESPACE | BY_FIREWALL;
    if (plan->facts->uid != 0)
        *note = "only root can have it; --net isolated reaches the same hosts";
    else if (strcmp(plan->facts->features[FEATURE_VETH].step, "ip_forward") == 0)
        *note = "this host does not forward packets: sysctl -w net.ipv4.ip_forward=1, or --net "
                "isolated, which reaches the same hosts";
    else if (plan_has(plan, FEATURE_VETH))
        *note = "this host does not forward packets of IPv6, 'bawn doctor' says what to do; "
                "sandbox.network.ipv6: false has IPv4 alone";
    else
        *note = "this host cannot have it, 'bawn doctor' says why; --net isolated reaches the "
                "same hosts";
    return 0;
}

/* No rule makes an address public, or a public one private: who connects by its address asks for no
 * name. */
static unsigned routed_rule_by(const struct plan *plan, const struct net_rule *rule,
                               const char **note)
{
    struct net_decision decision;

    decide_net(plan->policy, &rule->host, &decision);
    if (rule->verdict == NET_ALLOW && !rule->by && decision.access == ACCESS_ALLOW)
        return routed_by(plan, note);
    *note = rule->verdict == NET_ALLOW
                ? (network_routes_v6(plan->policy)
                       ? "all public addresses are reached here, and no others, by every program"
                       : "all public IPv4 addresses are reached here, and no others, by every "
                         "program")
                : "there are no rules on hosts here; the mode isolated has them, without an engine";
    return 0;
}

/* A grant is moot where somebody who may say so says that there is no network; where the profile
 * says it, the grant would be dropped. */
static bool is_moot(const struct plan *plan, const struct net_rule *rule)
{
    const struct setting *mode = &plan->policy->settings[SETTING_NETWORK_MODE];

    return rule->verdict == NET_DENY || rule->layer->authority == AUTHORITY_BUILTIN ||
           (mode->is_set && mode->layer->authority != AUTHORITY_BUILTIN);
}

/* Who sees to it that there is no network. */
static unsigned offline_by(const struct plan *plan)
{
    unsigned by = plan_held_by(plan, GUARANTEE_OFFLINE);

    /* KERNEL(6.7): Landlock knows TCP. */
    return (by & BY_LANDLOCK) && !plan->landlock.handles_tcp ? 0 : by;
}

static unsigned rule_by(struct plan *plan, const struct net_rule *rule, const char **note)
{
    const struct network_plan *network = &plan->network;
    unsigned by;

    if (plan->backend == BACKEND_COUNT)
        return 0;
    if (network->mode == NETWORK_NONE) {
        *note = "there is no network at all";
        if (!is_moot(plan, rule)) {
            *note = "there is no network at all; --net proxy gives one, --net none silences this";
            return 0;
        }
        return offline_by(plan);
    }
    if (is_filtered(plan)) {
        by = filtered_by(plan, note);
        if (by)
            *note = plan_ports_note(plan, rule);
        if (by && !*note && rule->verdict == NET_ASK)
            *note = network->mode == NETWORK_ISOLATED
                        ? "connections wait for an answer; UDP is refused"
                        : "connections wait for an answer";
        return by;
    }
    if (network_is_routed(plan->policy))
        return routed_rule_by(plan, rule, note);
    return rule->verdict == NET_ALLOW ? BY_NAMESPACE : 0;
}

static int plan_rules(struct plan *plan)
{
    struct network_plan *network = &plan->network;

    vec_each (&plan->policy->net_rules, rule) {
        size_t *counts[] = {
            [NET_ALLOW] = &network->allow, [NET_ASK] = &network->ask, [NET_DENY] = &network->deny};
        autostrbuf struct strbuf words = {0};
        const char *note = NULL;
        unsigned by = rule_by(plan, *rule, &note);

        ++*counts[(*rule)->verdict];
        net_rule_words(*rule, &words);
        if (words.failed ||
            plan_enforce(plan,
                         arena_printf(&plan->arena, "%s %s", net_verdict_word(*rule), words.text),
                         (*rule)->origin, by, note) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int plan_mode(struct plan *plan)
{
    const struct setting *mode = &plan->policy->settings[SETTING_NETWORK_MODE];
    const char *note = NULL;
    unsigned by = plan->network.own_namespace || is_host(plan) ? BY_NAMESPACE : 0;

    if (!mode->is_set)
        return 0;
    if (plan->network.mode == NETWORK_NONE)
        by = offline_by(plan);
    if (is_filtered(plan))
        by |= filtered_by(plan, &note);
    if (network_is_routed(plan->policy))
        by = routed_by(plan, &note);
    if (note || plan->backend == BACKEND_COUNT)
        by = 0;
    else if (plan->network.is_plain)
        note = arena_printf(&plan->arena,
                            "no nf_tables here: programs that know of no proxy reach the ports %s, "
                            "and are refused at others",
                            plan_ports_words(plan));
    if (plan->network.mode == NETWORK_VETH && by)
        note = network_routes_v6(plan->policy)
                   ? "public addresses, IPv6 too, by the host's NAT; no network of IPv6 that this "
                     "host is in at the start"
                   : "public IPv4 addresses, by the host's NAT";
    if (plan->network.has_engine && by)
        note = network_routes_v6(plan->policy)
                   ? "public addresses, IPv6 too, by the engine; none that this host has at the "
                     "start, and no network of IPv6 that it is in then"
                   : "public IPv4 addresses, by the engine; none that this host has at the start";
    if (plan_enforce(plan, arena_printf(&plan->arena, "network %s", mode->text), mode->origin, by,
                     note) < 0)
        return -ENOMEM;
    if (!is_host(plan) || plan->landlock.scopes_abstract_sockets)
        return 0;
    /* KERNEL(6.12): they belong to the network, and nothing but a scope of Landlock's holds them.
     */
    return plan_enforce(plan, "abstract sockets of the host", mode->origin, 0,
                        "they come with its network; Linux 6.12 can keep them apart");
}

/* Its ports are the sandbox's own, where it has a network of its own. What is let is let. */
static int plan_local_binding(struct plan *plan)
{
    const struct setting *setting = &plan->policy->settings[SETTING_NETWORK_LOCAL_BINDING];
    bool is_own = plan->network.own_namespace;

    if (!setting->is_set || setting->number)
        return 0;
    return plan_enforce(plan,
                        arena_printf(&plan->arena, "%s: %s",
                                     setting_table[SETTING_NETWORK_LOCAL_BINDING].key,
                                     setting->text),
                        setting->origin, is_own ? BY_NAMESPACE : 0,
                        is_own ? "the host's ports are out of reach" : "its ports are the host's");
}

/* Where there is no network, or the host's own, it is moot. */
static int plan_proxy(struct plan *plan)
{
    const struct setting *setting = &plan->policy->settings[SETTING_NETWORK_UPSTREAM_PROXY];
    const char *note = NULL;
    unsigned by;

    if (!setting->is_set || !is_filtered(plan))
        return 0;
    by = filtered_by(plan, &note);
    return plan_enforce(plan,
                        arena_printf(&plan->arena, "%s: %s",
                                     setting_table[SETTING_NETWORK_UPSTREAM_PROXY].key,
                                     setting->text),
                        setting->origin, by, note);
}

/* Of a network with an interface; elsewhere they are moot. */
static int plan_interface(struct plan *plan)
{
    static const enum setting_id ids[] = {SETTING_NETWORK_ENGINE, SETTING_NETWORK_ENGINE_PATH,
                                          SETTING_NETWORK_CIDR, SETTING_NETWORK_MTU,
                                          SETTING_NETWORK_IPV6};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct setting *setting = &plan->policy->settings[ids[i]];
        const char *note = NULL;

        if (setting->is_set && network_is_routed(plan->policy) &&
            (i > 1 || plan->network.mode == NETWORK_ISOLATED))
            r = plan_enforce(
                plan,
                arena_printf(&plan->arena, "%s: %s", setting_table[ids[i]].key, setting->text),
                setting->origin, routed_by(plan, &note), note);
    }
    return r;
}

static unsigned item_by(const struct plan *plan, enum list_id list, const char **note)
{
    *note = list_not_yet(list, network_is_routed(plan->policy) ? NETWORK_VETH : plan->network.mode);
    if (*note)
        return 0;
    if (!is_host(plan))
        return filtered_by(plan, note);
    *note = "all ports are the host's";
    return BY_NAMESPACE;
}

static int plan_items(struct plan *plan)
{
    int r = 0;

    vec_each (&plan->policy->items, item) {
        const char *note;
        unsigned by;

        if (r < 0 || (item->list != LIST_NETWORK_HOSTS && item->list != LIST_NETWORK_PUBLISH &&
                      item->list != LIST_NETWORK_HOST_PORTS))
            continue;
        by = item_by(plan, item->list, &note);
        r = plan_enforce(plan,
                         arena_printf(&plan->arena, "%s: %s%s%s", list_table[item->list].key,
                                      item->key ? item->key : "", item->key ? " = " : "",
                                      item->value),
                         item->origin, by, note);
    }
    return r;
}

/* SECURITY: it runs outside, with the caller's rights: not one that the command could have
 * written. */
static bool is_open(const struct plan *plan, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide_path(plan->policy, path, decisions) < 0 ||
           decisions[PATH_WRITE].access != ACCESS_DENY;
}

static bool can_run_engine(struct plan *plan, const struct looker *looker)
{
    char resolved[LIMIT_PATH_BYTES];
    char target[LIMIT_PATH_BYTES];

    if (!plan->network.own_namespace || !plan_has(plan, FEATURE_TUN) ||
        resolve_path(NULL, "/", plan->network.engine_path, looker, resolved, NULL) < 0 ||
        looker->look(looker->context, resolved, target, sizeof(target)) != LOOK_OTHER)
        return false;
    plan->network.is_engine_open =
        is_open(plan, plan->network.engine_path) || is_open(plan, resolved);
    return !plan->network.is_engine_open;
}

static int plan_engine(struct plan *plan, const struct looker *looker)
{
    const struct setting *path = &plan->policy->settings[SETTING_NETWORK_ENGINE_PATH];
    uint64_t engine = policy_number(plan->policy, SETTING_NETWORK_ENGINE);

    if (engine == ENGINE_BAWN || plan->network.mode != NETWORK_ISOLATED)
        return 0;
    plan->network.engine_path =
        path->is_set ? path->text
                     : arena_printf(&plan->arena, "/usr/bin/%s",
                                    setting_table[SETTING_NETWORK_ENGINE].words[engine]);
    if (!plan->network.engine_path)
        return -ENOMEM;
    plan->network.has_engine = can_run_engine(plan, looker);
    return 0;
}

/* A rule for one program is the relay's: who a client is takes time to find out. */
static bool has_opaque_rule(const struct policy *policy)
{
    vec_each (&policy->net_rules, rule) {
        if ((*rule)->verdict == NET_ALLOW && (*rule)->opaque && !(*rule)->by)
            return true;
    }
    return false;
}

/* Why connections that a rule calls opaque pass through bawn-net; NULL: they are handed over. */
static const char *why_relayed(const struct plan *plan)
{
    if (plan->policy->settings[SETTING_NETWORK_UPSTREAM_PROXY].is_set)
        return "all go through the upstream proxy";
    if (!plan_notifies(plan) || !plan_has(plan, FEATURE_TAKE_FD) ||
        !plan_has(plan, FEATURE_SECCOMP))
        return "connect(2) cannot be held here";
    /* KERNEL(6.7): SECURITY: without Landlock's rules for TCP nothing of the kernel's would keep
     * the command from connecting a socket of the host's elsewhere. */
    if (!plan_has(plan, FEATURE_LANDLOCK) || plan->facts->landlock_abi < LANDLOCK_TCP)
        return "Landlock here knows no TCP; Linux 6.7 does";
    /* SECURITY: another sandbox has no such rules, and the command may send it the socket. */
    if (!plan_has(plan, FEATURE_BAR))
        return "this kernel lets only root put a filter on a socket of TCP";
    return NULL;
}

void plan_network_shape(struct plan *plan)
{
    struct network_plan *network = &plan->network;

    network->mode = policy_number(plan->policy, SETTING_NETWORK_MODE);
    network->own_namespace =
        network->mode != NETWORK_HOST && (plan_held_by(plan, GUARANTEE_OFFLINE) & BY_NAMESPACE);
    network->steers = network->own_namespace && is_filtered(plan) && plan_has(plan, FEATURE_STEER);
    network->routes = network->own_namespace && network->mode == NETWORK_VETH &&
                      plan->facts->uid == 0 && plan_has(plan, FEATURE_VETH) &&
                      (!network_routes_v6(plan->policy) || plan_has(plan, FEATURE_VETH_V6));
    network->is_plain = network->own_namespace && network->mode == NETWORK_PROXY &&
                        !network->steers && plan_has(plan, FEATURE_ANYIP);
    network->steers |= network->is_plain;
    network->has_opaque = network->steers && has_opaque_rule(plan->policy);
    if (network->has_opaque)
        network->why_relayed = why_relayed(plan);
    network->hands_over = network->has_opaque && !network->why_relayed;
}

int plan_network(struct plan *plan, const struct looker *looker)
{
    int r = plan->network.is_plain ? plan_ports(plan) : 0;

    if (r == 0)
        r = plan_engine(plan, looker);
    if (r == 0)
        r = plan_rules(plan);
    if (r == 0)
        r = plan_mode(plan);
    if (r == 0)
        r = plan_local_binding(plan);
    if (r == 0)
        r = plan_proxy(plan);
    if (r == 0)
        r = plan_interface(plan);
    return r == 0 ? plan_items(plan) : r;
}
