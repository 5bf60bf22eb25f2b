/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that a person is asked about waits for the answer.
 *
 * How it works: what it is about is the host that the client wants, or one address of its name
 * that a rule asks about by itself. An answer for once holds for this connection of the client's
 * and this host. SECURITY: nothing of the client's goes anywhere meanwhile, and no name is looked
 * up. A client that is gone is not seen at once: one that only sends no more may still want the
 * answer. So whether somebody has its end is asked of the launcher, who may not know.
 */
#include "net/approval.h"
#include "net/connection.h"

#include <string.h>

enum { GONE_MS = 500, GONE_LOOKS = 2, NAME_MS = 250, NAME_LOOKS = 12 };

static const struct host *asked_host(const struct connection *connection)
{
    return connection->asked ? connection->asked : &connection->to;
}

bool approve_holds(const struct connection *connection, const struct host *host)
{
    char text[TALLY_HOST_BYTES];

    if (!connection->approved)
        return false;
    tally_host(host, text);
    return strcmp(text, connection->approved) == 0;
}

static void take_answer(struct connection *connection, const struct approval *answer)
{
    char text[TALLY_HOST_BYTES];

    if (!answer->is_allowed) {
        refuse_asked(connection, &connection->question, answer->by);
        return;
    }
    tally_host(asked_host(connection), text);
    free(connection->approved);
    connection->approved = strdup(text);
    if (connection->approved)
        reach_approved(connection);
    else
        connection_reset(connection);
}

static void on_answer(void *context, const struct approval *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    who_cancel(&connection->who);
    connection_set_deadline(connection, -1);
    take_answer(connection, answer);
    connection_leave(connection);
}

/* who may be NULL. */
static void put(struct connection *connection, const struct net_answer *who)
{
    struct gate *gate = connection->gate;
    const struct approval_asked asked = {.host = asked_host(connection),
                                         .decision = &connection->question,
                                         .way = connection_way_name(connection),
                                         .who = who};

    connection->approval = (struct approval_request){.done = on_answer, .context = connection};
    /* SECURITY: those that wait leave room for the others. */
    if (gate->parts.approvals->request_count >= gate->most / 2 ||
        !approval_ask(gate->parts.approvals, &connection->approval, &asked))
        refuse_asked(connection, &connection->question, ASK_BY_NOBODY);
    else
        approve_step(connection);
}

/* The launcher does not tell of a whole crowd at once who they are. A connection of an unknown
 * program would be a question of its own. So while its host is being asked about, it waits until
 * the program is known, for a few seconds. */
static void on_named(void *context, const struct net_answer *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    if (!answer->exe[0] && connection->unnamed++ < NAME_LOOKS &&
        approval_is_asked(connection->gate->parts.approvals, asked_host(connection)))
        connection_set_deadline(connection, NAME_MS);
    else
        put(connection, answer);
    connection_leave(connection);
}

static void ask_name(struct connection *connection)
{
    connection->who = (struct who_request){.done = on_named, .context = connection};
    who_ask(connection->gate->parts.who, &connection->who, connection->client.source.fd, false);
}

static void on_holder(void *context, const struct net_answer *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    connection->unheld = answer->pid > 0 ? 0 : connection->unheld + 1;
    if (connection->unheld >= GONE_LOOKS)
        connection_end(connection);
    else
        connection_set_deadline(connection, GONE_MS);
    connection_leave(connection);
}

void approve_late(struct connection *connection)
{
    if (!connection->gate->parts.who) {
        connection_end(connection);
        return;
    }
    if (!connection->approval.question) {
        ask_name(connection);
        return;
    }
    connection->who = (struct who_request){.done = on_holder, .context = connection};
    who_ask(connection->gate->parts.who, &connection->who, connection->client.source.fd, false);
}

void approve_step(struct connection *connection)
{
    if (connection->client.is_broken)
        connection_end(connection);
    else if (connection->client.has_ended && !connection->who.who && !connection->timer.is_set)
        connection_set_deadline(connection, 0);
}

void approve_start(struct connection *connection, const struct net_decision *decision,
                   const struct net_answer *who)
{
    const struct gate_parts *parts = &connection->gate->parts;
    const struct host *host = asked_host(connection);
    struct approval answer;

    connection->stage = STAGE_APPROVE;
    connection->question = *decision;
    connection->unheld = connection->unnamed = 0;
    connection_set_deadline(connection, -1);
    if (approval_find(parts->approvals, host, &answer)) {
        take_answer(connection, &answer);
    } else if (who || !parts->who) {
        put(connection, who);
    } else {
        ask_name(connection);
    }
}
