/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the resolver share. */
#ifndef NET_RESOLVE_OWN_H
#define NET_RESOLVE_OWN_H

#include "net/dns.h"
#include "net/resolve.h"
#include "net/table.h"
#include "net/who.h"

#include <netinet/in.h>
#include <sys/socket.h>

enum {
    RESOLVE_DOORS = 8,
    RESOLVE_QUESTIONS = 512, /* that wait for an answer from outside */
    RESOLVE_STREAMS = 64,
    RESOLVE_TOLD = 256,        /* names whose refusals are not told again at once */
    RESOLVE_QUERY_BYTES = 2048 /* of one question, with its extension */
};

struct stream;

/* Who asked, and how he is answered. */
struct asker {
    struct stream *stream; /* NULL: by a datagram */
    int fd;                /* of the stream, or that datagrams come by */
    struct sockaddr_storage peer;
    socklen_t peer_bytes;
    /* The address that was asked. */
    bool has_local_v4, has_local_v6;
    struct in_addr local_v4;
    struct in6_pktinfo local_v6;
};

/* A question that waits. */
struct question {
    struct resolver *resolver;
    struct asker asker;
    struct dns_query query;
    struct host host;
    struct lookup *lookup;
    /* Of one that is refused: it is being found out who asked. */
    struct who_request who;
    struct net_decision decision;
    struct question *before, *after;
};

struct told {
    struct table_entry entry;
    int64_t at_ms;
    char name[LIMIT_HOST_BYTES];
};

struct door {
    struct resolver *resolver;
    struct hub_source source;
};

struct resolver {
    struct hub *hub;
    const struct policy *policy;
    struct lookups *lookups;
    struct names *names;
    struct event_sender *events;
    struct who *who; /* NULL: nobody knows who asks */
    struct door doors[RESOLVE_DOORS];
    size_t door_count;
    struct question *questions;
    size_t question_count;
    struct stream *oldest, *newest; /* by when they last asked */
    size_t stream_count;
    struct table told;
    struct told tellings[RESOLVE_TOLD];
};

/* Answers what was asked, now or later. False: it is nothing that gets an answer. */
bool resolve_ask(struct resolver *resolver, const struct asker *asker, const void *bytes,
                 size_t size);
/* Whoever asked by this stream is gone. */
void resolve_forget(struct resolver *resolver, const struct stream *stream);

void resolve_send_datagram(const struct asker *asker, const uint8_t *bytes, size_t size);
void resolve_send_stream(struct stream *stream, const uint8_t *bytes, size_t size);
void resolve_close_stream(struct stream *stream);

#endif
