/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket of the host's that is handed in, connected to a server that the rules allow.
 *
 * SECURITY: what keeps it there. Landlock lets the command connect and bind no TCP socket of its
 * own, whatever descriptor it has by the time that it calls. The supervisor connects, binds and
 * listens on the very socket that it has looked at, and on none of the host's. And should any
 * of that fail, the socket drops all segments that do not come from its server: a filter
 * that nobody can take off.
 */
#ifndef SUPERVISE_HANDED_H
#define SUPERVISE_HANDED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Plain TCP, of IPv4 or IPv6. */
bool handed_is_tcp(int sock);
/* Which network it is of: no two have the same number, and it never changes. 0: it is no socket. */
uint64_t handed_net(int sock);
/* Its state, as TCP_ESTABLISHED; 0: unknown. */
int handed_state(int sock);

/* From now on it takes segments of this server alone. A negative errno: it must not be handed in.
 */
int handed_bar(int sock, const struct sockaddr_storage *server);
/* What a client may have set before it connects. */
void handed_copy_options(int from, int to);

/* What connect(2) says of a socket that was dialled: 0 at first, then -EISCONN, or why it failed;
 * -EINPROGRESS: not yet known. */
int handed_settle(int sock);

#endif
