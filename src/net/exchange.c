/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of HTTP and its answer.
 *
 * How it works: the head that was judged is written anew, its body is passed on as far as
 * it goes by its own word, and so is the answer. What becomes of the connections then is in
 * net/kept.c. SECURITY: what a client sends behind its request is another request, and judged like
 * the first; what a server sends behind its answer goes nowhere.
 */
#include "net/answer.h"
#include "net/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { INTERIM_MAX = 16 };

/* From now on the server gets nothing more; its answer may still come. */
static void end_up(struct connection *connection)
{
    flow_done(&connection->up, &connection->gate->pipes);
    connection->is_up_over = true;
}

/* The body has no end that can be told for sure. What the server has of it is no request. */
static void break_body(struct connection *connection)
{
    end_reset(connection->gate->parts.hub, &connection->server);
    if (connection->is_answered)
        connection_reset(connection);
    else
        refuse_request(connection, 400, "chunks that are none");
}

/* What comes behind the body. */
static void hold_rest(struct connection *connection, const char *bytes, size_t size)
{
    if (!connection->keeps_client || size == 0)
        return;
    strbuf_add_bytes(&connection->held, bytes, size);
    if (connection->held.failed)
        connection->keeps_client = false;
    else
        connection->gate->held_bytes += size;
}

/* Passes on what there is of the body. */
static void move_body(struct connection *connection)
{
    char *scratch = connection->gate->scratch;
    struct end *client = &connection->client;

    for (size_t turn = 0; !connection->is_up_over; turn++) {
        int drained = flow_drain(&connection->up, &connection->gate->pipes);
        ssize_t got;
        long taken;

        if (drained < 0)
            end_up(connection);
        if (drained <= 0 || connection->body.is_done || !client->can_read)
            return;
        if (turn * FLOW_SCRATCH_BYTES >= FLOW_TURN_BYTES) {
            (void)hub_change(connection->gate->parts.hub, &client->source, client->source.events);
            return;
        }
        got = end_read(client, scratch, FLOW_SCRATCH_BYTES);
        if (got == -EAGAIN)
            continue;
        if (got <= 0) {
            connection_reset(connection);
            return;
        }
        taken = http_body_take(&connection->body, scratch, (size_t)got);
        if (taken < 0) {
            break_body(connection);
            return;
        }
        if (flow_send(&connection->up, scratch, (size_t)taken) < 0)
            end_up(connection);
        hold_rest(connection, scratch + taken, (size_t)(got - taken));
    }
}

/* A client that sends no more says so to the server, as it would without us. */
static void move_up(struct connection *connection)
{
    move_body(connection);
    if (connection->stage != STAGE_EXCHANGE || connection->is_up_over || connection->upgrades ||
        !connection->body.is_done || connection->up.front.length)
        return;
    if (connection->client.has_ended) {
        (void)shutdown(connection->server.source.fd, SHUT_WR);
        connection->is_up_over = true;
    }
}

static void refuse_answer(struct connection *connection, const char *why)
{
    end_reset(connection->gate->parts.hub, &connection->server);
    refuse_failed(connection, 502, SOCKS_FAILED, why);
}

/* An answer that is not the last. That the body may come is passed on; all others are advice. */
static void pass_interim(struct connection *connection, const struct answer *interim)
{
    struct strbuf *answer = &connection->answer;
    struct strbuf rest = {0};

    if (++connection->interim > INTERIM_MAX) {
        refuse_answer(connection, "the server's answers never end");
        return;
    }
    strbuf_add_bytes(&rest, answer->text + interim->head_bytes,
                     answer->length - interim->head_bytes);
    if (rest.failed || (interim->status == 100 &&
                        flow_send(&connection->down, answer->text, interim->head_bytes) < 0))
        connection_reset(connection);
    strbuf_done(answer);
    *answer = rest;
}

/* What has come of the body with its head. False: it is broken. */
static bool begin_body(struct connection *connection, const struct answer *answer)
{
    const char *rest = connection->answer.text + answer->head_bytes;
    size_t size = connection->answer.length - answer->head_bytes;
    struct flow *down = &connection->down;
    long taken = (long)size;

    connection->chunks =
        (struct http_body){.kind = answer->body, .is_done = answer->body != HTTP_CHUNKED};
    if (answer->body == HTTP_CHUNKED)
        taken = http_body_take(&connection->chunks, rest, size);
    else if (!answer->is_to_end)
        taken = size > answer->body_bytes ? (long)answer->body_bytes : (long)size;
    if (answer->body == HTTP_NO_BODY && !answer->is_to_end)
        taken = 0;
    if (taken < 0)
        return false;
    if ((size_t)taken < size)
        connection->keeps_server = false;
    strbuf_add_bytes(&down->front, rest, (size_t)taken);
    if (answer->body == HTTP_LENGTH)
        down->left = answer->body_bytes - (size_t)taken;
    else if (!answer->is_to_end)
        down->left = 0;
    return true;
}

static void pass_answer(struct connection *connection, const struct answer *answer)
{
    struct strbuf *front = &connection->down.front;

    connection->keeps_server = connection->keeps_server && answer->keeps;
    connection->keeps_client = connection->keeps_client && !answer->is_to_end && !answer->is_old &&
                               kept_is_worth_it(connection);
    answer_write(connection->answer.text, answer, connection->keeps_client, front);
    if (!begin_body(connection, answer) || front->failed)
        connection_reset(connection);
    strbuf_done(&connection->answer);
    connection->is_answered = true;
}

/* The server agrees to a web socket: from now on bytes are only bytes. */
static void pass_upgrade(struct connection *connection)
{
    struct strbuf *answer = &connection->answer;

    if (flow_send(&connection->down, answer->text, answer->length) < 0)
        connection_reset(connection);
    strbuf_done(answer);
    if (connection->stage == STAGE_EXCHANGE)
        connection_join(connection);
}

static void look_at_answer(struct connection *connection)
{
    while (connection->stage == STAGE_EXCHANGE && !connection->is_answered &&
           connection->answer.length) {
        struct answer answer;
        int result = answer_read(connection->answer.text, connection->answer.length,
                                 connection->is_head, &answer);

        if (result == 0)
            return;
        if (result < 0 || (answer.status == 101 && !connection->upgrades))
            refuse_answer(connection, "the server's answer is not one of HTTP/1");
        else if (answer.status == 101)
            pass_upgrade(connection);
        else if (answer.status < 200)
            pass_interim(connection, &answer);
        else
            pass_answer(connection, &answer);
    }
}

/* Reads the server's answer until its head is there. */
static void await_answer(struct connection *connection)
{
    struct gate *gate = connection->gate;

    while (connection->stage == STAGE_EXCHANGE && !connection->is_answered) {
        /* Who does not read what came before gets no more. */
        int drained = flow_drain(&connection->down, &gate->pipes);
        ssize_t got;

        if (drained < 0)
            connection_reset(connection);
        if (drained <= 0 || !connection->server.can_read)
            return;
        got = end_read(&connection->server, gate->scratch, FLOW_COPY_BYTES);
        if (got == -EAGAIN)
            continue;
        if (got <= 0) {
            if (!kept_retry(connection))
                refuse_answer(connection, "the server ended before it had answered");
            return;
        }
        connection_drop_held(connection, connection->asked_bytes);
        connection->asked_bytes = 0;
        strbuf_add_bytes(&connection->answer, gate->scratch, (size_t)got);
        if (connection->answer.failed)
            connection_reset(connection);
        else
            look_at_answer(connection);
    }
}

/* Chunks are passed on as they are, and read on the way: where they end the answer does. */
static void move_chunks(struct connection *connection)
{
    struct gate *gate = connection->gate;
    struct end *server = &connection->server;

    for (size_t turn = 0; !connection->chunks.is_done; turn++) {
        int drained = flow_drain(&connection->down, &gate->pipes);
        ssize_t got;
        long taken;

        if (drained < 0)
            connection_reset(connection);
        if (drained <= 0 || !server->can_read)
            return;
        if (turn * FLOW_COPY_BYTES >= FLOW_TURN_BYTES) {
            (void)hub_change(gate->parts.hub, &server->source, server->source.events);
            return;
        }
        got = end_read(server, gate->scratch, FLOW_COPY_BYTES);
        if (got == -EAGAIN)
            continue;
        taken = got > 0 ? http_body_take(&connection->chunks, gate->scratch, (size_t)got) : -1;
        if (taken < got)
            connection->keeps_server = false;
        if (taken < 0 || flow_send(&connection->down, gate->scratch, (size_t)taken) < 0) {
            connection_reset(connection);
            return;
        }
    }
}

static void end_exchange(struct connection *connection)
{
    if (connection->keeps_client) {
        connection->stage = STAGE_KEPT;
        return;
    }
    end_close(connection->gate->parts.hub, &connection->server);
    connection->stage = STAGE_FAREWELL;
    farewell_step(connection);
}

static void move_down(struct connection *connection)
{
    await_answer(connection);
    if (connection->stage == STAGE_EXCHANGE && connection->is_answered)
        move_chunks(connection);
    if (connection->stage != STAGE_EXCHANGE || !connection->is_answered ||
        !connection->chunks.is_done)
        return;
    switch (flow_move(&connection->down, &connection->gate->place)) {
    case FLOW_WAITS:
        break;
    case FLOW_ENDED:
        end_exchange(connection);
        break;
    case FLOW_BROKEN:
        connection_reset(connection);
        break;
    }
}

void exchange_step(struct connection *connection)
{
    if (connection->client.is_broken) {
        connection_reset(connection);
        return;
    }
    move_up(connection);
    if (connection->stage == STAGE_EXCHANGE)
        move_down(connection);
}

void exchange_start(struct connection *connection)
{
    struct strbuf *held = &connection->held;
    struct http_request request;
    const char *wrong;
    size_t rest;
    long taken;

    connection->stage = STAGE_EXCHANGE;
    connection_set_deadline(connection, -1);
    /* It was read before: what is held has not changed since. */
    if (http_read_request(held->text, held->length, connection->to.port, &request, &wrong) <= 0) {
        connection_reset(connection);
        return;
    }
    /* A client of the proxy may have named the address that stands for the name. */
    if (connection->to.kind == HOST_NAME)
        request.to = connection->to;
    http_write_request(held->text, &request, &connection->up.front);
    http_body_begin(&connection->body, &request);
    connection->upgrades = request.upgrades;
    connection->keeps_client = request.keeps;
    connection->keeps_server = http_may_follow(&request);
    connection->asked_bytes = connection->is_server_kept ? request.head_bytes : 0;
    connection->is_server_kept = false;
    connection->is_head = request.method_bytes == 4 && memcmp(request.method, "HEAD", 4) == 0;
    rest = held->length - request.head_bytes;
    taken = http_body_take(&connection->body, held->text + request.head_bytes, rest);
    if (taken < 0) {
        break_body(connection);
        return;
    }
    strbuf_add_bytes(&connection->up.front, held->text + request.head_bytes, (size_t)taken);
    /* What comes behind is for a web socket, or the next request. */
    if (!connection->asked_bytes)
        connection_drop_held(connection, request.upgrades || request.keeps
                                             ? request.head_bytes + (size_t)taken
                                             : held->length);
    if (connection->up.front.failed)
        connection_reset(connection);
    else
        exchange_step(connection);
}
