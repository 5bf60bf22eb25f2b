/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that is a standard stream, but must not come in itself: its
 * bytes go back and forth by way of a socket pair. One buffer each way: what
 * does not fit is not read, so that the side that writes too much waits.
 */
#ifndef SESSION_RELAY_H
#define SESSION_RELAY_H

#include "base/loop.h"

struct relay;

/* Whether it is a connection of a network. */
bool relay_is_needed(int fd);

/* Those of the three streams that are relayed; NULL the others. Streams that are the same
 * connection have the same relay. */
struct relays {
    struct relay *of[3];
};

/* Returns the descriptor to hand in. fd is borrowed until relays_handed_in. */
int relays_add(struct relays *relays, struct loop *loop, int stream, int fd,
               struct bawn_error *err);
/* The descriptor that was given for this stream, or -EBADF: it is not relayed. */
int relays_outside(const struct relays *relays, int stream);
/* They are the command's alone now: who has them open inside is all that counts. */
void relays_handed_in(struct relays *relays);
/* Passes on what the command still said, waiting for whoever is slow. */
void relays_stop(struct relays *relays);

#endif
