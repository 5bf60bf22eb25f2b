/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where nf_tables does not steer: the ports inside at which programs that know of no proxy are
 * answered.
 *
 * How it works: 80 and 443, for a rule without a port allows what is said there, and a refusal
 * tells its reason there. 22 for hosts that are allowed whatever is said. Then those that rules
 * name, so many as there may be. A program inside cannot listen where we do; only those from 1024
 * on could be wanted, and of these a published one is the command's.
 */
#include "plan/plan.h"
#include "policy/publish.h"
#include "wire/net.h"

#include <errno.h>

enum { PORT_HTTP = 80, PORT_HTTPS = 443, PORT_SSH = 22, PORT_UNPRIVILEGED = 1024 };

static bool is_listed(const struct plan *plan, uint16_t port)
{
    vec_each (&plan->network.ports, listed) {
        if (*listed == port)
            return true;
    }
    /* Names are answered at this one, whatever the rules say, and the other is ours. */
    return port == NET_DNS_PORT || port == NET_PORT;
}

static bool is_published(const struct plan *plan, uint16_t port)
{
    vec_each (&plan->policy->items, item) {
        struct published published;

        if (item->list == LIST_NETWORK_PUBLISH && !publish_parse(item->value, &published) &&
            published.inside == port)
            return true;
    }
    return false;
}

static int add_port(struct plan *plan, uint16_t port)
{
    if (is_listed(plan, port) || plan->network.ports.count == LIMIT_STEERED_PORTS ||
        (port >= PORT_UNPRIVILEGED && is_published(plan, port)))
        return 0;
    return vec_push(&plan->network.ports, port) ? 0 : -ENOMEM;
}

int plan_ports(struct plan *plan)
{
    int r = add_port(plan, PORT_HTTP);

    if (r == 0)
        r = add_port(plan, PORT_HTTPS);
    vec_each (&plan->policy->net_rules, rule) {
        if (r < 0 || (*rule)->verdict == NET_DENY)
            continue;
        if ((*rule)->host.port)
            r = add_port(plan, (*rule)->host.port);
        else if ((*rule)->opaque)
            r = add_port(plan, PORT_SSH);
    }
    return r;
}

const char *plan_ports_words(struct plan *plan)
{
    autostrbuf struct strbuf words = {0};
    size_t count = plan->network.ports.count;

    for (size_t i = 0; i < count; i++)
        strbuf_addf(&words, "%s%u",
                    i == 0           ? ""
                    : i + 1 == count ? " and "
                                     : ", ",
                    plan->network.ports.items[i]);
    return words.failed ? NULL : arena_printf(&plan->arena, "%s", words.text);
}

const char *plan_ports_note(struct plan *plan, const struct net_rule *rule)
{
    uint16_t port = rule->host.port;

    if (!plan->network.is_plain || rule->verdict == NET_DENY || (port && is_listed(plan, port)))
        return NULL;
    if (port == 0)
        return arena_printf(&plan->arena, "no nf_tables here: at other ports than %s by the proxy",
                            plan_ports_words(plan));
    if (is_published(plan, port))
        return "no nf_tables here, and that port is published: by the proxy alone";
    return arena_printf(&plan->arena,
                        "no nf_tables here, and rules name more than %d ports: by the proxy alone",
                        LIMIT_STEERED_PORTS);
}
