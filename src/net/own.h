/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of this machine itself, whatever range they are in. */
#ifndef NET_OWN_H
#define NET_OWN_H

#include "policy/decide_net.h"

/*
 * Whether an address is one of this machine's own and nothing lists it: no rule by its address, no
 * pin of the name, no port of the host's. Then *ret_decision refuses it. Sends nothing.
 * is_approved: a person was asked about that very address, and has allowed it.
 */
bool own_is_barred(const struct policy *policy, const struct host *to, const struct host *address,
                   bool is_approved, struct net_decision *ret_decision);

#endif
