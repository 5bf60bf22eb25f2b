/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a tunnel. They must be those of TLS or HTTP, and name the host that the
 * decision was on, or one that is allowed could stand in for one that is not. */
#include "net/connection.h"
#include "net/hello.h"

#include <string.h>

enum {
    FIRST_MS = 10000,
    REST_MS = 30000,
    /* A message of TLS in so many records, or a head. */
    OPENING_BYTES_MAX = HTTP_HEAD_MAX,
};

#define OPAQUE_HINT                                                                                \
    "if this host speaks something else than TLS and HTTP, give its rule 'opaque: true'"

/* Whether the host that the client names to the server will do. */
static bool agrees(const struct connection *connection, const struct host *named)
{
    const struct host *to = &connection->to;
    struct net_decision decision;

    if (to->kind == HOST_NAME)
        return named->kind == HOST_NAME && strcmp(named->name, to->name) == 0 &&
               named->port == to->port;
    /* An address was listed: a server may have any name there, but for those that are denied. */
    decide_net(connection->gate->parts.policy, named, &decision);
    return decision.access == ACCESS_ALLOW || decision.reason == NET_BY_UNLISTED;
}

static void check_hello(struct connection *connection, const struct hello *hello)
{
    const struct net_rule *rule = connection->decision.rule;
    struct host named = {.kind = HOST_NAME, .port = connection->to.port};

    memcpy(named.name, hello->name, sizeof(hello->name));
    if (hello->hides_name && !(rule && rule->ech))
        refuse_words(connection, "switch ECH off in the client, or give the rule 'ech: allow'",
                     "the client hides the name that it wants (ECH)");
    else if (!hello->name[0] && connection->to.kind == HOST_NAME)
        refuse_words(connection, OPAQUE_HINT, "the client does not name the host (SNI)");
    else if (hello->name[0] && !agrees(connection, &named))
        refuse_words(connection, NULL, "the client names another host (SNI '%s')", hello->name);
    else
        connection_join(connection);
}

/* The next request is decided on anew. */
static void go_on(struct connection *connection, const struct http_request *request)
{
    if (!http_may_follow(request))
        kept_leave_server(connection);
    reach_start(connection);
}

static void look_http(struct connection *connection)
{
    struct http_request request;
    const char *wrong;
    int result = http_read_request(connection->held.text, connection->held.length,
                                   connection->to.port, &request, &wrong);

    connection->speaks_http =
        connection->is_kept || memchr(connection->held.text, ' ', connection->held.length);
    if (result == 0)
        return;
    if (result < 0)
        refuse_request(connection, -result, wrong);
    else if (request.is_connect)
        refuse_request(connection, 405, "CONNECT is for proxies");
    else if (!agrees(connection, &request.to))
        refuse_words(connection, NULL, "the request is for another host ('%s')", request.to.name);
    else if (connection->is_kept)
        go_on(connection, &request);
    else
        exchange_start(connection);
}

static void look(struct connection *connection)
{
    struct hello hello;

    /* Who has spoken HTTP goes on with it. */
    if (connection->is_kept) {
        look_http(connection);
        return;
    }
    switch (hello_read(connection->held.text, connection->held.length, &hello)) {
    case HELLO_MORE:
        break;
    case HELLO_WHOLE:
        check_hello(connection, &hello);
        break;
    case HELLO_BROKEN:
        refuse_words(connection, OPAQUE_HINT, "the client's first message of TLS is broken");
        break;
    case HELLO_FOREIGN:
        if (http_may_be_request(connection->held.text, connection->held.length))
            look_http(connection);
        else
            refuse_words(connection, OPAQUE_HINT, "the client speaks neither TLS nor HTTP");
        break;
    }
}

void opening_start(struct connection *connection)
{
    connection->stage = STAGE_OPENING;
    connection_set_deadline(connection, FIRST_MS);
    if (connection->held.length)
        look(connection);
    opening_step(connection);
}

void opening_again(struct connection *connection)
{
    connection->stage = STAGE_OPENING;
    if (connection->held.length) {
        connection_set_deadline(connection, REST_MS);
        look(connection);
    }
    opening_step(connection);
}

void opening_step(struct connection *connection)
{
    while (connection->stage == STAGE_OPENING) {
        size_t before = connection->held.length;
        int result = connection_hold(connection, OPENING_BYTES_MAX);

        if (result == 0)
            return;
        if (result < 0) {
            if (before)
                connection_reset(connection);
            else
                connection_end(connection);
            return;
        }
        if (before == 0)
            connection_set_deadline(connection, REST_MS);
        if (connection->speaks_http && connection->held.length < OPENING_BYTES_MAX &&
            !memchr(connection->held.text + before, '\n', connection->held.length - before))
            continue;
        look(connection);
    }
}
