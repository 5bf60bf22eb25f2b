/* SPDX-License-Identifier: Apache-2.0 */
/* How what passed between a session and a host is printed, by whoever tells it. */
#ifndef SESSION_PEER_H
#define SESSION_PEER_H

#include "base/strbuf.h"

#include <bawn/session.h>

/* One object, of the list "hosts". */
void peer_as_json(struct strbuf *out, const struct bawn_peer *peer);

/* "a.example:443", or what stands for all that there was no room for. */
const char *peer_name(const struct bawn_peer *peer);

/* "3 connections, 10 bytes sent, 20 received". */
void peer_traffic(struct strbuf *out, const struct bawn_peer *peer);

#endif
