/* SPDX-License-Identifier: Apache-2.0 */
#include "session/asks.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mutant.h"
#include "session/control.h"
#include "session/own.h"
#include "session/prompt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { TICK_MS = 250 };

/* Tells who asked. Whoever does not read the answer does without. */
static void tell_asker(const struct session *session, const struct asker *asker,
                       const struct ask_answer *answer)
{
    const struct ask_verdict verdict = {.kind = NET_VERDICT,
                                        .scope = answer->scope,
                                        .number = asker->number,
                                        .is_allowed = answer->is_allowed,
                                        .by = answer->by};
    int sock = asker->who == WHO_NET ? session->net.control_fd : session->server.answer_fd;

    if (sock >= 0)
        (void)send(sock, &verdict, sizeof(verdict), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* False: it holds once. */
static bool keep(struct asks *asks, const struct event *event, const struct ask_answer *answer)
{
    return answers_keep(&asks->kept, event->texts[EVENT_OP], event->texts[EVENT_PATH],
                        &(struct answer){.is_allowed = answer->is_allowed,
                                         .is_tree = answer->scope == ASK_SESSION_TREE,
                                         .by = answer->by});
}

static bool can_ask(const struct session *session)
{
    const struct asks *asks = session->asks;

    if (asks->changed && (!asks->is_there || asks->is_there(session)))
        return true;
    for (size_t i = 0; session->control && i < CONTROL_CLIENTS_MAX; i++) {
        const struct client *client = &session->control->clients[i];

        if (client->fd >= 0 && client->answers)
            return true;
    }
    return false;
}

/* To everybody who answers questions. */
static void tell_clients(const struct session *session, const struct control_message *message,
                         const void *bytes, size_t size)
{
    for (size_t i = 0; session->control && i < CONTROL_CLIENTS_MAX; i++) {
        struct client *client = &session->control->clients[i];

        if (client->fd >= 0 && client->answers)
            control_answer(client, message, bytes, size, -EBADF);
    }
}

static struct control_message asked_message(const struct ask *ask)
{
    int64_t left_ms = ask->until_ms - clock_ms();

    return (struct control_message){
        .kind = CONTROL_ASKED, .job = ask->id, .value = left_ms > 0 ? (int32_t)left_ms : 0};
}

static void forget(struct ask *ask)
{
    free(ask->bytes);
    *ask = (struct ask){.id = 0};
}

static void tell_settled(struct session *session, const struct ask *ask,
                         const struct ask_answer *answer)
{
    static const char *const ends[ASK_ENDS] = {[ASK_BY_TERMINAL] = "answered on the terminal",
                                               [ASK_BY_CLIENT] = "answered by a client",
                                               [ASK_BY_TIME] = "nobody answered in time",
                                               [ASK_BY_NOBODY] = "nobody is left who could answer",
                                               [ASK_GIVEN_UP] = "nobody waits for it any more"};
    static const char *const scopes[ASK_SCOPES] = {
        [ASK_ONCE] = "once", [ASK_SESSION] = "session", [ASK_SESSION_TREE] = "session, directory"};
    struct event event = ask->event;

    event.what = EVENT_SETTLED;
    event.who = WHO_LAUNCHER;
    event.number = ask->id;
    event.pid = answer->pid;
    event.verdict = answer->is_allowed ? VERDICT_ALLOW : VERDICT_DENY;
    event.texts[EVENT_MESSAGE] = ends[answer->by];
    event.texts[EVENT_CODE] = scopes[answer->scope];
    /* Of whom it was about the question told. */
    event.texts[EVENT_COMM] = event.texts[EVENT_EXE] = event.texts[EVENT_ARGV] = "";
    event.texts[EVENT_CALL] = event.texts[EVENT_HINT] = "";
    session_event(session, &event);
}

/* What belongs to a question that is answered, whoever answered. */
static void settle(struct session *session, struct ask *ask, const struct ask_answer *answer)
{
    struct control_message message = {.kind = CONTROL_SETTLED,
                                      .job = ask->id,
                                      .flags = (answer->is_allowed ? CONTROL_YES : 0) |
                                               (uint32_t)answer->scope << CONTROL_SCOPE_SHIFT,
                                      .value = (int32_t)answer->by};

    for (unsigned i = 0; i < ask->asker_count; i++)
        tell_asker(session, &ask->askers[i], answer);
    tell_settled(session, ask, answer);
    tell_clients(session, &message, NULL, 0);
    forget(ask);
    if (session->asks->changed)
        session->asks->changed(session);
}

/* Those that wait, oldest first. */
static const struct ask *next_ask(const struct asks *asks, uint32_t behind)
{
    const struct ask *next = NULL;

    for (unsigned i = 0; i < ASKS_WAITING; i++) {
        const struct ask *ask = &asks->items[i];

        if (ask->id > behind && (!next || ask->id < next->id))
            next = ask;
    }
    return next;
}

static bool watches(const struct asks *asks)
{
    return next_ask(asks, 0) != NULL;
}

static int on_tick(void *context)
{
    struct session *session = context;
    struct asks *asks = session->asks;
    int64_t now_ms = clock_ms();

    for (unsigned i = 0; i < ASKS_WAITING; i++) {
        struct ask *ask = &asks->items[i];

        if (ask->id && ask->orphan_ms && now_ms - ask->orphan_ms >= ASKS_ORPHAN_MS)
            settle(session, ask, &(struct ask_answer){.by = ASK_GIVEN_UP});
        else if (ask->id && now_ms >= ask->until_ms)
            settle(session, ask, &(struct ask_answer){.by = ASK_BY_TIME});
    }
    if (asks->expects_ms && now_ms >= asks->expects_ms) {
        asks->expects_ms = 0;
        asks_client_gone(session);
    }
    if (!watches(asks))
        loop_stop_timer(&session->loop, &asks->timer);
    return 0;
}

/* SECURITY: whoever answers may judge by the program that is told: what another one wants is
 * another question, even about the same thing. */
static struct ask *find_same(struct asks *asks, const struct event *event)
{
    for (unsigned i = 0; i < ASKS_WAITING; i++) {
        struct ask *ask = &asks->items[i];

        if (ask->id && ask->event.who == event->who &&
            strcmp(ask->event.texts[EVENT_OP], event->texts[EVENT_OP]) == 0 &&
            (!LAYER("answers") ||
             strcmp(ask->event.texts[EVENT_EXE], event->texts[EVENT_EXE]) == 0) &&
            strcmp(ask->event.texts[EVENT_PATH], event->texts[EVENT_PATH]) == 0)
            return ask;
    }
    return NULL;
}

static struct ask *find_room(struct asks *asks)
{
    for (unsigned i = 0; i < ASKS_WAITING; i++)
        if (!asks->items[i].id)
            return &asks->items[i];
    return NULL;
}

/* The question is put to whoever can answer. */
static bool put(struct session *session, const struct event *event)
{
    struct asks *asks = session->asks;
    struct ask *ask = find_room(asks);
    struct control_message message;
    char bytes[EVENT_BYTES];

    if (!ask)
        return false;
    ask->size = event_pack(event, bytes);
    ask->bytes = malloc(ask->size);
    if (!ask->bytes)
        return false;
    memcpy(ask->bytes, bytes, ask->size);
    (void)event_unpack(ask->bytes, ask->size, &ask->event);
    ask->id = ++asks->last;
    ask->askers[ask->asker_count++] =
        (struct asker){.who = (enum event_who)event->who, .number = event->number};
    ask->until_ms = clock_ms() + (int64_t)session->request->image->ask_seconds * 1000;
    if (!asks->timer.at_ms)
        loop_set_timer(&session->loop, &asks->timer, TICK_MS, TICK_MS, on_tick, session);
    message = asked_message(ask);
    tell_clients(session, &message, ask->bytes, ask->size);
    if (asks->changed)
        asks->changed(session);
    return true;
}

static bool join(struct ask *ask, const struct asker *asker)
{
    if (ask->asker_count == ASKS_ASKERS)
        return false;
    ask->askers[ask->asker_count++] = *asker;
    ask->orphan_ms = 0;
    return true;
}

int asks_open(struct session *session)
{
    if (session->asks)
        return 0;
    session->asks = calloc(1, sizeof(*session->asks));
    if (!session->asks)
        return -ENOMEM;
    prompt_open(session);
    return 0;
}

void asks_take(struct session *session, const struct event *event)
{
    const struct asker asker = {.who = (enum event_who)event->who, .number = event->number};
    const struct ask_answer none = {.by = ASK_BY_NOBODY};
    const struct answer *kept;
    struct ask *same;

    if (asks_open(session) < 0) {
        tell_asker(session, &asker, &none);
        return;
    }
    if (event->who == WHO_NET && !LAYER("netasks")) {
        tell_asker(session, &asker, &(struct ask_answer){.is_allowed = true});
        return;
    }
    kept = answers_find(&session->asks->kept, event->texts[EVENT_OP], event->texts[EVENT_PATH]);
    same = find_same(session->asks, event);
    if (kept)
        tell_asker(session, &asker,
                   &(struct ask_answer){.is_allowed = kept->is_allowed,
                                        .scope = kept->is_tree ? ASK_SESSION_TREE : ASK_SESSION,
                                        .by = (enum ask_end)kept->by});
    else if (same ? !join(same, &asker)
                  : !(can_ask(session) || asks_expect(session)) || !put(session, event))
        tell_asker(session, &asker, &none);
}

static void drop_asker(struct ask *ask, unsigned index)
{
    ask->askers[index] = ask->askers[--ask->asker_count];
    if (ask->asker_count == 0)
        ask->orphan_ms = clock_ms();
}

void asks_give_up(struct session *session, const struct event *event)
{
    for (unsigned i = 0; session->asks && i < ASKS_WAITING; i++) {
        struct ask *ask = &session->asks->items[i];

        for (unsigned k = ask->id ? ask->asker_count : 0; k > 0; k--) {
            if (ask->askers[k - 1].who == event->who && ask->askers[k - 1].number == event->number)
                drop_asker(ask, k - 1);
        }
    }
}

void asks_asker_gone(struct session *session, enum event_who who)
{
    for (unsigned i = 0; session->asks && i < ASKS_WAITING; i++) {
        struct ask *ask = &session->asks->items[i];

        for (unsigned k = ask->id ? ask->asker_count : 0; k > 0; k--) {
            if (ask->askers[k - 1].who == who)
                drop_asker(ask, k - 1);
        }
    }
}

const struct ask *asks_first(const struct session *session)
{
    return session->asks ? next_ask(session->asks, 0) : NULL;
}

static struct ask *find_waiting(const struct session *session, uint32_t id)
{
    for (unsigned i = 0; session->asks && id && i < ASKS_WAITING; i++)
        if (session->asks->items[i].id == id)
            return &session->asks->items[i];
    return NULL;
}

const struct ask *asks_find(const struct session *session, uint32_t id)
{
    return find_waiting(session, id);
}

/* An answer to what does not wait: of another session, settled or never asked. It changes nothing,
 * and is on record; of a flood not each one, but how many there were. */
static void tell_unasked(struct session *session, uint32_t id, const struct ask_answer *answer)
{
    uint32_t count = ++session->asks->unasked;
    char message[160];
    struct event event = {.what = EVENT_SETTLED,
                          .who = WHO_LAUNCHER,
                          .pid = answer->pid,
                          .times = 1,
                          .number = id,
                          .verdict = VERDICT_DENY,
                          .texts = {[EVENT_CODE] = "ask.unknown", [EVENT_MESSAGE] = message}};

    if (count > ASKS_UNASKED && (count & (count - 1)) != 0)
        return;
    (void)snprintf(message, sizeof(message),
                   "a client answered question %u, which does not wait: that counts for nothing "
                   "(%u such answers so far)",
                   id, count);
    session_event(session, &event);
}

int asks_answer(struct session *session, uint32_t id, const struct ask_answer *answer)
{
    struct ask *ask = find_waiting(session, id);
    struct ask_answer given = *answer;

    if (!ask && session->asks && answer->by == ASK_BY_CLIENT)
        tell_unasked(session, id, answer);
    if (!ask)
        return -ENOENT;
    /* SECURITY: only what the asker said may be granted as a whole. */
    if (given.scope == ASK_SESSION_TREE && !*ask->event.texts[EVENT_GRANT_TREE])
        given.scope = ASK_SESSION;
    if (given.scope == ASK_ONCE &&
        (given.saved || (given.is_allowed && strcmp(ask->event.texts[EVENT_OP], ASK_EXEC) == 0)))
        given.scope = ASK_SESSION;
    if (given.scope != ASK_ONCE && !keep(session->asks, &ask->event, &given))
        given.scope = ASK_ONCE;
    if (given.saved)
        asks_save(session, ask, &given);
    settle(session, ask, &given);
    return 0;
}

void asks_tell(struct client *client)
{
    struct session *session = client->control->session;
    const struct ask *ask = NULL;
    struct control_message message = {.kind = CONTROL_ASKS};

    while (session->asks && (ask = next_ask(session->asks, ask ? ask->id : 0))) {
        struct control_message asked = asked_message(ask);

        control_answer(client, &asked, ask->bytes, ask->size, -EBADF);
    }
    control_answer(client, &message, NULL, 0, -EBADF);
}

void asks_client_gone(struct session *session)
{
    if (!session->asks || can_ask(session))
        return;
    for (unsigned i = 0; i < ASKS_WAITING; i++) {
        struct ask *ask = &session->asks->items[i];

        if (ask->id)
            settle(session, ask, &(struct ask_answer){.by = ASK_BY_NOBODY});
    }
}

void asks_done(struct session *session)
{
    struct asks *asks = session->asks;

    if (!asks)
        return;
    asks->changed = NULL;
    loop_stop_timer(&session->loop, &asks->timer);
    for (unsigned i = 0; i < ASKS_WAITING; i++)
        forget(&asks->items[i]);
    asks_end_savers(session);
    answers_done(&asks->kept);
}
