/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All connections of a sandbox to the world: who is let in, and what they share.
 *
 * How it works: a listener hands over a connection, and with it where its client wanted to
 * go, for that is its local address. One to NET_PORT of the loopback is to a proxy: it
 * says itself where it wants to go. One to another port of the loopback is to that port of the
 * host's, if the policy lists it; else nobody is there. See net/connection.h for what becomes of
 * all others.
 */
#ifndef NET_GATE_H
#define NET_GATE_H

#include "net/flow.h"
#include "net/hub.h"
#include "net/pipes.h"
#include "net/tally.h"
#include "policy/model.h"
#include "wire/net.h"

#include <sys/socket.h>

struct approvals;
struct connection;
struct gate;
struct lookups;
struct names;
struct resolver;
struct who;

enum {
    GATE_LISTENERS = 2 + LIMIT_STEERED_PORTS + LIMIT_PORTS,
    GATE_HELD_BYTES = 64 * 1024 * 1024, /* what clients have said and nobody has judged yet */
};

/* Borrowed, but for the hub's place in it. */
struct gate_parts {
    struct hub *hub;
    const struct policy *policy;
    struct names *names;
    struct lookups *lookups;
    struct resolver *resolver;
    struct event_sender *events;
    struct who *who; /* NULL: nobody can be asked who a client is */
    struct approvals *approvals;
    size_t fds_max; /* descriptors that the process may have */
};

struct gate_listener {
    struct gate *gate;
    struct hub_source source;
};

struct gate {
    struct gate_parts parts;
    struct tally tally;
    struct pipes pipes;
    struct flow_place place;
    char scratch[FLOW_SCRATCH_BYTES];
    size_t held_bytes;
    struct connection *connections;
    size_t count, most; /* a few more are taken, and told that there are too many */
    size_t flows_most;  /* of datagrams */
    struct gate_listener listeners[GATE_LISTENERS];
    size_t listener_count;
    bool is_paused; /* no descriptors left for more */
    struct hub_timer pause;
    char login[NET_LOGIN_BYTES]; /* at the upstream proxy; "": none */
};

void gate_init(struct gate *gate, const struct gate_parts *parts);
/* A listening stream, borrowed. */
int gate_listen(struct gate *gate, int fd, struct bawn_error *err);
/* Ends all connections, and tells of them. */
void gate_done(struct gate *gate);

/* One of its connections is no more. */
void gate_freed(struct gate *gate);

#endif
