/* SPDX-License-Identifier: Apache-2.0 */
#include "net/inlet.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "net/connection.h"
#include "wire/net.h"
#include "wire/packet.h"

#include <errno.h>
#include <string.h>

enum { ACCEPTED_AT_ONCE = 16 };

/* Behind all others that wait. The client is closed where there is no room, or no door. */
static void ask_door(struct inlet *inlet, struct inlet_visit visit)
{
    struct net_door door = {.family = visit.family};

    if (inlet->count == INLET_WAITING ||
        send(inlet->door.fd, &door, sizeof(door), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        (void)close(visit.fd);
        return;
    }
    inlet->visits[(inlet->first + inlet->count++) % INLET_WAITING] = visit;
}

static int connect_inside(int fd, const struct inlet_visit *visit)
{
    struct sockaddr_storage address;
    struct host loopback;
    socklen_t size;

    (void)host_parse_address(visit->family == AF_INET ? "127.0.0.1" : "::1", &loopback);
    size = host_address(loopback.address, visit->port, &address);
    return connect(fd, (struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS ? -errno : 0;
}

static void serve(struct inlet *inlet, struct inlet_visit visit, int inside)
{
    int result = inside < 0 ? -EAFNOSUPPORT : connect_inside(inside, &visit);

    if (result == 0) {
        connection_start_joined(inlet->gate, visit.fd, inside);
        return;
    }
    if (inside >= 0)
        (void)close(inside);
    if (visit.family == AF_INET) {
        visit.family = AF_INET6;
        ask_door(inlet, visit);
        return;
    }
    (void)close(visit.fd);
}

static void door_ready(void *context, uint32_t events)
{
    struct inlet *inlet = context;
    struct net_door door;
    struct iovec parts[2] = {{.iov_base = &door, .iov_len = sizeof(door)}};
    int fd = -EBADF;
    ssize_t got = packet_receive(inlet->door.fd, parts, &fd, 1);
    struct inlet_visit visit;

    (void)events;
    if (got < 0) {
        if (got != -EAGAIN && got != -EINTR)
            hub_remove(inlet->gate->parts.hub, &inlet->door);
        return;
    }
    if (inlet->count == 0) {
        packet_drop_fds(&fd, 1);
        return;
    }
    visit = inlet->visits[inlet->first];
    inlet->first = (inlet->first + 1) % INLET_WAITING;
    inlet->count--;
    serve(inlet, visit, fd);
}

static void port_ready(void *context, uint32_t events)
{
    struct inlet_port *port = context;

    (void)events;
    for (unsigned i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int fd = accept4(port->source.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        ask_door(port->inlet, (struct inlet_visit){fd, AF_INET, port->inside});
    }
}

int inlet_init(struct inlet *inlet, struct gate *gate, int door_fd, struct bawn_error *err)
{
    memset(inlet, 0, sizeof(*inlet));
    inlet->gate = gate;
    inlet->door = (struct hub_source){
        .fd = door_fd, .events = EPOLLIN, .ready = door_ready, .context = inlet};
    return hub_add(gate->parts.hub, &inlet->door, err);
}

int inlet_listen(struct inlet *inlet, int fd, uint16_t inside, struct bawn_error *err)
{
    struct inlet_port *port = &inlet->ports[inlet->port_count];

    if (inlet->port_count == LIMIT_PORTS)
        return error_set(err, ENOSPC, "net.listeners", "more than %d published ports", LIMIT_PORTS);
    *port = (struct inlet_port){
        .inlet = inlet,
        .source = {.fd = fd, .events = EPOLLIN, .ready = port_ready, .context = port},
        .inside = inside};
    inlet->port_count++;
    return hub_add(inlet->gate->parts.hub, &port->source, err);
}

void inlet_done(struct inlet *inlet)
{
    for (size_t i = 0; i < inlet->port_count; i++)
        hub_remove(inlet->gate->parts.hub, &inlet->ports[i].source);
    hub_remove(inlet->gate->parts.hub, &inlet->door);
    while (inlet->count > 0)
        (void)close(inlet->visits[(inlet->first + --inlet->count) % INLET_WAITING].fd);
}
