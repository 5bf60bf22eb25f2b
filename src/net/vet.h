/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy says of a name and of the addresses that it turned out to have. All decisions are
 * policy/decide_net.h's; here they are asked for. */
#ifndef NET_VET_H
#define NET_VET_H

#include "policy/decide_net.h"

/* The decision on looking a name up, as decide_net_lookup has it, with the rule behind it. */
enum access vet_name(const struct policy *policy, const struct host *name,
                     struct net_decision *ret_decision);

/*
 * Which of the addresses of a name may be dialled: the count of them, in their order, with the
 * name's port. With port 0 it is whether there is a port at which some may. When there are none,
 * *ret_decision says why; if that is ACCESS_ASK, *ret_asked is the first address that somebody must
 * be asked about. is_approved: a person has allowed the name. SECURITY: an answer with an address
 * among others that must be listed and is not is refused as a whole: whoever gave it wants somebody
 * to go there.
 */
size_t vet_addresses(const struct policy *policy, const struct host *name, bool is_approved,
                     const uint8_t (*addresses)[16], size_t count, struct host *ret_allowed,
                     struct host *ret_asked, struct net_decision *ret_decision);

/* Whether a rule denies one of the names that this one is an alias of, at its port: then
 * *ret_decision is that one. Each of them has its zero. */
bool vet_aliases(const struct policy *policy, const struct host *name, const char *aliases,
                 size_t bytes, struct net_decision *ret_decision);

/* All of them, whatever they are, with this port. */
size_t vet_none(const uint8_t (*addresses)[16], size_t count, uint16_t port,
                struct host *ret_hosts);

#endif
