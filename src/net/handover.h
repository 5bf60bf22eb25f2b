/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that are handed over: the client inside gets the socket to the server itself.
 *
 * How it works: a wish (wire/net.h) comes before the client has connected. Where the rules allow
 * its host, whatever is said there (opaque), the server is dialled and the socket goes back.
 * All else is answered "relay": the client then connects inside, and is judged, told of, asked
 * about and refused as any other. So is what would take time where the client does not wait: a name
 * that must be looked up, several addresses of which one may not answer; and what a rule for one
 * program is about.
 *
 * A socket goes back before it is connected, unless there are several addresses: whoever waits
 * for it knows for how long, and who interrupts him. What passes is not seen and not counted.
 */
#ifndef NET_HANDOVER_H
#define NET_HANDOVER_H

#include "net/gate.h"

struct handover;

struct handovers {
    struct gate *gate;
    struct hub_source source; /* where wishes come from */
    struct handover *first;   /* that are not answered yet */
    size_t count;
};

/* sock is borrowed. */
int handovers_init(struct handovers *handovers, struct gate *gate, int sock,
                   struct bawn_error *err);
void handovers_done(struct handovers *handovers);

#endif
