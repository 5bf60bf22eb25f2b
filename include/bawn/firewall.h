/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the host's firewall that hold one user, for those who force a proxy by uid. */
#ifndef BAWN_FIREWALL_H
#define BAWN_FIREWALL_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bawn_firewall_format {
    BAWN_FIREWALL_NFT,              /* a file for nft -f: one table of its own */
    BAWN_FIREWALL_IPTABLES,         /* a shell script for iptables and ip6tables: own chains */
    BAWN_FIREWALL_IPTABLES_CLEANUP, /* a shell script that removes what the one above made */
    BAWN_FIREWALL_PF,               /* an anchor for pfctl of macOS and FreeBSD */
};

/*
 * What the processes of a user may reach, over IPv4 and IPv6: these ports of
 * loopback, and nothing else. Whatever else they send is refused at once. They
 * may answer connections that somebody makes to them over loopback. A port
 * that is 0 is none. The cleanup reads the user alone.
 */
struct bawn_firewall {
    const char *user;          /* a name or a number; root is refused */
    uint16_t proxy_port;       /* of a proxy that programs are told of */
    uint16_t transparent_port; /* of a proxy that gets all TCP that is not for loopback */
    uint16_t dns_port;         /* of a resolver that gets all that is for port 53 */
    const uint16_t *ports;     /* further TCP ports of loopback */
    size_t port_count;
    bool loopback; /* TCP and UDP to every port of loopback but 53 */
};

/* The rules as text; nothing is loaded. On Linux the ids that /etc/subuid gives the user are held
 * like the user's own: each process of the user can take them. Free the text with free(). */
BAWN_API int bawn_firewall_print(const struct bawn_firewall *firewall,
                                 enum bawn_firewall_format format, char **ret_text,
                                 struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
