/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy outside that connections go through (sandbox.network.upstream_proxy), and what goes
 * past it. */
#ifndef POLICY_PROXY_H
#define POLICY_PROXY_H

#include "policy/model.h"

/* Reads http://HOST:PORT. SECURITY: a policy is shown and exported, so it has no password in it. */
bool proxy_parse(const char *text, struct host *ret_proxy);

/* An entry of sandbox.network.upstream_no_proxy. */
int proxy_add_direct(struct policy *policy, const char *text);

/* False: there is none. */
bool proxy_find(const struct policy *policy, struct host *ret_proxy);

/* Whether a connection to this name or address goes through it. One to the host's own loopback
 * never does. */
bool proxy_serves(const struct policy *policy, const struct host *target);

/* The same of a target that is asked about: where a pin leads decides, too, and nothing goes
 * through it where bawn does not filter. ret_proxy: the one. */
bool proxy_takes(const struct policy *policy, const struct host *target, struct host *ret_proxy);

#endif
