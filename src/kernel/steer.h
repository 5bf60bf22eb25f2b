/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that programs in a network namespace send, steered to our listeners.
 *
 * How it works: every address is one of the namespace's own (a local route on the
 * loopback), so whoever connects anywhere is answered here. What is not for the
 * loopback addresses goes to one listener for each family, whatever port was meant
 * (tproxy in nf_tables); the connection's own address is what its client
 * meant. Datagrams to port 53 find the socket that is bound there. Others come to us
 * the same way as connections, and we answer by a raw socket; or they find nobody, and the
 * sender is told at once.
 *
 * Without nf_tables ordinary listeners at all addresses take what is for their port. At any
 * other port nobody listens, and the kernel refuses.
 */
#ifndef KERNEL_STEER_H
#define KERNEL_STEER_H

#include "base/limits.h"
#include "kernel/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEER_PORTS = 2 + LIMIT_STEERED_PORTS + LIMIT_PORTS, /* our own two, the rules', the host's */
    STEER_LISTENERS = 2 + STEER_PORTS,
};

struct steer {
    uint16_t ports[STEER_PORTS]; /* given: those of the loopback that are listened at, too */
    unsigned port_count;
    bool is_plain;        /* given: without nf_tables, at these ports alone */
    bool takes_datagrams; /* given: those to all ports; not if it is plain */
    /* Of IPv4, then of IPv6, if there is any: streams, questions for names, with takes_datagrams
     * those and what answers them; if it is plain, questions alone. Then the given ports. */
    int listeners[STEER_LISTENERS];
    unsigned count;
    int diag_fd;       /* tells of the sockets inside, see kernel/who.h; negative: nobody does */
    bool is_guarded;   /* given to steer_names: nothing that is not public can be sent to */
    bool has_v6;       /* given with that: nor is all of IPv6 refused */
    int rules_fd;      /* of that: for steer_refuse */
    int route_fd;      /* of steer_names: by it the namespace's network can be changed */
    const char *doing; /* when it failed: what */
};

/* In a new network namespace whose loopback is up, by who may change it. Bare calls: libc's errno
 * stays as it is. Returns 0 or a negative errno; the descriptors are the caller's in any case.
 * -ESTALE: it need not be plain. */
int steer_make(struct steer *steer);

/* The same for questions for names alone, at one address of the loopback: streams and datagrams.
 * All else goes where the namespace's routes lead. */
int steer_names(struct steer *steer);
/* More addresses that cannot be sent to, in the namespace where rules_fd was made; of IPv4 just
 * one. */
int steer_refuse(int rules_fd, const struct route_range *range);
/* Puts a range of IPv6 where rules have NET_ANY_V6_BYTES and NET_MASK_V6_BYTES. */
bool steer_put_range(unsigned char *rules, size_t size, const struct route_range *range);

#endif
