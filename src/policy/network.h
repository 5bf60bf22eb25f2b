/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy says of the network, when all of its layers are read. */
#ifndef POLICY_NETWORK_H
#define POLICY_NETWORK_H

#include "policy/model.h"

/* Adds what follows from it: the mode that an allowed host means, the ports of a proxy. Reports
 * what cannot be. */
int network_settle(struct policy *policy, struct bawn_report *report);

/* The entry that lists a port of the host's loopback, or NULL. */
const struct item *network_host_port(const struct policy *policy, unsigned port);
/* Whether what the command sends goes where routes lead, and not through bawn-net: nobody holds
 * rules on hosts then. */
bool network_is_routed(const struct policy *policy);
/* Of such a network: whether IPv6 leads out of it. */
bool network_routes_v6(const struct policy *policy);

#endif
