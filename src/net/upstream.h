/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names asked of the resolvers of the host, by c-ares.
 *
 * How it works: all channels of c-ares are made at the start: there is no file system later, and
 * c-ares takes the key of its ids from a file. A question takes a channel that has none, if
 * there is one: sockets, and with them source ports, last as long as a channel has questions.
 * SECURITY: so that nobody keeps a port in use to guess at it, a channel takes so many questions
 * and no more before it has been without any. c-ares cannot forget a single question: what
 * nobody waits for any more is let run, and when a channel has only such ones, it is cleared.
 */
#ifndef NET_UPSTREAM_H
#define NET_UPSTREAM_H

#include "net/hub.h"
#include "net/resolv_conf.h"

enum {
    UPSTREAM_ADDRESSES = 128, /* of one name; more is no answer */
    UPSTREAM_ALIASES = 4096,  /* bytes of the names that it is an alias of; the same */
};

enum upstream_end {
    UPSTREAM_FOUND,
    UPSTREAM_NO_NAME,
    UPSTREAM_NO_ADDRESS,
    UPSTREAM_FAILED,
};

struct upstream_answer {
    enum upstream_end end;
    const char *failure;            /* in a word or two; NULL when it was found */
    const uint8_t (*addresses)[16]; /* IPv4 as ::ffff:a.b.c.d; in the order to dial them */
    size_t count;
    const char *aliases; /* the names that it is an alias of, each with its zero */
    size_t alias_bytes;
    unsigned lasts_seconds;
};

struct upstream;

/* server_port is 53, but for tests. */
struct upstream *upstream_new(struct hub *hub, uint16_t server_port, struct bawn_error *err);
/* Nobody is answered any more. */
void upstream_free(struct upstream *upstream);

/* From the next question on. */
void upstream_set(struct upstream *upstream, const struct resolv_conf *conf);

/* done is called once, perhaps before this returns. -EBUSY: there are too many questions. */
int upstream_ask(struct upstream *upstream, const char *name,
                 void (*done)(void *context, const struct upstream_answer *answer), void *context,
                 struct bawn_error *err);

#endif
