/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tally.h"

#include <stdio.h>
#include <string.h>

enum { TALLY_MS = 1000, TALLY_PROBES = 8 };

void tally_host(const struct host *host, char out[static TALLY_HOST_BYTES])
{
    bool is_v6 = host->kind == HOST_ADDRESS && strchr(host->name, ':');

    (void)snprintf(out, TALLY_HOST_BYTES, "%s%s%s:%u", is_v6 ? "[" : "", host->name,
                   is_v6 ? "]" : "", host->port);
}

void tally_init(struct tally *tally, struct hub *hub, struct event_sender *events)
{
    memset(tally, 0, sizeof(*tally));
    tally->hub = hub;
    tally->events = events;
}

static bool is_slot_of(const struct tally_slot *slot, const char *host, const char *way)
{
    if (!slot->is_used || strcmp(slot->host, host) != 0)
        return false;
    return slot->way && way ? strcmp(slot->way, way) == 0 : slot->way == way;
}

/* The slot of it, or one that is free, or NULL. */
static const struct tally_slot *look_for_slot(const struct tally *tally, const char *host,
                                              const char *way)
{
    const struct tally_slot *spare = NULL;
    unsigned hash = way ? 7 : 0;

    for (const char *at = host; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    for (unsigned i = 0; i < TALLY_PROBES; i++) {
        const struct tally_slot *slot = &tally->slots[(hash + i) % TALLY_SLOTS];

        if (is_slot_of(slot, host, way))
            return slot;
        if (!slot->is_used && !spare)
            spare = slot;
    }
    return spare;
}

static struct tally_slot *find_slot(struct tally *tally, const char *host, const char *way)
{
    return (struct tally_slot *)look_for_slot(tally, host, way);
}

bool tally_is_news(const struct tally *tally, const struct host *host, const char *way)
{
    char text[TALLY_HOST_BYTES];
    const struct tally_slot *slot;

    tally_host(host, text);
    slot = look_for_slot(tally, text, way);
    return !slot || !slot->is_used;
}

/* who: of the first refusal; what is counted afterwards may be of several. */
static void send_slot(struct tally *tally, struct tally_slot *slot, const struct net_answer *who)
{
    struct event event = {.what = slot->way ? EVENT_BARRED : EVENT_REACHED,
                          .verdict = slot->verdict,
                          .times = slot->times,
                          .uncounted = slot->uncounted,
                          .sent = slot->sent,
                          .received = slot->received};

    event.texts[EVENT_CALL] = slot->way;
    event.texts[EVENT_PATH] = slot->host;
    event.texts[EVENT_RULE] = slot->rule;
    event.texts[EVENT_MESSAGE] = slot->message;
    event.texts[EVENT_HINT] = slot->hint;
    if (who) {
        event.pid = who->pid;
        event.texts[EVENT_COMM] = who->comm;
        event.texts[EVENT_EXE] = who->exe;
    }
    event_send(tally->events, event);
    slot->times = slot->uncounted = 0;
    slot->sent = slot->received = 0;
}

static void ring(void *context);

static void start_timer(struct tally *tally)
{
    if (!tally->timer.is_set)
        hub_set_timer(tally->hub, &tally->timer, TALLY_MS, ring, tally);
}

/* What nothing was added to for a second makes room. */
static void ring(void *context)
{
    struct tally *tally = context;
    bool is_busy = false;

    for (size_t i = 0; i < TALLY_SLOTS; i++) {
        struct tally_slot *slot = &tally->slots[i];

        if (!slot->is_used)
            continue;
        slot->is_used = slot->times > 0;
        is_busy |= slot->is_used;
        if (slot->times)
            send_slot(tally, slot, NULL);
    }
    if (is_busy)
        start_timer(tally);
}

static void set_text(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text ? text : "");
}

void tally_refused(struct tally *tally, const struct tally_refusal *refusal)
{
    struct tally_slot alone = {0};
    char host[TALLY_HOST_BYTES];
    struct tally_slot *slot;
    bool is_first;

    tally_host(refusal->host, host);
    slot = find_slot(tally, host, refusal->way);
    if (!slot)
        slot = &alone;
    is_first = !slot->is_used;
    slot->is_used = true;
    slot->way = refusal->way;
    slot->verdict = refusal->verdict;
    memcpy(slot->host, host, sizeof(host));
    set_text(slot->rule, sizeof(slot->rule), refusal->rule);
    set_text(slot->message, sizeof(slot->message), refusal->message);
    set_text(slot->hint, sizeof(slot->hint), refusal->hint);
    slot->times = is_first ? 1 : slot->times + 1;
    if (is_first)
        send_slot(tally, slot, refusal->who);
    start_timer(tally);
}

static void reach(struct tally *tally, const struct host *host, const struct tally_slot *more)
{
    struct tally_slot alone = {0};
    char text[TALLY_HOST_BYTES];
    struct tally_slot *slot;

    tally_host(host, text);
    slot = find_slot(tally, text, NULL);
    if (!slot)
        slot = &alone;
    if (!slot->is_used) {
        memset(slot, 0, sizeof(*slot));
        memcpy(slot->host, text, sizeof(text));
        slot->is_used = true;
    }
    slot->times++;
    slot->uncounted += more->uncounted;
    slot->sent += more->sent;
    slot->received += more->received;
    if (slot == &alone)
        send_slot(tally, slot, NULL);
    else
        start_timer(tally);
}

void tally_reached(struct tally *tally, const struct host *host, uint64_t sent, uint64_t received)
{
    reach(tally, host, &(struct tally_slot){.sent = sent, .received = received});
}

void tally_handed(struct tally *tally, const struct host *host)
{
    reach(tally, host, &(struct tally_slot){.uncounted = 1});
}

void tally_flush(struct tally *tally)
{
    for (size_t i = 0; i < TALLY_SLOTS; i++) {
        if (tally->slots[i].is_used && tally->slots[i].times)
            send_slot(tally, &tally->slots[i], NULL);
    }
}
