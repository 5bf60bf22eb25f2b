/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of HTTP and its answer.
 *
 * How it works: the head that was judged is written anew, its body is passed on as far as
 * it goes by its own word, and the answer until the server ends it. Then the client's
 * connection ends too: its next request comes on a new one, and is judged like the first.
 * SECURITY: what a client sends behind its request goes nowhere.
 */
#include "net/answer.h"
#include "net/connection.h"

#include <errno.h>
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

/* An answer that is not the last. */
static void pass_interim(struct connection *connection, size_t head_bytes)
{
    struct strbuf *answer = &connection->answer;
    struct strbuf rest = {0};

    if (++connection->interim > INTERIM_MAX) {
        refuse_answer(connection, "the server's answers never end");
        return;
    }
    strbuf_add_bytes(&rest, answer->text + head_bytes, answer->length - head_bytes);
    if (rest.failed || flow_send(&connection->down, answer->text, head_bytes) < 0)
        connection_reset(connection);
    strbuf_done(answer);
    *answer = rest;
}

static void pass_answer(struct connection *connection, size_t head_bytes)
{
    struct strbuf *answer = &connection->answer;
    struct strbuf *front = &connection->down.front;

    answer_write(answer->text, head_bytes, front);
    strbuf_add_bytes(front, answer->text + head_bytes, answer->length - head_bytes);
    if (front->failed)
        connection_reset(connection);
    strbuf_done(answer);
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
        size_t head_bytes = 0;
        int status = 0;
        int result =
            answer_read(connection->answer.text, connection->answer.length, &status, &head_bytes);

        if (result == 0)
            return;
        if (result < 0 || (status == 101 && !connection->upgrades))
            refuse_answer(connection, "the server's answer is not one of HTTP/1");
        else if (status == 101)
            pass_upgrade(connection);
        else if (status < 200)
            pass_interim(connection, head_bytes);
        else
            pass_answer(connection, head_bytes);
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
            refuse_answer(connection, "the server ended before it had answered");
            return;
        }
        strbuf_add_bytes(&connection->answer, gate->scratch, (size_t)got);
        if (connection->answer.failed)
            connection_reset(connection);
        else
            look_at_answer(connection);
    }
}

static void move_down(struct connection *connection)
{
    await_answer(connection);
    if (connection->stage != STAGE_EXCHANGE || !connection->is_answered)
        return;
    switch (flow_move(&connection->down, &connection->gate->place)) {
    case FLOW_WAITS:
        break;
    case FLOW_ENDED:
        connection->is_shut = true;
        connection->stage = STAGE_FAREWELL;
        farewell_step(connection);
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
    http_write_request(held->text, &request, &connection->up.front);
    http_body_begin(&connection->body, &request);
    connection->upgrades = request.upgrades;
    rest = held->length - request.head_bytes;
    taken = http_body_take(&connection->body, held->text + request.head_bytes, rest);
    if (taken < 0) {
        break_body(connection);
        return;
    }
    strbuf_add_bytes(&connection->up.front, held->text + request.head_bytes, (size_t)taken);
    /* What comes behind is for a web socket alone. */
    connection_drop_held(connection,
                         request.upgrades ? request.head_bytes + (size_t)taken : held->length);
    if (connection->up.front.failed)
        connection_reset(connection);
    else
        exchange_step(connection);
}
