/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver of the sandbox: answers questions for names, over datagrams and streams.
 *
 * How it works: a name that the policy does not allow is not there, and nobody outside hears of the
 * question. A name that it allows is looked up (net/lookup.h); if it has an address that
 * may be dialled, the answer is the address that stands for the name (net/names.h), of the
 * family that was asked for. One that goes through the upstream proxy is not looked up, for it may
 * be that only that proxy can; nor is one that somebody must be asked about, who is asked when a
 * client connects to its address. Questions for anything else about a name are answered without
 * asking anybody. SECURITY: all that waits is bounded; what finds no room fails at once.
 */
#ifndef NET_RESOLVE_H
#define NET_RESOLVE_H

#include "net/hub.h"
#include "net/lookup.h"
#include "net/names.h"
#include "wire/event.h"

struct resolver;
struct who;

/* All of these are borrowed, and outlive it. */
struct resolver *resolver_new(struct hub *hub, const struct policy *policy, struct lookups *lookups,
                              struct names *names, struct event_sender *events,
                              struct bawn_error *err);
void resolver_free(struct resolver *resolver);
/* From now on refusals name who asked, and names are given to the programs that rules are for. who
 * is borrowed. */
void resolver_set_who(struct resolver *resolver, struct who *who);

/* Watches a datagram socket at port 53, which is borrowed. An answer comes from the address that
 * was asked, whichever that was. */
int resolve_serve_udp(struct resolver *resolver, int fd, struct bawn_error *err);

/* Takes over a connection to port 53, also when it fails: it is closed when it has asked nothing
 * for a while, or when there are too many and it is the one that asked nothing for the longest. */
int resolve_take_tcp(struct resolver *resolver, int fd);

#endif
