/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for names as a resolver reads them, and its answers. What is asked of the resolvers
 * outside is c-ares' business. */
#ifndef NET_DNS_H
#define NET_DNS_H

#include "policy/netrule.h"

enum dns_type { DNS_A = 1, DNS_PTR = 12, DNS_AAAA = 28 };

enum dns_code {
    DNS_OK = 0,
    DNS_BAD_FORM = 1,
    DNS_FAILED = 2,
    DNS_NO_NAME = 3,
    DNS_NOT_DONE = 4,
};

/* Why a name is not there, in the words of RFC 8914. */
enum dns_reason { DNS_NO_REASON = 0, DNS_BLOCKED = 15, DNS_PROHIBITED = 18 };

enum {
    DNS_QUESTION_MAX = 255 + 4, /* the name, type and class */
    DNS_UDP_BYTES = 512,        /* of an answer to who does not say what he takes */
    DNS_UDP_MAX = 1232,         /* of any by UDP: more would come in pieces */
    DNS_ANSWER_MAX = 4096,
};

struct dns_query {
    uint16_t id, type, class;
    bool wants_recursion;
    bool has_extension; /* EDNS: more than DNS_UDP_BYTES, and reasons */
    uint16_t takes_bytes;
    /* Lower case, without a final dot; "" for the root and for what no host can be called. */
    char name[LIMIT_HOST_BYTES];
    uint8_t question[DNS_QUESTION_MAX]; /* as it was asked, for clients that look at its case */
    size_t question_bytes;
};

struct dns_answer {
    enum dns_code code;
    enum dns_reason reason;
    const char *text; /* the reason in words, or NULL */
    uint32_t lasts_seconds;
    /* All of the type that was asked for: 4 or 16 bytes each. */
    const uint8_t *addresses;
    size_t address_count;
    const char *name; /* of DNS_PTR, which has no addresses; or NULL */
};

/* Returns 0; a positive code to answer with (then *ret_query has what can be told: the id); or
 * -EBADMSG for what gets no answer at all. */
int dns_read_query(const void *bytes, size_t size, struct dns_query *ret_query);

/* Writes an answer of at most limit bytes (DNS_ANSWER_MAX at most). What does not fit is left out,
 * and the answer says so: the client then asks by TCP. */
size_t dns_write_answer(const struct dns_query *query, const struct dns_answer *answer,
                        size_t limit, uint8_t out[static DNS_ANSWER_MAX]);

/* The address whose name is asked for: 1.2.0.192.in-addr.arpa, or the like of IPv6. */
bool dns_reverse(const char *name, struct host *ret_address);

/* What an answer by UDP may have. */
size_t dns_udp_limit(const struct dns_query *query);

#endif
