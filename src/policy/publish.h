/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of the sandbox that the host may connect to. */
#ifndef POLICY_PUBLISH_H
#define POLICY_PUBLISH_H

#include "policy/netrule.h"

struct published {
    struct host at; /* address and port of the host */
    uint16_t inside;
};

/* Reads [ADDRESS:]PORT[:PORT]: the host's port, and that inside where it is another one. Without an
 * address it is 127.0.0.1; one of IPv6 has brackets. Returns NULL, or what is wrong with it. */
const char *publish_parse(const char *text, struct published *ret_published);

#endif
