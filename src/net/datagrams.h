/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams to all ports, where the policy lets them out.
 *
 * How it works: what a client sends anywhere comes to one socket, with the address that it
 * meant (kernel/steer.h). Client and address together are a flow, with a socket of
 * its own outside. What comes back there goes in by a raw socket, as if from where the client
 * sent to. A flow that nobody uses ends. SECURITY: the rules decide once for a
 * flow; it keeps the address that was vetted then. What is refused is answered as by
 * a host where nobody listens.
 */
#ifndef NET_DATAGRAMS_H
#define NET_DATAGRAMS_H

#include "net/gate.h"

struct datagrams;

/* What the gate has is borrowed, and outlives it. */
struct datagrams *datagrams_new(struct gate *gate, struct bawn_error *err);
void datagrams_free(struct datagrams *all);

/* The socket that they come to, and the raw one that answers, of one family. Borrowed. */
int datagrams_serve(struct datagrams *all, int fd, struct bawn_error *err);
int datagrams_answer_by(struct datagrams *all, int fd, struct bawn_error *err);

#endif
