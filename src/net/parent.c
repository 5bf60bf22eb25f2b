/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy outside that stands between us and the servers (sandbox.network.upstream_proxy).
 *
 * How it works: it is dialled instead of the server, and asked for a tunnel to it by CONNECT. From
 * then on its connection is the server's: all that is checked of the client's bytes is checked as
 * ever. A name is sent as a name, for it may be that only the proxy can look it up. SECURITY: where
 * that leads to is not seen from here; an address that a client gave was vetted before.
 */
#include "net/answer.h"
#include "net/connection.h"
#include "net/lookup.h"
#include "policy/proxy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENDED "the upstream proxy ended before it had answered"

enum { LOOKUP_MS = 30000, ANSWER_MS = 30000, ANSWER_BYTES_MAX = 16 * 1024 };

__attribute__((format(printf, 3, 4))) static void fail(struct connection *connection, int status,
                                                       const char *format, ...)
{
    char why[240];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    end_reset(connection->gate->parts.hub, &connection->server);
    refuse_failed(connection, status, SOCKS_FAILED, why);
}

static void fail_status(struct connection *connection, int status)
{
    if (status == 407 && connection->gate->login[0])
        fail(connection, 502,
             "the upstream proxy does not take the login in ~/.config/bawn/proxy-login (status "
             "407)");
    else if (status == 407)
        fail(connection, 502,
             "the upstream proxy wants a login (status 407): the user writes USER:PASSWORD to "
             "~/.config/bawn/proxy-login, mode 600");
    else
        fail(connection, 502, "the upstream proxy refuses the connection (status %d)", status);
}

/* What is behind the head of the answer stays in the socket: it is the server's. False: it was
 * refused. */
static bool take_answer(struct connection *connection, size_t before, struct answer *ret_head)
{
    struct strbuf *answer = &connection->answer;
    size_t bytes = answer->length - before;
    int result = answer_read(answer->text, answer->length, true, ret_head);

    if (result < 0 || (result == 0 && answer->length >= ANSWER_BYTES_MAX)) {
        fail(connection, 502, "the upstream proxy does not answer in HTTP/1");
        return false;
    }
    if (result > 0 && ret_head->status != 200) {
        fail_status(connection, ret_head->status);
        return false;
    }
    if (result > 0)
        bytes = ret_head->head_bytes - before;
    if (end_read(&connection->server, connection->gate->scratch, bytes) == (ssize_t)bytes)
        return true;
    fail(connection, 502, ENDED);
    return false;
}

static void read_answer(struct connection *connection)
{
    char *scratch = connection->gate->scratch;
    struct strbuf *answer = &connection->answer;
    size_t before = answer->length;
    ssize_t got = end_peek(&connection->server, scratch, ANSWER_BYTES_MAX - before);
    struct answer head = {0};

    if (got == -EAGAIN)
        return;
    if (got > 0)
        strbuf_add_bytes(answer, scratch, (size_t)got);
    if (got <= 0 || answer->failed) {
        fail(connection, 502, ENDED);
    } else if (take_answer(connection, before, &head) && head.head_bytes) {
        strbuf_done(answer);
        reach_arrived(connection);
    }
}

void parent_step(struct connection *connection)
{
    if (connection->client.is_broken) {
        connection_end(connection);
        return;
    }
    while (connection->stage == STAGE_PARENT && connection->server.can_read)
        read_answer(connection);
}

void parent_late(struct connection *connection)
{
    fail(connection, 504, "the upstream proxy has not answered in time");
}

static void ask(struct connection *connection)
{
    struct strbuf *errand = &connection->errand;

    connection->stage = STAGE_PARENT;
    connection->server.source.ready = reach_server_ready;
    connection->server.source.context = connection;
    connection_set_deadline(connection, ANSWER_MS);
    /* The first bytes of a connection: they have room. */
    if (end_write(&connection->server, errand->text, errand->length) != (ssize_t)errand->length)
        fail(connection, 502, ENDED);
    else
        parent_step(connection);
    strbuf_done(errand);
}

static void dialled(void *context, int result)
{
    struct connection *connection = context;

    connection_enter(connection);
    if (result < 0)
        fail(connection, result == -ETIMEDOUT ? 504 : 502,
             "the upstream proxy does not answer (%s)", strerror(-result));
    else
        ask(connection);
    connection_leave(connection);
}

static void looked_up(void *context, const struct lookup_answer *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    connection->lookup = NULL;
    if (answer->count)
        reach_dial(connection, answer->addresses, answer->count, answer->addresses[0].port,
                   dialled);
    else
        fail(connection, 502, "the upstream proxy's name has no address (%s)",
             answer->failure ? answer->failure : "none is known");
    connection_leave(connection);
}

static void look_up(struct connection *connection, const struct host *proxy)
{
    struct lookup *lookup = NULL;

    connection_set_deadline(connection, LOOKUP_MS);
    if (lookup_start_own(connection->gate->parts.lookups, proxy, looked_up, connection, &lookup,
                         NULL) < 0)
        fail(connection, 502, "the upstream proxy's name cannot be looked up");
    else if (lookup)
        connection->lookup = lookup;
}

/* As RFC 7617 has it: the login in base 64. */
static void put_login(struct strbuf *out, const char *login)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(login);

    if (length == 0)
        return;
    strbuf_add(out, "Proxy-Authorization: Basic ");
    for (size_t i = 0; i < length; i += 3) {
        size_t count = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        char text[] = "====";

        for (size_t k = 0; k < count; k++)
            bits |= (uint32_t)(unsigned char)login[i + k] << (16 - 8 * k);
        for (size_t k = 0; k <= count; k++)
            text[k] = digits[(bits >> (18 - 6 * k)) & 63];
        strbuf_add(out, text);
    }
    strbuf_add(out, "\r\n");
}

void parent_start(struct connection *connection, const struct host *target)
{
    char host[TALLY_HOST_BYTES];
    struct host proxy, loopback[2];
    unsigned bits;

    tally_host(target, host);
    strbuf_addf(&connection->errand, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", host, host);
    put_login(&connection->errand, connection->gate->login);
    strbuf_add(&connection->errand, "\r\n");
    if (connection->errand.failed || !proxy_find(connection->gate->parts.policy, &proxy)) {
        connection_reset(connection);
    } else if (proxy.kind == HOST_ADDRESS) {
        reach_dial(connection, &proxy, 1, proxy.port, dialled);
    } else if (host_special(&proxy, &bits)) {
        (void)host_parse_address("127.0.0.1", &loopback[0]);
        (void)host_parse_address("::1", &loopback[1]);
        reach_dial(connection, loopback, 2, proxy.port, dialled);
    } else {
        look_up(connection, &proxy);
    }
}
