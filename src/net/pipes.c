/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PIPE_BYTES = 256 * 1024 };

void pipes_init(struct pipes *pipes, size_t most)
{
    pipes->spare_count = pipes->count = 0;
    pipes->most = most < PIPES_MAX ? most : PIPES_MAX;
}

static void close_pair(struct pipes *pipes, const struct pipe_pair *pair)
{
    close(pair->out);
    close(pair->in);
    pipes->count--;
}

void pipes_done(struct pipes *pipes)
{
    while (pipes->spare_count)
        close_pair(pipes, &pipes->spare[--pipes->spare_count]);
}

int pipes_take(struct pipes *pipes, struct pipe_pair *ret_pair)
{
    int fds[2];

    if (pipes->spare_count) {
        *ret_pair = pipes->spare[--pipes->spare_count];
        return 0;
    }
    if (pipes->count >= pipes->most || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -ENFILE;
    pipes->count++;
    /* Fewer turns for much; where the user has too many already, it stays as it is. */
    (void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
    *ret_pair = (struct pipe_pair){.out = fds[0], .in = fds[1]};
    return 0;
}

void pipes_give(struct pipes *pipes, struct pipe_pair *pair, size_t bytes_in_it)
{
    /* What one connection left behind is not for the next. */
    if (bytes_in_it)
        close_pair(pipes, pair);
    else
        pipes->spare[pipes->spare_count++] = *pair;
    *pair = (struct pipe_pair){.out = -EBADF, .in = -EBADF};
}
