/* SPDX-License-Identifier: Apache-2.0 */
/* To the server: what the rules say, the addresses that the name has, and the first that answers.
 */
#include "net/connection.h"

#include "base/cleanup.h"
#include "net/lookup.h"
#include "net/names.h"
#include "net/own.h"
#include "policy/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LOOKUP_MS = 30000 };

void reach_server_ready(void *context, uint32_t events)
{
    struct connection *connection = context;

    connection_enter(connection);
    end_note(&connection->server, events);
    connection_step(connection);
    connection_leave(connection);
}

static void grant(struct connection *connection)
{
    static const char granted[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    uint8_t answer[SOCKS_ANSWER_BYTES];
    const void *bytes = granted;
    size_t size = 0;

    if (connection->way == WAY_CONNECT)
        size = sizeof(granted) - 1;
    if (connection->way == WAY_SOCKS) {
        size = socks_write_answer(connection->socks_version, SOCKS_GRANTED, answer);
        bytes = answer;
    }
    /* Few bytes, and nearly the first: they have room. */
    if (size && end_write(&connection->client, bytes, size) != (ssize_t)size) {
        connection_reset(connection);
        return;
    }
    connection->is_granted = true;
    if (connection_is_opaque(connection))
        connection_join(connection);
    else
        opening_start(connection);
}

static void tell_failed(struct connection *connection, int error)
{
    char why[128];
    bool is_late = error == -ETIMEDOUT;

    (void)snprintf(why, sizeof(why), "the server does not answer (%s)", strerror(-error));
    refuse_failed(connection, is_late ? 504 : 502,
                  error == -ECONNREFUSED   ? SOCKS_NO_LISTENER
                  : error == -ENETUNREACH  ? SOCKS_NO_NETWORK
                  : error == -EHOSTUNREACH ? SOCKS_NO_HOST
                  : is_late                ? SOCKS_NO_HOST
                                           : SOCKS_FAILED,
                  why);
}

void reach_arrived(struct connection *connection)
{
    connection->is_reached = true;
    connection->server.source.ready = reach_server_ready;
    connection->server.source.context = connection;
    if (connection->way == WAY_HTTP || connection->is_kept)
        exchange_start(connection);
    else
        grant(connection);
}

static void dialled(void *context, int result)
{
    struct connection *connection = context;

    connection_enter(connection);
    if (result < 0)
        tell_failed(connection, result);
    else
        reach_arrived(connection);
    connection_leave(connection);
}

void reach_dial(struct connection *connection, const struct host *addresses, size_t count,
                uint16_t port, void (*done)(void *context, int result))
{
    connection->dial = (struct dial){.hub = connection->gate->parts.hub,
                                     .end = &connection->server,
                                     .port = port,
                                     .done = done,
                                     .context = connection};
    connection_set_deadline(connection, -1);
    for (size_t i = 0; i < count; i++)
        dial_add(&connection->dial, &addresses[i]);
    dial_start(&connection->dial);
}

static void dial_all(struct connection *connection, const struct host *addresses, size_t count)
{
    reach_dial(connection, addresses, count, connection->to.port, dialled);
}

/* Addresses that were vetted: a proxy takes one. SECURITY: who allowed a name has not allowed what
 * must be listed by its address. */
static void go_to(struct connection *connection, const struct host *addresses, size_t count)
{
    const struct policy *policy = connection->gate->parts.policy;

    if (proxy_serves(policy, &connection->to) && proxy_serves(policy, &addresses[0])) {
        parent_start(connection, &addresses[0]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct net_decision decision;

        if (own_is_barred(policy, &connection->to, &addresses[i],
                          approve_holds(connection, &addresses[i]), &decision)) {
            refuse_decision(connection, &decision);
            return;
        }
    }
    dial_all(connection, addresses, count);
}

/* An address of the name, which a rule asks about. */
static void ask_about(struct connection *connection, const struct lookup_answer *answer)
{
    connection->asked = malloc(sizeof(*connection->asked));
    if (!connection->asked) {
        connection_reset(connection);
        return;
    }
    *connection->asked = answer->asked;
    approve_start(connection, &answer->decision, NULL);
}

static void looked_up(void *context, const struct lookup_answer *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    connection->lookup = NULL;
    if (answer->count)
        go_to(connection, answer->addresses, answer->count);
    else if (answer->end == LOOKUP_ASKS)
        ask_about(connection, answer);
    else if (answer->end == LOOKUP_BARRED)
        refuse_decision(connection, &answer->decision);
    else
        refuse_failed(connection, 502, SOCKS_NO_HOST,
                      answer->failure ? answer->failure : "the name has no address");
    connection_leave(connection);
}

static void look_up(struct connection *connection)
{
    struct lookups *lookups = connection->gate->parts.lookups;
    bool is_approved = connection->decision.access == ACCESS_ASK;
    struct lookup *lookup = NULL;

    connection_set_deadline(connection, LOOKUP_MS);
    if ((is_approved ? lookup_start_approved : lookup_start)(lookups, &connection->to, looked_up,
                                                             connection, &lookup, NULL) < 0)
        refuse_failed(connection, 502, SOCKS_FAILED, "the name cannot be looked up");
    else if (lookup)
        connection->lookup = lookup;
}

/* The name that an address stands for, if it was handed out for one. */
static bool find_name(struct connection *connection)
{
    char name[LIMIT_HOST_BYTES];
    struct host *to = &connection->to;

    if (to->kind != HOST_ADDRESS || !names_is_synthetic(to))
        return true;
    if (!names_find(connection->gate->parts.names, to, name))
        return false;
    to->kind = HOST_NAME;
    memcpy(to->name, name, sizeof(name));
    return true;
}

static bool is_loopback_name(const struct connection *connection)
{
    const struct net_decision *decision = &connection->decision;

    return connection->to.kind == HOST_NAME &&
           (decision->reason == NET_BY_HOST_PORT ||
            (decision->special && strcmp(decision->special, "loopback") == 0));
}

/* The rules allow it, or somebody did. */
static void go_on(struct connection *connection)
{
    struct host loopback[2];

    if (kept_has_server(connection)) {
        exchange_start(connection);
    } else if (is_loopback_name(connection)) {
        (void)host_parse_address("127.0.0.1", &loopback[0]);
        (void)host_parse_address("::1", &loopback[1]);
        dial_all(connection, loopback, 2);
    } else if (connection->to.kind == HOST_ADDRESS) {
        go_to(connection, &connection->to, 1);
    } else if (proxy_serves(connection->gate->parts.policy, &connection->to) &&
               !lookup_is_pinned(connection->gate->parts.lookups, &connection->to)) {
        parent_start(connection, &connection->to);
    } else {
        look_up(connection);
    }
}

/* who: the client, if it is known; or NULL. */
static void go(struct connection *connection, const struct net_answer *who)
{
    const struct net_decision *decision = &connection->decision;

    if (decision->access == ACCESS_ALLOW ||
        (decision->access == ACCESS_ASK && approve_holds(connection, &connection->to)))
        go_on(connection);
    else if (decision->access == ACCESS_ASK)
        approve_start(connection, decision, who);
    else
        refuse_decision(connection, decision);
}

void reach_approved(struct connection *connection)
{
    autofree struct host *address = take_ptr(&connection->asked);

    connection->stage = STAGE_REACH;
    if (address)
        go_to(connection, address, 1);
    else
        go_on(connection);
}

/* Rules for this one program count, too. */
static void on_known(void *context, const struct net_answer *answer)
{
    struct connection *connection = context;
    struct gate *gate = connection->gate;
    struct who_programs programs = {.who = gate->parts.who, .programs = answer->programs};
    struct net_asker asker = {.is_by = who_is_by, .context = &programs};

    connection_enter(connection);
    decide_net_by(gate->parts.policy, &connection->to, &asker, &connection->decision);
    go(connection, answer);
    connection_leave(connection);
}

void reach_start(struct connection *connection)
{
    struct gate *gate = connection->gate;

    connection->stage = STAGE_REACH;
    if (!find_name(connection)) {
        connection->decision =
            (struct net_decision){.access = ACCESS_DENY, .reason = NET_BY_UNLISTED};
        refuse_words(connection, "look the name up again",
                     "no name has this address, or not any more");
        return;
    }
    decide_net(gate->parts.policy, &connection->to, &connection->decision);
    if (!connection->decision.for_program || !gate->parts.who) {
        go(connection, NULL);
        return;
    }
    connection_set_deadline(connection, -1);
    connection->who = (struct who_request){.done = on_known, .context = connection};
    who_ask(gate->parts.who, &connection->who, connection->client.source.fd, true);
}
