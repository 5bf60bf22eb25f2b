/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces, addresses and routes, by rtnetlink. KERNEL: a socket changes the namespace that it
 * was made in, whoever uses it, if he and who made it may. */
#ifndef KERNEL_ROUTE_H
#define KERNEL_ROUTE_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

enum { ROUTE_MESSAGE_BYTES = 1024 };

/* A message that is being put together. */
struct route_message {
    _Alignas(NLMSG_ALIGNTO) char bytes[ROUTE_MESSAGE_BYTES];
    uint32_t size;
};

/* A socket in our own network, or a negative errno. */
int route_open(void);

void route_begin(struct route_message *message, uint16_t type, uint16_t flags, const void *body,
                 size_t size);
void route_add_bytes(struct route_message *message, const void *bytes, size_t size);
void route_add(struct route_message *message, uint16_t type, const void *value, size_t size);
void route_add_u32(struct route_message *message, uint16_t type, uint32_t value);
/* One with others in it; close it with the number that this returns. */
uint32_t route_open_nest(struct route_message *message, uint16_t type);
void route_close_nest(struct route_message *message, uint32_t at);
/* Sends it; *ret_prefix (may be NULL): of the route that the answer tells of. 0 or a negative
 * errno. */
int route_ask(int sock, struct route_message *message, unsigned *ret_prefix);

/* Addresses of IPv4 or IPv6, or one of them. */
struct route_range {
    int family;    /* AF_INET, AF_INET6 */
    unsigned bits; /* that all of them have in common */
    unsigned char address[16];
};

/* Of IPv4; the number is in the machine's order. */
struct route_range route_v4(uint32_t address, unsigned bits);

/* Of the interface with this name. */
int route_find_index(int sock, const char *name, unsigned *ret_index);
/* An address of an interface, whose neighbours have the same first bits. */
int route_add_address(int sock, unsigned index, const struct route_range *range);
/* A way by this interface and address to all that no other route leads to. */
int route_add_default(int sock, unsigned index, const struct route_range *gateway);
/* Which route leads to an address: *ret_bits of it are the route's. -ENETUNREACH: none does. */
int route_find(int sock, const struct route_range *address, unsigned *ret_bits);
/* Whoever goes to these addresses is told at once that he may not, without a packet. -EEXIST: they
 * have a route already. */
int route_prohibit(int sock, const struct route_range *range);
/* The same of all that are not public in a family. */
int route_prohibit_special(int sock, int family);

/* Calls found for each address that our own network has, until it returns a negative errno.
 * SECURITY: of IPv6 for the networks that they are in: a host takes new addresses there from day to
 * day (RFC 8981), and its neighbours have public ones. Link-local ones are left out: they are
 * special. */
int route_each_own(int (*found)(void *context, const struct route_range *own), void *context);

#endif
