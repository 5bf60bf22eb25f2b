/* SPDX-License-Identifier: Apache-2.0 */
/* A resolver for tests on 127.0.0.1 and another address, which answers from a table and counts. */
#ifndef TESTS_LIB_STUB_H
#define TESTS_LIB_STUB_H

#include "net/dns.h"
#include "net/hub.h"

#include <netinet/in.h>

enum { STUB_STREAMS = 16 };

enum stub_way {
    STUB_PLAIN,
    STUB_SILENT,
    STUB_WRONG_ID,    /* a false answer with another id comes first */
    STUB_WRONG_PLACE, /* a false answer from another port comes first */
    STUB_CUT,         /* by datagrams only that there is more */
    STUB_RAW,         /* the records are the whole answer, behind the id */
};

/* Records are "A 192.0.2.1 AAAA 2001:db8::1 CNAME x.example": those of another type than the
 * question's are left out. */
struct stub_row {
    const char *name; /* "*": any other */
    const char *records;
    int code;
    unsigned lasts_seconds;
    enum stub_way way;
    size_t many;      /* so many addresses 203.0.113.x instead */
    const char *then; /* the records from the second time on */
    unsigned times;   /* how often it was asked, A and AAAA together */
    size_t raw_bytes; /* of STUB_RAW */
};

struct stub {
    struct hub *hub;
    struct stub_row *rows; /* ends with one without a name */
    uint16_t port;
    unsigned asked, asked_by_tcp, other; /* datagrams; questions by TCP; at the other address */
    const char *other_at;
    struct hub_source udp[2], tcp;
    struct stub_end {
        struct stub *stub;
        bool is_other;
    } ends[2];
    struct stub_stream {
        struct stub *stub;
        struct hub_source source;
    } streams[STUB_STREAMS];
    uint16_t ports[256], ids[256]; /* of the first questions */
    char last[LIMIT_HOST_BYTES];
};

/* other_at is 127.0.0.2, or a link-local address of the interface lo. */
void stub_start(struct stub *stub, struct hub *hub, struct stub_row *rows, const char *other_at);
void stub_stop(struct stub *stub);

/* Runs the hub until hub_end; fails after so many milliseconds. */
void stub_run(struct hub *hub, int most_ms);

#endif
