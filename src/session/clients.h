/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program inside has the other end of a connection that bawn-net took: it has
 * no file system, so the launcher looks.
 *
 * How it works: for a line in the log the first process that has the socket will
 * do. A rule for one program holds only where every process that has the socket is
 * that program, and all of the sandbox's were looked at. SECURITY: the command can ask as
 * often as it connects, and have many processes. So in each second the launcher looks
 * for a part of it; what is asked beyond that is answered at once: unknown.
 */
#ifndef SESSION_CLIENTS_H
#define SESSION_CLIENTS_H

#include "launch/launch.h"
#include "supervise/programs.h"
#include "wire/net.h"

struct clients {
    const struct launch *launch;
    struct programs programs;
    int64_t second_ms;  /* when this second began */
    int64_t spent_usec; /* of it */
};

void clients_init(struct clients *clients, const struct launch *launch, const struct image *image);
void clients_answer(struct clients *clients, const struct net_question *question,
                    struct net_answer *ret_answer);

#endif
