/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a question about a host: which rule wins, and why. */
#ifndef POLICY_DECIDE_NET_H
#define POLICY_DECIDE_NET_H

#include "policy/model.h"

enum net_reason {
    NET_BY_RULE,
    NET_BY_MODE,      /* no network at all, or no boundary at all */
    NET_BY_UNLISTED,  /* no rule names the host */
    NET_BY_SPECIAL,   /* an address that must be listed */
    NET_BY_ROUTE,     /* an address that no route leads to, whoever lists it */
    NET_BY_HOST_PORT, /* a port of the host's loopback that the policy lists */
};

struct net_decision {
    enum access access; /* ACCESS_ALLOW, ACCESS_ASK or ACCESS_DENY */
    enum net_reason reason;
    const struct net_rule *rule; /* whose opaque and ech count */
    const struct item *item;     /* the list entry that allowed it */
    const char *special;         /* which kind of address */
    /* A rule that says something to another program than who asks, or NULL. It decides nothing.
     * Where nobody has told which program asks, who can find out may ask again. */
    const struct net_rule *for_program;
};

/* Which program asks. */
struct net_asker {
    /* Whether it is the one that the rule is for. What cannot be known is no. */
    bool (*is_by)(void *context, const struct net_rule *rule);
    void *context;
};

/*
 * How it works: a denial wins. Else the most specific rule of those who may widen
 * counts, with its opaque and ech. Of two that are as specific, ask wins over
 * allow. Where both say the same, they can differ in opaque and ech: of layers of
 * the same strength the one that is read later wins, and in one layer the
 * laxer, since lists are merged; the profile loses; else the stricter wins. A stronger
 * speaker's wish to be asked, or the project's, stands over the winner. A rule for
 * one program is as if it were not there, unless that program asks.
 */

/* asker NULL: it is not known which program asks. */
void decide_net_by(const struct policy *policy, const struct host *target,
                   const struct net_asker *asker, struct net_decision *ret_decision);
void decide_net(const struct policy *policy, const struct host *target,
                struct net_decision *ret_decision);

/* Of two rules that are as specific: whether the first counts, and the other does not. */
bool decide_net_outranks(const struct net_rule *rule, const struct net_rule *before);

/*
 * An address that a name turned out to have: the decision on the name, made stricter by what is
 * said about the address. A special one must be listed, or the name pinned to it.
 * SECURITY: it is for who was allowed the name already. A rule that gives the name to one
 * program counts here for all; one that gives it the address counts for none, for the
 * answer may be kept, and another program may go where it says. is_approved: a person was
 * asked about the name, and has allowed it; that says nothing of the address.
 */
void decide_net_address(const struct policy *policy, const struct host *name, bool is_approved,
                        const struct host *address, struct net_decision *ret_decision);

/* Whether a rule, a pin or a port of the host's is about that very address, and allows it. to: the
 * host that was asked for, with its port. is_approved: a person has allowed that very address. */
bool decide_net_lists(const struct policy *policy, const struct host *to,
                      const struct host *address, bool is_approved);

/*
 * The laxest decision on a name over all ports: whether it may be looked up at
 * all. SECURITY: a name that a rule spells out may be looked up by every program, whatever
 * program the rule is for: that tells nobody anything. Of names that a rule only
 * matches there is no end, and who chooses one says something with it: such a rule
 * counts for its own program alone. asker NULL: it is not known which one asks.
 */
enum access decide_net_lookup_by(const struct policy *policy, const struct host *name,
                                 const struct net_asker *asker);
enum access decide_net_lookup(const struct policy *policy, const struct host *name);

#endif
