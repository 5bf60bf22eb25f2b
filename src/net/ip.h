/* SPDX-License-Identifier: Apache-2.0 */
/* Whole packets for a raw socket: datagrams that come from where the client sent to, and the word
 * that nobody is there. */
#ifndef NET_IP_H
#define NET_IP_H

#include "policy/netrule.h"

enum { IP_HEADS_MAX = 40 + 8, IP_NOTICE_MAX = 128, IP_DATAGRAM_MAX = 65535 - (20 + 8) };

/* The heads of a datagram from one address to another of the same family; returns their bytes, and
 * 0 where the families differ. The payload follows them. */
size_t ip_write_heads(const struct host *from, const struct host *to, const void *payload,
                      size_t payload_bytes, uint8_t out[static IP_HEADS_MAX]);

/* To the sender of a datagram: there is nobody at that port. Returns the bytes of the packet. */
size_t ip_write_unreachable(const struct host *sender, const struct host *meant,
                            uint8_t out[static IP_NOTICE_MAX]);

#endif
