/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program bawn-net, as the launcher starts it.
 *
 * How it works: it is an aide (session/aide.h) that execs. Its descriptors are,
 * in this order: the image in a memory file, one end of a SEQPACKET pair with the
 * launcher, so many listeners as its first argument says, so many published ones as
 * its second says and, if there are any, the door; if its third says so the socket for
 * handovers; last its end of the channel for events.
 *
 * A listener was made in the sandbox's network namespace. What it is for
 * it says itself, by its family, its type and its port: a stream at NET_PORT takes all
 * connections of the sandbox, the one that a client meant is its local address
 * (IP_TRANSPARENT). A client that means that port on loopback speaks to a proxy.
 * A stream at another port takes what is for it: on loopback that leads to the same
 * port of the host's, if the policy lists it. Without nf_tables such streams, of IPv6 and IPv4
 * at once, are all there are, at NET_PORT and 53 too; then a port that has none is refused.
 * Datagrams at port 53 are questions for names. In the mode veth, and with an engine, there are
 * those alone, and streams at port 53, which are the same. In the mode isolated those to all other
 * ports come to a socket at NET_PORT (IP_RECVORIGDSTADDR), and a raw socket of each family
 * answers them.
 *
 * The published ones are the host's, one for each entry of the policy's list, in its
 * order; what comes there goes to a port inside. For that the door, a SEQPACKET
 * socket, gives a socket that was made inside: struct net_door with a family asks
 * for one, and comes back with an errno or the descriptor.
 *
 * Handovers: with IMAGE_HANDS_OVER the process that makes calls for the sandbox
 * (supervise/dials.h) asks, on a SEQPACKET socket, about each connection that somebody inside is
 * about to make: struct net_wish. What comes back is struct net_handover, in any order.
 */
#ifndef WIRE_NET_H
#define WIRE_NET_H

#include "base/limits.h"

#include <stdint.h>

enum net_fd { NET_IMAGE_FD, NET_CONTROL_FD, NET_LISTENER_FD };

/* Privileged, so that nobody inside can want it, and none of those that browsers refuse. */
enum { NET_PORT = LIMIT_OWN_PORT, NET_DNS_PORT = 53 };

/* Where names are asked for: any address would do. */
#define NET_DNS_ADDRESS "198.18.0.1"
#define NET_DNS_BYTES   198, 18, 0, 1
/* The sandbox's own in IPv6: the first of those that stand for names, which is never given out. */
#define NET_OWN_V6_BYTES 0xfd, 0x53, 0x05, 0xec, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1

/* In the rules' bytes, for an address that is not known before; and one of IPv6, and the mask of
 * its range. */
#define NET_ANY_BYTES     165, 90, 195, 60
#define NET_ANY_V6_BYTES  1, 165, 90, 195, 60, 2, 165, 90, 195, 60, 3, 165, 90, 195, 60, 4
#define NET_MASK_V6_BYTES 5, 165, 90, 195, 60, 6, 165, 90, 195, 60, 7, 165, 90, 195, 60, 8

/* Of the host's end of a veth pair, and of the rules about it: the last eight digits differ. */
#define NET_VETH_NAME "bawn@@@@@@@@"

/* What is said on the control socket: one packet is a kind, and what belongs to it. */
enum net_kind {
    NET_RESOLV,  /* launcher -> net: the host's resolv.conf. First of all, and when it changed */
    NET_LOOK,    /* net -> launcher: look whether it changed; an answer comes only then */
    NET_WHO,     /* net -> launcher: struct net_question; launcher -> net: struct net_answer, in the
                    order of the questions */
    NET_LOGIN,   /* launcher -> net: USER:PASSWORD at the upstream proxy. Before net starts */
    NET_VERDICT, /* launcher -> net: struct ask_verdict (wire/ask.h) */
    NET_KINDS,
};

struct net_door {
    int32_t family; /* asked for: AF_INET or AF_INET6 */
    int32_t errnum; /* answered: 0, and the descriptor is beside it */
};

/* A connection that somebody inside wants, before it is made. */
struct net_wish {
    uint64_t number;           /* comes back in the answer */
    uint16_t family;           /* AF_INET, AF_INET6 */
    uint16_t port;             /* in the machine's order */
    uint32_t waits;            /* 0: the client does not wait, and so must the answer not */
    unsigned char address[16]; /* as in struct net_ends */
};

enum net_way {
    NET_RELAY, /* connect inside: it is bawn-net's to take, to judge and to refuse */
    NET_ERROR, /* it was dialled, in vain: errnum */
    NET_HAND,  /* the socket of the host's is beside it; it may not be connected yet */
    NET_GONE,  /* of the launcher's, for all that were asked: nobody answers */
};

struct net_handover {
    uint64_t number;
    uint32_t way; /* enum net_way */
    int32_t errnum;
    /* Of NET_HAND: what was dialled, as in struct net_wish. */
    uint16_t family, port;
    uint32_t reserved;
    unsigned char address[16];
};

enum { NET_TEXT_BYTES = 8192, NET_LOGIN_BYTES = 512 };

struct net_message {
    uint32_t kind; /* enum net_kind */
    char text[NET_TEXT_BYTES];
};

enum { NET_COMM_BYTES = 16, NET_EXE_BYTES = 1024, NET_PROGRAMS = LIMIT_PROGRAMS };

/* A connection as the client has it. An IPv4 address is the first four bytes. */
struct net_ends {
    uint16_t family;   /* AF_INET, AF_INET6 */
    uint16_t protocol; /* IPPROTO_TCP; or IPPROTO_UDP: who sent a datagram */
    uint16_t client_port, server_port;
    unsigned char client[16], server[16];
};

/* Which program has the other end of a connection? */
struct net_question {
    uint32_t kind;           /* NET_WHO */
    uint32_t wants_programs; /* not only who, but whether a rule for one program holds */
    uint64_t number;
    struct net_ends ends;
};

struct net_answer {
    uint32_t kind; /* NET_WHO */
    int32_t pid;   /* as the host has it; 0: unknown */
    uint64_t number;
    uint64_t programs;         /* a bit for each of rules_programs (wire/rules.h): it is that one */
    char comm[NET_COMM_BYTES]; /* the name it has given itself */
    char exe[NET_EXE_BYTES];   /* its program's path inside; "": unknown */
};

#endif
