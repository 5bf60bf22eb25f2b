/* SPDX-License-Identifier: Apache-2.0 */
#include "net/inlet.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "net/connection.h"
#include "wire/net.h"
#include "wire/packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTED_AT_ONCE = 16, PAUSE_MS = 100 };

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
    end_tune_local(fd);
    return connect(fd, (struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS ? -errno : 0;
}

/* Nobody listens there: at the other loopback address perhaps. */
static void go_on(struct inlet *inlet, struct inlet_visit visit)
{
    if (visit.family == AF_INET) {
        visit.family = AF_INET6;
        ask_door(inlet, visit);
        return;
    }
    (void)close(visit.fd);
}

/* Its sockets are the caller's then. */
static void end_try(struct inlet_try *try)
{
    struct inlet *inlet = try->inlet;

    hub_stop_timer(inlet->gate->parts.hub, &try->timer);
    hub_remove(inlet->gate->parts.hub, &try->source);
    *try->link = try->next;
    if (try->next)
        try->next->link = try->link;
    inlet->try_count--;
    free(try);
}

static void drop_try(struct inlet_try *try)
{
    (void)close(try->visit.fd);
    (void)close(try->source.fd);
    end_try(try);
}

static void ring(void *context)
{
    drop_try(context);
}

/* KERNEL: also on loopback, a socket that does not wait hears only later that nobody is there. */
static void try_ready(void *context, uint32_t events)
{
    struct inlet_try *try = context;
    struct inlet *inlet = try->inlet;
    struct inlet_visit visit = try->visit;
    int inside = try->source.fd;

    end_try(try);
    if (!(events & (EPOLLERR | EPOLLHUP))) {
        connection_start_joined(inlet->gate, visit.fd, inside);
        return;
    }
    (void)close(inside);
    go_on(inlet, visit);
}

static void start_try(struct inlet *inlet, struct inlet_visit visit, int inside)
{
    struct hub *hub = inlet->gate->parts.hub;
    struct inlet_try *try = calloc(1, sizeof(*try));

    if (!try) {
        (void)close(inside);
        (void)close(visit.fd);
        return;
    }
    *try = (struct inlet_try){
        .inlet = inlet,
        .visit = visit,
        .source = {.fd = inside, .events = EPOLLOUT, .ready = try_ready, .context = try},
        .next = inlet->tries,
        .link = &inlet->tries};
    if (try->next)
        try->next->link = &try->next;
    inlet->tries = try;
    inlet->try_count++;
    hub_set_timer(hub, &try->timer, INLET_MS, ring, try);
    if (hub_add(hub, &try->source, NULL) < 0)
        drop_try(try);
}

static void serve(struct inlet *inlet, struct inlet_visit visit, int inside)
{
    if (inside >= 0 && connect_inside(inside, &visit) == 0) {
        start_try(inlet, visit, inside);
        return;
    }
    if (inside >= 0)
        (void)close(inside);
    go_on(inlet, visit);
}

static void close_visits(struct inlet *inlet)
{
    while (inlet->count > 0)
        (void)close(inlet->visits[(inlet->first + --inlet->count) % INLET_WAITING].fd);
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
        if (got == -EAGAIN || got == -EINTR)
            return;
        /* Nobody lets them in any more. */
        hub_remove(inlet->gate->parts.hub, &inlet->door);
        close_visits(inlet);
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

/* Each of them has two sockets, or will. */
static bool is_full(const struct inlet *inlet)
{
    return inlet->gate->count + inlet->count + inlet->try_count >= inlet->gate->most;
}

static void resume(void *context)
{
    struct inlet_port *port = context;

    (void)hub_change(port->inlet->gate->parts.hub, &port->source, EPOLLIN);
}

/* Somebody waits whom nobody can let in: that is told again and again otherwise. */
static void pause_port(struct inlet_port *port)
{
    struct hub *hub = port->inlet->gate->parts.hub;

    (void)hub_change(hub, &port->source, 0);
    hub_set_timer(hub, &port->pause, PAUSE_MS, resume, port);
}

static void port_ready(void *context, uint32_t events)
{
    struct inlet_port *port = context;

    (void)events;
    for (unsigned i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int fd = accept4(port->source.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            pause_port(port);
        if (fd < 0)
            return;
        if (is_full(port->inlet))
            (void)close(fd);
        else
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
    struct hub *hub = inlet->gate->parts.hub;

    for (size_t i = 0; i < inlet->port_count; i++) {
        hub_stop_timer(hub, &inlet->ports[i].pause);
        hub_remove(hub, &inlet->ports[i].source);
    }
    hub_remove(hub, &inlet->door);
    while (inlet->tries)
        drop_try(inlet->tries);
    close_visits(inlet);
}
