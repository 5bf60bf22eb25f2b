/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets of c-ares, for the sake of link-local servers.
 *
 * How it works: c-ares 1.18 knows nothing of the interface of such a server, and 1.34 leaves the
 * server out. It is told another address, which leads nowhere (RFC 6666). Where it connects to
 * that, the socket is connected to the server; what comes from there has the other address again.
 */
#ifndef NET_UPSTREAM_SOCKET_H
#define NET_UPSTREAM_SOCKET_H

#include "net/resolv_conf.h"

#include <ares.h>

/* conf is borrowed, and read when a socket is connected. False: c-ares does not take them. */
bool upstream_socket_set(ares_channel channel, const struct resolv_conf *conf);

/* The address that c-ares is told; NULL: there is no such interface. */
const char *upstream_socket_address(const struct resolv_server *server,
                                    char out[static INET6_ADDRSTRLEN]);

#endif
