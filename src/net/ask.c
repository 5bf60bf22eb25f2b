/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of the proxy wants: the first byte tells the protocol. */
#include "net/connection.h"

#include <errno.h>
#include <string.h>

enum { SOCKS_5 = 5, SOCKS_4 = 4 };

/* Few bytes, to a client that has been told nothing before: they have room. */
static void say(struct connection *connection, const void *bytes, size_t size)
{
    if (end_write(&connection->client, bytes, size) != (ssize_t)size)
        connection_reset(connection);
}

/* Answers the greeting; true when the request may follow. */
static bool greet(struct connection *connection)
{
    const struct strbuf *held = &connection->held;
    size_t used = 0;
    bool is_open = false;
    enum socks_state state = socks_read_greeting(held->text, held->length, &used, &is_open);

    if (state == SOCKS_BROKEN) {
        connection_reset(connection);
        return false;
    }
    if (state == SOCKS_MORE)
        return false;
    say(connection, is_open ? "\5\0" : "\5\xff", 2);
    if (connection->stage == STAGE_OVER)
        return false;
    if (!is_open) {
        connection_end(connection);
        return false;
    }
    connection_drop_held(connection, used);
    connection->has_greeted = true;
    return true;
}

static void look_socks(struct connection *connection)
{
    struct socks_request request;
    enum socks_state state;
    size_t used = 0;

    connection->way = WAY_SOCKS;
    if (connection->socks_version == SOCKS_5 && !connection->has_greeted && !greet(connection))
        return;
    if (connection->held.length == 0)
        return;
    state = socks_read_request(connection->held.text, connection->held.length, &used, &request);
    if (state == SOCKS_MORE)
        return;
    if (state == SOCKS_BROKEN) {
        connection_reset(connection);
        return;
    }
    connection_drop_held(connection, used);
    connection->to = request.to;
    if (request.command != SOCKS_CONNECT)
        refuse_failed(connection, 501, SOCKS_NO_COMMAND, "only CONNECT is done");
    else if (request.wrong)
        refuse_failed(connection, 400, SOCKS_REFUSED, request.wrong);
    else
        reach_start(connection);
}

static void look_http(struct connection *connection)
{
    struct http_request request;
    const char *wrong;
    int result =
        http_read_request(connection->held.text, connection->held.length, 80, &request, &wrong);

    connection->speaks_http = true;
    if (result == 0)
        return;
    if (result < 0) {
        refuse_request(connection, -result, wrong);
        return;
    }
    if (!request.is_connect && !request.is_absolute) {
        refuse_request(connection, 400, "a proxy needs the whole address");
        return;
    }
    if (!http_may_follow(&request) || !http_is_same_host(&request.to, &connection->to))
        kept_leave_server(connection);
    connection->to = request.to;
    connection->way = request.is_connect ? WAY_CONNECT : WAY_HTTP;
    if (request.is_connect) {
        connection->is_kept = false;
        connection_drop_held(connection, request.head_bytes);
        connection->speaks_http = false;
    }
    reach_start(connection);
}

static void look(struct connection *connection)
{
    if (connection->socks_version == 0 && !connection->speaks_http &&
        (connection->held.text[0] == SOCKS_5 || connection->held.text[0] == SOCKS_4))
        connection->socks_version = (uint8_t)connection->held.text[0];
    if (connection->socks_version)
        look_socks(connection);
    else
        look_http(connection);
}

void ask_again(struct connection *connection)
{
    connection->stage = STAGE_ASK;
    if (connection->held.length)
        look_http(connection);
    ask_step(connection);
}

void ask_step(struct connection *connection)
{
    while (connection->stage == STAGE_ASK) {
        size_t before = connection->held.length;
        int result = connection_hold(connection,
                                     connection->socks_version ? SOCKS_REQUEST_MAX : HTTP_HEAD_MAX);

        if (result == 0)
            return;
        if (result < 0) {
            connection_end(connection);
            return;
        }
        /* A head is read when a line of it has ended, not for every byte that trickles in. */
        if (connection->speaks_http && connection->held.length < HTTP_HEAD_MAX &&
            !memchr(connection->held.text + before, '\n', connection->held.length - before))
            continue;
        look(connection);
    }
}
