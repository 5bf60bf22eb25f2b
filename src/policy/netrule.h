/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts: reading rules and targets, and finding the rules that match a target. */
#ifndef POLICY_NETRULE_H
#define POLICY_NETRULE_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/report.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct layer;

enum host_kind {
    HOST_NAME,       /* "a.example" */
    HOST_SUBDOMAINS, /* "*.example": below, not the apex */
    HOST_DOMAIN,     /* "**.example": the apex and all below */
    HOST_ADDRESS,    /* an IP address or a CIDR range */
};

/* A host in a rule, or a target. Names are lower case, without a final dot. */
struct host {
    enum host_kind kind;
    char name[LIMIT_HOST_BYTES]; /* for addresses: the canonical text, without prefix length */
    unsigned char address[16];   /* IPv4 as ::ffff:a.b.c.d */
    unsigned prefix_bits;        /* of the 128; 128 for one address */
    uint16_t port;               /* 0: any (rules only) */
};

struct net_rule {
    struct host host;
    enum { NET_ALLOW, NET_ASK, NET_DENY } verdict;
    bool opaque;         /* what is said on the connection need be neither TLS nor HTTP */
    bool ech;            /* a TLS client may hide the name that it wants */
    const char *by;      /* only for this program and what it starts: its path; NULL: for all */
    const char *spelled; /* the host, as host_parse_rule reads it */
    const struct layer *layer;
    struct origin origin;
    struct net_rule *next; /* in the index: others with the same key */
};

struct netindex {
    struct map by_key;
    bool has_prefix[129]; /* the prefix lengths that occur */
};

/* Reads a rule such as "*.example:443", "10.0.0.0/8" or "[2001:db8::1]:80". Returns NULL, or what
 * is wrong with it. */
const char *host_parse_rule(const char *text, struct host *ret_host);

/* Reads NAME:PORT, IPV4:PORT or [IPV6]:PORT. Returns NULL, or what is wrong with it. */
const char *host_parse_target(const char *text, struct host *ret_host);

/* Reads an address alone, without a port. */
bool host_parse_address(const char *text, struct host *ret_host);

/* Whether an address is of IPv4. */
bool host_is_v4(const struct host *address);

/* The four bytes of an address of IPv4, as a host has them. */
void host_put_v4(unsigned char out[static 16], const void *v4);

/* An address, as a host has it, and a port as a socket takes them. Returns the size. */
socklen_t host_address(const unsigned char address[static 16], uint16_t port,
                       struct sockaddr_storage *ret_address);

/* The same of a socket of IPv4 or IPv6. */
void host_from_address(const struct sockaddr_storage *address, struct host *ret_host);

/* Why an address is not reached unless a rule names it ("private", "link-local", ...), or NULL. A
 * range names it only when its prefix is at least *ret_prefix_bits long: 0.0.0.0/0 names nothing
 * in particular. */
const char *host_special(const struct host *host, unsigned *ret_prefix_bits);

/* "allow", "ask" or "deny". */
const char *net_verdict_word(const struct net_rule *rule);

/* The rule as policies spell it and every answer names it: "a.example:22 opaque ech=allow by=/x".
 */
void net_rule_words(const struct net_rule *rule, struct strbuf *out);

void netindex_done(struct netindex *index);
bool netindex_add(struct netindex *index, struct net_rule *rule);

/* Calls found for every rule that matches the target; how specific the match is grows with
 * specificity: a longer name or prefix, and a port over none. */
void netindex_ask(const struct netindex *index, const struct host *target,
                  void (*found)(void *context, const struct net_rule *rule, unsigned specificity),
                  void *context);

/* The same of rules for whatever port. */
void netindex_ask_ports(const struct netindex *index, const struct host *target,
                        void (*found)(void *context, const struct net_rule *rule,
                                      unsigned specificity),
                        void *context);

#endif
