/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes that bytes pass through on their way from socket to socket. Who has no bytes in one gives
 * it back, so that thousands of idle connections need none. */
#ifndef NET_PIPES_H
#define NET_PIPES_H

#include <stddef.h>

/* KERNEL: all pipes of a user share 16,384 pages, of which each takes 64. These leave most to other
 * programs: where they are used up, every new pipe of the user's has two. */
enum { PIPES_MAX = 64 };

struct pipe_pair {
    int out, in; /* read from out what was written to in */
};

struct pipes {
    struct pipe_pair spare[PIPES_MAX];
    size_t spare_count;
    size_t count; /* with those that are in use */
    size_t most;
};

void pipes_init(struct pipes *pipes, size_t most);
void pipes_done(struct pipes *pipes);

/* An empty one. -ENFILE: all are in use, or there are no descriptors for more. */
int pipes_take(struct pipes *pipes, struct pipe_pair *ret_pair);
void pipes_give(struct pipes *pipes, struct pipe_pair *pair, size_t bytes_in_it);

#endif
