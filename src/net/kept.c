/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behind an answer: the client's next request on the same connection, and the server's end of the
 * last one.
 *
 * How it works: each request is read, judged and decided on like the first. The connection to the
 * server is used for another one only when that goes to the same host, and nobody can see more or
 * fewer requests on it than we do: all before it had no body, and were answered to the last
 * byte. A server that ends it just then has seen nothing that cannot be asked for again.
 */
#include "net/connection.h"

#include <errno.h>
#include <string.h>

enum { KEPT_MS = 30000 };

void kept_leave_server(struct connection *connection)
{
    if (connection->server.source.fd < 0)
        return;
    if (connection->is_reached)
        tally_reached(&connection->gate->tally, &connection->to, connection->up.moved,
                      connection->down.moved);
    connection->is_reached = connection->is_server_kept = false;
    connection->up.moved = connection->down.moved = 0;
    end_close(connection->gate->parts.hub, &connection->server);
    connection->server = (struct end){.source = {.fd = -EBADF}};
}

/* SECURITY: what a server says unasked would be taken for the next answer. */
bool kept_has_server(struct connection *connection)
{
    char byte;

    if (!connection->is_server_kept)
        return false;
    if (connection->server.is_broken || connection->server.has_ended ||
        (connection->server.can_read && end_peek(&connection->server, &byte, 1) != -EAGAIN))
        kept_leave_server(connection);
    return connection->is_server_kept;
}

bool kept_is_worth_it(const struct connection *connection)
{
    const struct gate *gate = connection->gate;

    /* Descriptors are for those who use them. */
    return connection->keeps_client && connection->body.is_done && !connection->client.is_broken &&
           gate->count <= gate->most / 2;
}

static void renew_flow(struct flow *flow, struct pipes *pipes)
{
    uint64_t moved = flow->moved;

    flow_done(flow, pipes);
    flow_init(flow, flow->from, flow->to);
    flow->moved = moved;
}

void kept_watch_server(struct connection *connection)
{
    if (!connection->is_server_kept || kept_has_server(connection))
        return;
    /* Who speaks to a server, and not to a proxy, sees its end. */
    if (connection->way != WAY_HTTP && connection->held.length == 0)
        connection_end(connection);
}

void kept_step(struct connection *connection)
{
    renew_flow(&connection->up, &connection->gate->pipes);
    renew_flow(&connection->down, &connection->gate->pipes);
    strbuf_done(&connection->answer);
    connection->is_kept = true;
    if (!connection->keeps_server || connection->is_up_over)
        kept_leave_server(connection);
    else
        connection->is_server_kept = true;
    connection->is_answered = connection->is_up_over = false;
    connection->interim = 0;
    connection_set_deadline(connection, KEPT_MS);
    /* Its end may have come with its answer, and is told of once. */
    kept_watch_server(connection);
    if (connection->stage == STAGE_OVER)
        return;
    if (connection->way == WAY_HTTP)
        ask_again(connection);
    else
        opening_again(connection);
}

bool kept_retry(struct connection *connection)
{
    if (!connection->asked_bytes)
        return false;
    kept_leave_server(connection);
    renew_flow(&connection->up, &connection->gate->pipes);
    connection->is_up_over = false;
    connection->asked_bytes = 0;
    reach_start(connection);
    return true;
}
