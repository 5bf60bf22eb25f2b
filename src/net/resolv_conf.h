/* SPDX-License-Identifier: Apache-2.0 */
/* What a resolv.conf says of the resolvers to ask. Search domains are not read: names are whole. */
#ifndef NET_RESOLV_CONF_H
#define NET_RESOLV_CONF_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum { RESOLV_SERVERS = 3 }; /* further ones are not asked: as glibc */

struct resolv_server {
    char address[INET6_ADDRSTRLEN]; /* as inet_ntop writes it */
    bool is_v6;
    char scope[IF_NAMESIZE]; /* the interface of a link-local one, or its number; else "" */
};

struct resolv_conf {
    struct resolv_server servers[RESOLV_SERVERS];
    size_t server_count;      /* 1 at least: where the text names none that is usable, 127.0.0.1 */
    unsigned timeout_seconds; /* 1 to 30 */
    unsigned attempts;        /* 1 to 5 */
    bool use_tcp;
};

/* Whatever the text, something comes out: lines that are not understood are left out. */
void resolv_conf_read(const char *text, struct resolv_conf *ret_conf);

bool resolv_conf_is_same(const struct resolv_conf *a, const struct resolv_conf *b);

#endif
