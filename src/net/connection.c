/* SPDX-License-Identifier: Apache-2.0 */
#include "net/connection.h"

#include "base/cleanup.h"
#include "net/lookup.h"
#include "policy/build.h"

#include <string.h>

enum { HEAD_MS = 30000, REMAINS_MS = 10000 };

static void ready(void *context, uint32_t events);

static void add_to_gate(struct connection *connection)
{
    struct gate *gate = connection->gate;

    connection->next = gate->connections;
    connection->link = &gate->connections;
    if (connection->next)
        connection->next->link = &connection->next;
    gate->connections = connection;
    gate->count++;
}

/* A connection that the gate has, and that its caller has entered; NULL, and the descriptor is
 * closed. */
static struct connection *take_client(struct gate *gate, int fd, enum way way)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    if (!connection) {
        close(fd);
        return NULL;
    }
    connection->gate = gate;
    connection->way = way;
    connection->server.source.fd = -EBADF;
    connection->client.source = (struct hub_source){
        .fd = fd, .events = FLOW_EVENTS | EPOLLET, .ready = ready, .context = connection};
    flow_init(&connection->up, &connection->client, &connection->server);
    flow_init(&connection->down, &connection->server, &connection->client);
    add_to_gate(connection);
    end_tune(fd);
    connection_enter(connection);
    connection->client.can_write = true;
    if (hub_add(gate->parts.hub, &connection->client.source, NULL) < 0)
        connection_reset(connection);
    return connection;
}

void connection_start(struct gate *gate, int fd, const struct host *to)
{
    struct connection *connection = take_client(gate, fd, to ? WAY_DIRECT : WAY_PROXY);

    if (!connection)
        return;
    if (connection->stage != STAGE_OVER && to)
        connection->to = *to;
    if (connection->stage != STAGE_OVER && gate->count > gate->most) {
        /* Who waited until another one ends could wait for ever. */
        refuse_crowd(connection);
    } else if (connection->stage != STAGE_OVER && to) {
        reach_start(connection);
    } else if (connection->stage != STAGE_OVER) {
        connection_set_deadline(connection, HEAD_MS);
    }
    connection_leave(connection);
}

void connection_start_joined(struct gate *gate, int client_fd, int server_fd)
{
    struct connection *connection = take_client(gate, client_fd, WAY_DIRECT);

    if (!connection || connection->stage == STAGE_OVER) {
        close(server_fd);
    } else {
        end_tune(server_fd);
        connection->server.source = (struct hub_source){.fd = server_fd,
                                                        .events = FLOW_EVENTS | EPOLLET,
                                                        .ready = reach_server_ready,
                                                        .context = connection};
        if (hub_add(gate->parts.hub, &connection->server.source, NULL) < 0)
            connection_reset(connection);
        else
            connection_join(connection);
    }
    if (connection)
        connection_leave(connection);
}

void connection_enter(struct connection *connection)
{
    connection->depth++;
}

void connection_leave(struct connection *connection)
{
    /* Here, or each of many requests in a row would be judged inside the one before. */
    while (connection->depth == 1 && connection->stage == STAGE_KEPT)
        kept_step(connection);
    if (--connection->depth || connection->stage != STAGE_OVER)
        return;
    free(connection);
}

static void drop_all_held(struct connection *connection)
{
    connection->gate->held_bytes -= connection->held.length;
    strbuf_done(&connection->held);
}

void connection_drop_held(struct connection *connection, size_t bytes)
{
    struct strbuf *held = &connection->held;

    if (bytes == held->length) {
        drop_all_held(connection);
        return;
    }
    connection->gate->held_bytes -= bytes;
    held->length -= bytes;
    memmove(held->text, held->text + bytes, held->length + 1);
}

int connection_hold(struct connection *connection, size_t most)
{
    struct gate *gate = connection->gate;
    struct strbuf *held = &connection->held;
    ssize_t got;

    if (!connection->client.can_read)
        return 0;
    if (held->length >= most || gate->held_bytes >= GATE_HELD_BYTES)
        return -1;
    most -= held->length;
    got = end_read(&connection->client, gate->scratch,
                   most < sizeof(gate->scratch) ? most : sizeof(gate->scratch));
    if (got <= 0)
        return got == -EAGAIN ? 0 : -1;
    strbuf_add_bytes(held, gate->scratch, (size_t)got);
    if (held->failed)
        return -1;
    gate->held_bytes += (size_t)got;
    return 1;
}

/* Closes and frees all but the connection itself, which its callers still look at. */
static void shed(struct connection *connection)
{
    struct gate *gate = connection->gate;

    hub_stop_timer(gate->parts.hub, &connection->timer);
    who_cancel(&connection->who);
    approval_cancel(&connection->approval);
    free(take_ptr(&connection->asked));
    free(take_ptr(&connection->approved));
    refuse_end(connection);
    if (connection->lookup)
        lookup_cancel(take_ptr(&connection->lookup));
    dial_stop(&connection->dial);
    if (connection->is_reached)
        tally_reached(&gate->tally, &connection->to, connection->up.moved, connection->down.moved);
    flow_done(&connection->up, &gate->pipes);
    flow_done(&connection->down, &gate->pipes);
    strbuf_done(&connection->answer);
    strbuf_done(&connection->errand);
    drop_all_held(connection);
    end_close(gate->parts.hub, &connection->client);
    end_close(gate->parts.hub, &connection->server);
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    connection->stage = STAGE_OVER;
    gate_freed(gate);
}

void connection_end(struct connection *connection)
{
    if (connection->stage != STAGE_OVER)
        shed(connection);
}

void connection_reset(struct connection *connection)
{
    end_reset(connection->gate->parts.hub, &connection->client);
    end_reset(connection->gate->parts.hub, &connection->server);
    connection_end(connection);
}

void connection_stop(struct connection *connection)
{
    connection_enter(connection);
    connection_reset(connection);
    connection_leave(connection);
}

static void ring(void *context)
{
    struct connection *connection = context;

    connection_enter(connection);
    refuse_late(connection);
    connection_leave(connection);
}

void connection_set_deadline(struct connection *connection, int after_ms)
{
    if (after_ms < 0)
        hub_stop_timer(connection->gate->parts.hub, &connection->timer);
    else
        hub_set_timer(connection->gate->parts.hub, &connection->timer, after_ms, ring, connection);
}

/*
 * When one side is gone, what it had sent still goes to the other, as it would have
 * without us; but a side that does not read does not keep the other's remains for ever.
 */
static void tunnel_step(struct connection *connection)
{
    const struct flow_place *place = &connection->gate->place;
    struct flow *up = &connection->up, *down = &connection->down;
    enum flow_state up_state = flow_move(up, place);
    enum flow_state down_state = flow_move(down, place);

    if (up_state == FLOW_ENDED && down_state == FLOW_ENDED) {
        connection_end(connection);
        return;
    }
    if (up_state != FLOW_BROKEN && down_state != FLOW_BROKEN && !connection->client.is_broken &&
        !connection->server.is_broken)
        return;
    if (!flow_has_rest(up) && !flow_has_rest(down))
        connection_reset(connection);
    else if (!connection->timer.is_set)
        connection_set_deadline(connection, REMAINS_MS);
}

void connection_join(struct connection *connection)
{
    struct strbuf *held = &connection->held;

    connection_set_deadline(connection, -1);
    connection->stage = STAGE_TUNNEL;
    connection->gate->held_bytes -= held->length;
    if (connection->up.front.length == 0) {
        connection->up.front = *held;
        *held = (struct strbuf){0};
    } else {
        strbuf_add_bytes(&connection->up.front, held->text ? held->text : "", held->length);
        strbuf_done(held);
    }
    if (connection->up.front.failed)
        connection_reset(connection);
    else
        tunnel_step(connection);
}

bool connection_is_opaque(const struct connection *connection)
{
    const struct net_decision *decision = &connection->decision;

    /* A port of the host's that is listed has one service, whatever it is called. */
    if (decision->rule || decision->reason == NET_BY_HOST_PORT)
        return decision->reason == NET_BY_HOST_PORT || decision->rule->opaque;
    return policy_number(connection->gate->parts.policy, SETTING_NETWORK_MODE) == NETWORK_ISOLATED;
}

void connection_step(struct connection *connection)
{
    if (connection->stage == STAGE_ASK || connection->stage == STAGE_OPENING)
        kept_watch_server(connection);
    switch (connection->stage) {
    case STAGE_ASK:
        ask_step(connection);
        break;
    case STAGE_REACH:
        if (connection->client.is_broken)
            connection_end(connection);
        break;
    case STAGE_APPROVE:
        approve_step(connection);
        break;
    case STAGE_PARENT:
        parent_step(connection);
        break;
    case STAGE_OPENING:
        if (connection->server.is_broken)
            connection_reset(connection);
        else
            opening_step(connection);
        break;
    case STAGE_EXCHANGE:
        exchange_step(connection);
        break;
    case STAGE_TUNNEL:
        tunnel_step(connection);
        break;
    case STAGE_KEPT:
    case STAGE_REFUSED:
        break;
    case STAGE_UNHEARD:
        unheard_step(connection);
        break;
    case STAGE_FAREWELL:
        farewell_step(connection);
        break;
    case STAGE_OVER:
        break;
    }
}

const char *connection_way_name(const struct connection *connection)
{
    switch (connection->way) {
    case WAY_SOCKS:
        return "socks";
    case WAY_HTTP:
    case WAY_CONNECT:
    case WAY_PROXY:
        return "http";
    case WAY_DIRECT:
        break;
    }
    return "connect";
}

static void ready(void *context, uint32_t events)
{
    struct connection *connection = context;

    connection_enter(connection);
    end_note(&connection->client, events);
    connection_step(connection);
    connection_leave(connection);
}
