/* SPDX-License-Identifier: Apache-2.0 */
/* One message on a SOCK_SEQPACKET socket: a head of a fixed size, bytes behind it, descriptors
 * beside it. Allocates nothing: pid 1 of a sandbox uses it too. */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { PACKET_FDS_MAX = 200 };

/* parts[0] is the head, parts[1] what is behind it (may be empty). Does not wait when the socket
 * does not. 0 or a negative errno. */
int packet_send(int sock, const struct iovec parts[static 2], const int *fds, size_t fd_count);

/*
 * Returns how many bytes came behind the head. Descriptors that came are in fds, the rest of its
 * fd_room is -EBADF; on failure all are closed. -EPIPE: the other side is gone. -EPROTO: the head
 * is cut, or there was more of anything than there is room for.
 */
ssize_t packet_receive(int sock, struct iovec parts[static 2], int *fds, size_t fd_room);

/* Closes those that are there. */
void packet_drop_fds(int *fds, size_t count);

#endif
