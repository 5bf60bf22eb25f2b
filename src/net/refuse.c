/* SPDX-License-Identifier: Apache-2.0 */
/* What a client is told that gets no connection, or no answer: in HTTP a text that says what was
 * refused, why, and what would allow it; in SOCKS a number; else a reset. */
#include "net/connection.h"

#include "policy/explain.h"
#include "policy/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    UNHEARD_MS = 300,
    FAREWELL_MS = 3000,
    FAREWELL_READS = 64,
};

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{400, "Bad Request"},
                   {403, "Forbidden"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {431, "Request Header Fields Too Large"},
                   {501, "Not Implemented"},
                   {502, "Bad Gateway"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"},
                   {505, "HTTP Version Not Supported"}};

    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Refused";
}

/* rule: as the header names it, or NULL. */
static void write_answer(int status, const char *rule, const char *text, struct strbuf *out)
{
    strbuf_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n", status,
                reason_of(status));
    if (rule)
        strbuf_addf(out, "X-Bawn-Denied: %s\r\n", rule);
    strbuf_addf(out, "Content-Length: %zu\r\nConnection: close\r\n\r\n%s", strlen(text), text);
}

/* An answer is ready in front of the client: it is sent, and the connection ends. */
static void say_farewell(struct connection *connection)
{
    connection->stage = STAGE_FAREWELL;
    connection_set_deadline(connection, FAREWELL_MS);
    farewell_step(connection);
}

/* Tells the client in its own protocol. */
static void tell(struct connection *connection, int status, enum socks_answer answer,
                 const char *rule, const char *text)
{
    struct strbuf *front = &connection->down.front;
    uint8_t bytes[SOCKS_ANSWER_BYTES];

    dial_stop(&connection->dial);
    if (connection->way == WAY_SOCKS && !connection->is_granted) {
        size_t size = socks_write_answer(connection->socks_version, answer, bytes);

        strbuf_add_bytes(front, (const char *)bytes, size);
        say_farewell(connection);
        return;
    }
    if (!connection->speaks_http && connection->is_granted) {
        connection_reset(connection);
        return;
    }
    write_answer(status, rule, text, front);
    if (front->failed) {
        connection_reset(connection);
    } else if ((connection->way == WAY_DIRECT || connection->way == WAY_PROXY) &&
               !connection->speaks_http) {
        connection->stage = STAGE_UNHEARD;
        connection_set_deadline(connection, UNHEARD_MS);
        unheard_step(connection);
    } else {
        say_farewell(connection);
    }
}

void unheard_step(struct connection *connection)
{
    int result = connection_hold(connection, 1);

    if (result == 0)
        return;
    if (result > 0 && connection->held.text[0] >= 'A' && connection->held.text[0] <= 'Z')
        say_farewell(connection);
    else
        connection_reset(connection);
}

/* KERNEL: a socket that is closed with bytes in it that nobody read resets the connection, and the
 * client may never see the answer. */
void farewell_step(struct connection *connection)
{
    struct end *client = &connection->client;
    int drained = flow_drain(&connection->down, &connection->gate->pipes);

    if (drained < 0)
        connection_end(connection);
    if (drained <= 0)
        return;
    if (!connection->is_shut)
        (void)shutdown(client->source.fd, SHUT_WR);
    connection->is_shut = true;
    if (!connection->timer.is_set)
        connection_set_deadline(connection, FAREWELL_MS);
    for (unsigned i = 0; client->can_read; i++) {
        ssize_t got = end_read(client, connection->gate->scratch, FLOW_SCRATCH_BYTES);

        if (got <= 0 && got != -EAGAIN) {
            connection_end(connection);
            return;
        }
        if (i == FAREWELL_READS) {
            (void)hub_change(connection->gate->parts.hub, &client->source, client->source.events);
            return;
        }
    }
}

static const char *text_of(const struct strbuf *text)
{
    return text->text && !text->failed ? text->text : NULL;
}

/* Tells the session, once. */
static void tally(struct connection *connection, const struct net_answer *who)
{
    struct refusal *refusal = &connection->refusal;
    const struct tally_refusal told = {.way = connection_way_name(connection),
                                       .host = &connection->to,
                                       .verdict = refusal->verdict,
                                       .rule = text_of(&refusal->rule),
                                       .message = text_of(&refusal->why),
                                       .hint = text_of(&refusal->hint),
                                       .who = who};

    if (refusal->why.text)
        tally_refused(&connection->gate->tally, &told);
}

void refuse_end(struct connection *connection)
{
    struct refusal *refusal = &connection->refusal;

    if (connection->stage == STAGE_REFUSED)
        tally(connection, NULL);
    strbuf_done(&refusal->rule);
    strbuf_done(&refusal->why);
    strbuf_done(&refusal->text);
    strbuf_done(&refusal->hint);
}

/* Tells the session, and then the client: what the kernel knows of it ends with that. */
static void conclude(struct connection *connection, const struct net_answer *who)
{
    struct refusal *refusal = &connection->refusal;
    autostrbuf struct strbuf text = {0};
    const char *rule = text_of(&refusal->rule);

    tally(connection, who);
    strbuf_addf(&text, "%s\n", text_of(&refusal->text) ? refusal->text.text : "");
    if (text_of(&refusal->hint))
        strbuf_addf(&text, "To change that: %s\n", refusal->hint.text);
    tell(connection, 403, SOCKS_REFUSED, rule ? rule : "", text.failed ? "" : text.text);
}

static void on_known(void *context, const struct net_answer *answer)
{
    struct connection *connection = context;

    connection_enter(connection);
    conclude(connection, answer);
    connection_leave(connection);
}

/* Texts are in its refusal already, but for the rule. */
static void refuse(struct connection *connection, const struct net_decision *decision)
{
    struct refusal *refusal = &connection->refusal;
    struct gate *gate = connection->gate;

    dial_stop(&connection->dial);
    refusal->verdict = decision->access == ACCESS_ASK ? VERDICT_ASK : VERDICT_DENY;
    message_net_label(gate->parts.policy, decision, &refusal->rule);
    if (!gate->parts.who ||
        !tally_is_news(&gate->tally, &connection->to, connection_way_name(connection))) {
        conclude(connection, NULL);
        return;
    }
    connection->stage = STAGE_REFUSED;
    connection_set_deadline(connection, -1);
    connection->who = (struct who_request){.done = on_known, .context = connection};
    who_ask(gate->parts.who, &connection->who, connection->client.source.fd, false);
}

/* outcome: what came of asking; NULL: nobody was to be asked. */
static void refuse_because(struct connection *connection, const struct net_decision *decision,
                           const char *outcome)
{
    const struct policy *policy = connection->gate->parts.policy;
    struct refusal *refusal = &connection->refusal;
    char host[TALLY_HOST_BYTES];

    tally_host(&connection->to, host);
    (void)message_net_why(decision, &refusal->why);
    (void)message_net(policy, host, decision, &refusal->text);
    explain_net_remedy(policy, decision, host, &refusal->hint);
    if (outcome) {
        strbuf_addf(&refusal->why, ", and %s", outcome);
        strbuf_addf(&refusal->text, "\nIt needs approval, and %s.", outcome);
    }
    refuse(connection, decision);
}

void refuse_decision(struct connection *connection, const struct net_decision *decision)
{
    refuse_because(connection, decision, NULL);
}

void refuse_asked(struct connection *connection, const struct net_decision *decision,
                  enum ask_end end)
{
    static const char *const outcomes[ASK_ENDS] = {[ASK_BY_TERMINAL] = "the answer was no",
                                                   [ASK_BY_CLIENT] = "the answer was no",
                                                   [ASK_BY_TIME] = "nobody answered in time",
                                                   [ASK_BY_NOBODY] = "nobody could be asked",
                                                   [ASK_GIVEN_UP] = "the question was given up"};

    refuse_because(connection, decision, outcomes[end]);
}

void refuse_words(struct connection *connection, const char *hint, const char *format, ...)
{
    struct refusal *refusal = &connection->refusal;
    char host[TALLY_HOST_BYTES];
    char why[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    tally_host(&connection->to, host);
    strbuf_add(&refusal->why, why);
    strbuf_addf(&refusal->text, "Cannot connect to '%s': %s.", host, why);
    if (hint)
        strbuf_add(&refusal->hint, hint);
    refuse(connection, &connection->decision);
}

void refuse_request(struct connection *connection, int status, const char *why)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "Cannot pass this request on: %s.\n", why);
    tell(connection, status, SOCKS_FAILED, NULL, text);
}

void refuse_failed(struct connection *connection, int status, enum socks_answer answer,
                   const char *why)
{
    char host[TALLY_HOST_BYTES];
    char text[sizeof(host) + 256];

    tally_host(&connection->to, host);
    (void)snprintf(text, sizeof(text), "Cannot connect to '%s': %s.\n", host, why);
    tell(connection, status, answer, NULL, text);
}

void refuse_crowd(struct connection *connection)
{
    char why[128];

    (void)snprintf(why, sizeof(why),
                   "%zu connections are open, and there are no descriptors for more (ulimit -n)",
                   connection->gate->most);
    refuse_request(connection, 503, why);
}

void refuse_late(struct connection *connection)
{
    bool has_spoken = connection->held.length > 0;

    switch (connection->stage) {
    case STAGE_ASK:
        if (has_spoken && connection->speaks_http)
            refuse_request(connection, 408, "its head took too long");
        else
            connection_end(connection);
        break;
    case STAGE_REACH:
        refuse_failed(connection, 504, SOCKS_NO_HOST, "looking the name up took too long");
        break;
    case STAGE_APPROVE:
        approve_late(connection);
        break;
    case STAGE_PARENT:
        parent_late(connection);
        break;
    case STAGE_OPENING:
        if (has_spoken && connection->speaks_http)
            refuse_request(connection, 408, "its head took too long");
        else if (connection->is_kept)
            connection_end(connection);
        else
            refuse_words(connection,
                         "if the server of this host speaks first, or it speaks something else "
                         "than TLS and HTTP, give its rule 'opaque: true'",
                         has_spoken ? "the client's first message of TLS took too long"
                                    : "the client has said nothing");
        break;
    case STAGE_FAREWELL:
        /* KERNEL: what a slow client has not taken yet is still sent. */
        connection_end(connection);
        break;
    default:
        connection_reset(connection);
        break;
    }
}
