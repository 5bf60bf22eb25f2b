/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair of interfaces from a network namespace to ours, and what holds it to public addresses.
 *
 * How it works: the rules of nf_tables about our end (scripts/steer.c) come before the end is up.
 * Their table belongs to a netlink socket: it is gone with the last copy of that. The
 * pair is gone with the namespace, or when it is removed. The name of our end says which four
 * addresses the pair has, so that of two who want the same ones the kernel refuses one. Nothing
 * else of the host's is changed. Of IPv6 the rules refuse the networks that the host is in, too
 * (route_each_own).
 */
#ifndef KERNEL_VETH_H
#define KERNEL_VETH_H

#include <stdbool.h>
#include <stdint.h>

enum { VETH_BITS = 30 };

struct veth {
    uint32_t subnet;   /* given: the first of its four addresses; 0: of some that are free */
    uint32_t mtu;      /* given; 0: the kernel's own */
    bool has_v6;       /* given: IPv6 leads out, too, by addresses that are made from the others */
    int table_fd;      /* owns the rules */
    unsigned index;    /* of our end; 0: there is none */
    const char *doing; /* when it failed: what */
};

/* Whether this host passes on what is not for itself, in a family. */
int veth_forwards(int family);

/* inside_fd: a socket of NETLINK_ROUTE that was made in the other namespace. By who may change
 * both. Returns 0 or a negative errno; what was made is gone then. -EADDRINUSE: the host has a
 * route to the given subnet, or to all that are tried. */
int veth_make(struct veth *veth, int inside_fd);

/* A pair that is gone already is as good. The rules stay. */
void veth_remove(unsigned index);

#endif
