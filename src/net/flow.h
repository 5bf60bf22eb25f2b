/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from one socket to another, one way.
 *
 * How it works: both sockets are watched for changes (EPOLLET) as long as they live, and
 * an end remembers whether it can be read and written: who must wait makes no call. Few
 * bytes are copied. Many are spliced through a pipe, which the flow has only while there
 * are bytes in it. Nothing is read before all that was read has gone on: a client that
 * does not read holds one pipe, or a few kilobytes. Where no pipe is to be had, bytes
 * stay in the socket until they have been sent.
 */
#ifndef NET_FLOW_H
#define NET_FLOW_H

#include "base/strbuf.h"
#include "net/hub.h"
#include "net/pipes.h"

#include <sys/types.h>

enum {
    FLOW_COPY_BYTES = 16 * 1024,    /* at most so many are copied, not spliced */
    FLOW_SCRATCH_BYTES = 64 * 1024, /* of the room that all share */
    FLOW_TURN_BYTES = 512 * 1024,   /* then it is another one's turn */
    FLOW_EVENTS = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI,
};

/* A socket of a connection. */
struct end {
    struct hub_source source; /* fd -EBADF: there is none */
    bool can_read, can_write;
    bool has_ended; /* it has said that it sends no more */
    bool is_broken; /* reset */
    bool is_urgent; /* KERNEL: a read ends before an urgent byte, whatever is behind it */
};

/* For a socket that is new: bytes go out at once, and few wait in it. */
void end_tune(int fd);
/* For one whose other side is on this machine, before it is connected, or listens: KERNEL: a
 * host's usual way may be to pace what is sent (BBR), with a timer for each piece. Memory needs no
 * pace. */
void end_tune_local(int fd);
/* What the kernel tells of it. */
void end_note(struct end *end, uint32_t events);
/* Bytes, 0 at its end, -EAGAIN, or a negative errno. */
ssize_t end_read(struct end *end, void *bytes, size_t size);
/* The same; they stay there to be read. */
ssize_t end_peek(struct end *end, void *bytes, size_t size);
/* How many were sent: 0 when it takes none now; or a negative errno. */
ssize_t end_write(struct end *end, const void *bytes, size_t size);
void end_close(struct hub *hub, struct end *end);
/* The other side sees a reset, not an end. */
void end_reset(struct hub *hub, struct end *end);

enum flow_state {
    FLOW_WAITS,  /* for bytes, or for room */
    FLOW_ENDED,  /* all has gone on; of FLOW_ALL the end, too */
    FLOW_BROKEN, /* one of the two is gone, or ended too early */
};

struct flow {
    struct end *from, *to;
    struct strbuf front; /* goes first */
    size_t front_at;
    struct pipe_pair pipe; /* .in -EBADF: it has none */
    size_t piped;
    bool is_bulk; /* what comes is worth a pipe */
    bool is_over;
    bool is_broken;
    uint64_t left; /* of what is to be read; FLOW_ALL: until its end */
    uint64_t moved;
};

#define FLOW_ALL UINT64_MAX

struct flow_place {
    struct hub *hub;
    struct pipes *pipes;
    char *scratch; /* FLOW_SCRATCH_BYTES */
};

void flow_init(struct flow *flow, struct end *from, struct end *to);
void flow_done(struct flow *flow, struct pipes *pipes);

/* Sends what was put in front and what is in the pipe. 1: all of it; 0: to takes no more now; or a
 * negative errno. */
int flow_drain(struct flow *flow, struct pipes *pipes);
/* Sends these behind what is in front; what is not taken now waits there. */
int flow_send(struct flow *flow, const void *bytes, size_t size);
/* Whether there is more to pass on, or there may be. */
bool flow_has_rest(const struct flow *flow);
/* All that goes now. */
enum flow_state flow_move(struct flow *flow, const struct flow_place *place);

#endif
