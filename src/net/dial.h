/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to the first of some addresses that answers. */
#ifndef NET_DIAL_H
#define NET_DIAL_H

#include "net/flow.h"
#include "policy/netrule.h"

enum { DIAL_ADDRESSES = 8, DIAL_MS = 10000 /* for each */ };

struct dial {
    struct hub *hub;
    struct end *end; /* that gets the socket */
    struct hub_timer timer;
    unsigned char addresses[DIAL_ADDRESSES][16]; /* IPv4 as ::ffff:a.b.c.d */
    size_t count, at;
    uint16_t port;
    int error; /* of the last one that was tried */
    /* 0: end has a connected socket, which the hub watches (FLOW_EVENTS); or a negative errno. */
    void (*done)(void *context, int result);
    void *context;
};

/* Those behind the first few are left out. */
void dial_add(struct dial *dial, const struct host *address);
/* done may be called before it returns. */
void dial_start(struct dial *dial);
void dial_stop(struct dial *dial);

#endif
