/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports inside that the host may connect to.
 *
 * How it works: whoever connects to a published port of the host's waits until the door
 * (wire/net.h) has given a socket that was made inside. That is connected to the port on
 * loopback, of IPv4 and then of IPv6, and from then on bytes pass both ways.
 */
#ifndef NET_INLET_H
#define NET_INLET_H

#include "base/limits.h"
#include "net/gate.h"

enum { INLET_WAITING = 256, INLET_MS = 10000 /* for a server inside to take a connection */ };

/* A client that waits for a socket inside. */
struct inlet_visit {
    int fd;
    int32_t family;
    uint16_t port;
};

/* A socket inside that is being connected. */
struct inlet_try {
    struct inlet *inlet;
    struct inlet_visit visit;
    struct hub_source source;
    struct hub_timer timer;
    struct inlet_try *next, **link;
};

struct inlet_port {
    struct inlet *inlet;
    struct hub_source source;
    struct hub_timer pause; /* no descriptors are left for more */
    uint16_t inside;
};

struct inlet {
    struct gate *gate;
    struct hub_source door;
    struct inlet_port ports[LIMIT_PORTS];
    size_t port_count;
    struct inlet_visit visits[INLET_WAITING]; /* in the order in which the door answers */
    size_t first, count;
    struct inlet_try *tries;
    size_t try_count;
};

/* The door's descriptor is borrowed. */
int inlet_init(struct inlet *inlet, struct gate *gate, int door_fd, struct bawn_error *err);
/* A listening stream, borrowed, for a port inside. */
int inlet_listen(struct inlet *inlet, int fd, uint16_t inside, struct bawn_error *err);
void inlet_done(struct inlet *inlet);

#endif
