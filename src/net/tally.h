/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of connections: who was refused, and how much went to whom.
 *
 * How it works: a refusal is told at once, and for a second all others like it are only
 * counted. Bytes are added up for each host and told once a second. The room is fixed:
 * what a client of a thousand hosts finds full is told alone.
 */
#ifndef NET_TALLY_H
#define NET_TALLY_H

#include "net/hub.h"
#include "policy/netrule.h"
#include "wire/event.h"
#include "wire/net.h"

enum { TALLY_SLOTS = 256, TALLY_HOST_BYTES = LIMIT_HOST_BYTES + 16 };

/* "name:port" or "[address]:port". */
void tally_host(const struct host *host, char out[static TALLY_HOST_BYTES]);

struct tally_slot {
    char host[TALLY_HOST_BYTES];
    const char *way; /* of refusals; NULL: connections */
    bool is_used;
    uint32_t times;     /* since the last that was told */
    uint32_t uncounted; /* of these: handed over */
    uint64_t sent, received;
    /* Of refusals: as the last one was. */
    uint32_t verdict;
    char rule[128], message[384], hint[256];
};

struct tally {
    struct hub *hub;
    struct event_sender *events;
    struct hub_timer timer;
    struct tally_slot slots[TALLY_SLOTS];
};

/* Texts may be NULL, but for way and message. */
struct tally_refusal {
    const char *way;
    const struct host *host;
    enum event_verdict verdict;
    const char *rule, *message, *hint;
    const struct net_answer *who; /* NULL: not known */
};

void tally_init(struct tally *tally, struct hub *hub, struct event_sender *events);
/* Whether a refusal would be told at once, rather than counted. */
bool tally_is_news(const struct tally *tally, const struct host *host, const char *way);
void tally_refused(struct tally *tally, const struct tally_refusal *refusal);
void tally_reached(struct tally *tally, const struct host *host, uint64_t sent, uint64_t received);
/* One that was handed over: how much passes is not seen. */
void tally_handed(struct tally *tally, const struct host *host);
/* All that has not been told yet. */
void tally_flush(struct tally *tally);

#endif
