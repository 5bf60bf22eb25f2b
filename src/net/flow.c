/* SPDX-License-Identifier: Apache-2.0 */
#include "net/flow.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

void end_tune(int fd)
{
    const int yes = 1, waiting_bytes = 128 * 1024;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    /* KERNEL: else megabytes for a client that does not read are taken from a server. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &waiting_bytes, sizeof(waiting_bytes));
}

void end_tune_local(int fd)
{
    static const char unpaced[] = "reno";

    (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, unpaced, sizeof(unpaced) - 1);
}

void end_note(struct end *end, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        end->can_read = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        end->can_write = true;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        end->has_ended = true;
    if (events & EPOLLERR)
        end->is_broken = true;
    if (events & EPOLLPRI)
        end->is_urgent = true;
}

/* The result of a call on its socket. */
static ssize_t note_read(struct end *end, ssize_t got)
{
    if (got >= 0)
        return got;
    if (errno == EINTR)
        errno = EAGAIN; /* the rest of it comes with the next try */
    else if (errno == EAGAIN)
        end->can_read = false;
    return -errno;
}

ssize_t end_read(struct end *end, void *bytes, size_t size)
{
    ssize_t got = note_read(end, recv(end->source.fd, bytes, size, 0));

    /* All that there was: more is told of. Not of its end, when that was told of already. */
    if (got > 0 && (size_t)got < size && !end->has_ended && !end->is_urgent)
        end->can_read = false;
    return got;
}

ssize_t end_peek(struct end *end, void *bytes, size_t size)
{
    return note_read(end, recv(end->source.fd, bytes, size, MSG_PEEK));
}

static ssize_t note_written(struct end *end, ssize_t sent)
{
    if (sent >= 0)
        return sent;
    if (errno == EAGAIN)
        end->can_write = false;
    return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

ssize_t end_write(struct end *end, const void *bytes, size_t size)
{
    ssize_t sent = note_written(end, send(end->source.fd, bytes, size, MSG_NOSIGNAL));

    /* KERNEL: room is told of once a call has failed for want of it, or sent less than it should.
     */
    if (sent >= 0 && (size_t)sent < size)
        end->can_write = false;
    return sent;
}

void end_close(struct hub *hub, struct end *end)
{
    if (end->source.fd < 0)
        return;
    hub_remove(hub, &end->source);
    close(take_fd(&end->source.fd));
}

void end_reset(struct hub *hub, struct end *end)
{
    const struct linger at_once = {.l_onoff = 1};

    if (end->source.fd >= 0)
        (void)setsockopt(end->source.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    end_close(hub, end);
}

void flow_init(struct flow *flow, struct end *from, struct end *to)
{
    *flow = (struct flow){
        .from = from, .to = to, .pipe = {.out = -EBADF, .in = -EBADF}, .left = FLOW_ALL};
}

void flow_done(struct flow *flow, struct pipes *pipes)
{
    strbuf_done(&flow->front);
    flow->front_at = 0;
    if (flow->pipe.in >= 0)
        pipes_give(pipes, &flow->pipe, flow->piped);
    flow->piped = 0;
}

static int drain_front(struct flow *flow)
{
    while (flow->front_at < flow->front.length) {
        ssize_t sent = flow->to->can_write ? end_write(flow->to, flow->front.text + flow->front_at,
                                                       flow->front.length - flow->front_at)
                                           : 0;

        if (sent <= 0)
            return (int)sent;
        flow->front_at += (size_t)sent;
        flow->moved += (size_t)sent;
    }
    if (flow->front_at) {
        strbuf_done(&flow->front);
        flow->front_at = 0;
    }
    return 1;
}

int flow_drain(struct flow *flow, struct pipes *pipes)
{
    int result = drain_front(flow);

    while (result > 0 && flow->piped) {
        ssize_t sent = 0;

        if (flow->to->can_write)
            sent = note_written(flow->to, splice(flow->pipe.out, NULL, flow->to->source.fd, NULL,
                                                 flow->piped, SPLICE_F_NONBLOCK | SPLICE_F_MOVE));
        if (sent <= 0)
            return (int)sent;
        flow->piped -= (size_t)sent;
        flow->moved += (size_t)sent;
    }
    if (result > 0 && flow->pipe.in >= 0)
        pipes_give(pipes, &flow->pipe, 0);
    return result;
}

int flow_send(struct flow *flow, const void *bytes, size_t size)
{
    const char *rest = bytes;
    size_t sent = 0;

    if (flow->front_at == flow->front.length && flow->to->can_write) {
        ssize_t result = end_write(flow->to, bytes, size);

        if (result < 0)
            return (int)result;
        sent = (size_t)result;
        flow->moved += sent;
    }
    if (sent < size)
        strbuf_add_bytes(&flow->front, rest + sent, size - sent);
    return flow->front.failed ? -ENOMEM : 0;
}

static size_t at_most(const struct flow *flow, size_t size)
{
    return flow->left < size ? (size_t)flow->left : size;
}

/* Bytes that have come, 0 at the end, or a negative errno. */
static ssize_t copy(struct flow *flow, const struct flow_place *place)
{
    ssize_t got = end_read(flow->from, place->scratch, at_most(flow, FLOW_COPY_BYTES));
    int result;

    if (got <= 0)
        return got;
    flow->is_bulk = got == FLOW_COPY_BYTES;
    result = flow_send(flow, place->scratch, (size_t)got);
    return result < 0 ? result : got;
}

/* Without a pipe, and nothing is held: what is sent is taken out of the socket then. */
static ssize_t copy_sent(struct flow *flow, const struct flow_place *place)
{
    int fd = flow->from->source.fd;
    ssize_t got = note_read(flow->from,
                            recv(fd, place->scratch, at_most(flow, FLOW_SCRATCH_BYTES), MSG_PEEK));
    ssize_t sent;

    if (got <= 0)
        return got;
    sent = end_write(flow->to, place->scratch, (size_t)got);
    if (sent <= 0)
        return sent < 0 ? sent : -EAGAIN;
    flow->moved += (size_t)sent;
    /* KERNEL: with MSG_TRUNC the bytes of a stream are dropped, not copied. */
    return note_read(flow->from, recv(fd, NULL, (size_t)sent, MSG_TRUNC));
}

static ssize_t fill(struct flow *flow, const struct flow_place *place)
{
    ssize_t got;

    if (!flow->is_bulk)
        return copy(flow, place);
    if (pipes_take(place->pipes, &flow->pipe) < 0)
        return copy_sent(flow, place);
    got = note_read(flow->from,
                    splice(flow->from->source.fd, NULL, flow->pipe.in, NULL,
                           at_most(flow, FLOW_TURN_BYTES), SPLICE_F_NONBLOCK | SPLICE_F_MOVE));
    if (got > 0)
        flow->piped = (size_t)got;
    else
        pipes_give(place->pipes, &flow->pipe, 0);
    /* Not for want of more now: a client and we take turns, and its next piece is as large. */
    if (got > 0 && got < FLOW_COPY_BYTES)
        flow->is_bulk = false;
    return got;
}

bool flow_has_rest(const struct flow *flow)
{
    return !flow->is_over && !flow->is_broken &&
           (flow->front.length || flow->piped || flow->from->can_read);
}

/* The kernel tells once more that it can be read, behind what it tells of others. */
static enum flow_state yield(struct flow *flow, const struct flow_place *place)
{
    struct hub_source *source = &flow->from->source;

    flow->is_broken = hub_change(place->hub, source, source->events) < 0;
    return flow->is_broken ? FLOW_BROKEN : FLOW_WAITS;
}

/* What came of a try to read. */
static void note_filled(struct flow *flow, ssize_t got)
{
    bool has_end = got == 0;

    if (got > 0 && flow->left != FLOW_ALL)
        flow->left -= (size_t)got;
    flow->is_broken = (got < 0 && got != -EAGAIN) || (has_end && flow->left != FLOW_ALL);
    flow->is_over = has_end && !flow->is_broken;
    if (flow->is_over)
        (void)shutdown(flow->to->source.fd, SHUT_WR);
}

enum flow_state flow_move(struct flow *flow, const struct flow_place *place)
{
    size_t turn = FLOW_TURN_BYTES;

    while (!flow->is_over && !flow->is_broken) {
        int drained = flow_drain(flow, place->pipes);
        ssize_t got;

        if (drained < 0) {
            flow->is_broken = true;
        } else if (drained > 0 && flow->left == 0) {
            flow->is_over = true;
        } else if (drained == 0 || !flow->from->can_read || !flow->to->can_write) {
            return FLOW_WAITS;
        } else if (turn == 0) {
            return yield(flow, place);
        } else {
            got = fill(flow, place);
            note_filled(flow, got);
            turn -= got > 0 && (size_t)got < turn ? (size_t)got : got > 0 ? turn : 0;
        }
    }
    return flow->is_broken ? FLOW_BROKEN : FLOW_ENDED;
}
