/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "net/resolve.h"
#include "net/resolve_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE_MS = 10000, READS_AT_ONCE = 4 };

/* One question at a time; what came behind it waits in the kernel. */
struct stream {
    struct resolver *resolver;
    struct hub_source source;
    struct hub_timer timer;
    struct stream *older, *newer;
    bool is_waiting;                     /* for the answer to its question */
    bool is_moving;                      /* move() goes on by itself */
    uint8_t in[2 + RESOLVE_QUERY_BYTES]; /* a length and a question, perhaps more behind */
    size_t in_bytes;
    uint8_t out[2 + DNS_ANSWER_MAX];
    size_t out_bytes, out_sent;
};

static void unlink_stream(struct stream *stream)
{
    struct resolver *resolver = stream->resolver;

    *(stream->older ? &stream->older->newer : &resolver->oldest) = stream->newer;
    *(stream->newer ? &stream->newer->older : &resolver->newest) = stream->older;
}

static void link_newest(struct stream *stream)
{
    struct resolver *resolver = stream->resolver;

    stream->newer = NULL;
    stream->older = resolver->newest;
    *(stream->older ? &stream->older->newer : &resolver->oldest) = stream;
    resolver->newest = stream;
}

void resolve_close_stream(struct stream *stream)
{
    struct resolver *resolver = stream->resolver;

    resolve_forget(resolver, stream);
    unlink_stream(stream);
    resolver->stream_count--;
    hub_stop_timer(resolver->hub, &stream->timer);
    hub_remove(resolver->hub, &stream->source);
    close(stream->source.fd);
    free(stream);
}

static void on_idle(void *context)
{
    resolve_close_stream(context);
}

static void use_stream(struct stream *stream)
{
    unlink_stream(stream);
    link_newest(stream);
    hub_set_timer(stream->resolver->hub, &stream->timer, IDLE_MS, on_idle, stream);
}

/* What a stream does next. */
enum step { STEP_ON, STEP_PAUSE, STEP_CLOSE };

static enum step pause_for(struct stream *stream, uint32_t events)
{
    if (stream->source.events != events &&
        hub_change(stream->resolver->hub, &stream->source, events) < 0)
        return STEP_CLOSE;
    return STEP_PAUSE;
}

static enum step write_out(struct stream *stream)
{
    ssize_t sent = send(stream->source.fd, stream->out + stream->out_sent,
                        stream->out_bytes - stream->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent < 0 && errno == EAGAIN)
        return pause_for(stream, EPOLLOUT);
    if (sent < 0)
        return errno == EINTR ? STEP_ON : STEP_CLOSE;
    stream->out_sent += (size_t)sent;
    if (stream->out_sent == stream->out_bytes)
        stream->out_sent = stream->out_bytes = 0;
    return STEP_ON;
}

static enum step read_in(struct stream *stream)
{
    ssize_t got = recv(stream->source.fd, stream->in + stream->in_bytes,
                       sizeof(stream->in) - stream->in_bytes, MSG_DONTWAIT);

    if (got < 0 && errno == EAGAIN)
        return pause_for(stream, EPOLLIN);
    if (got <= 0)
        return got < 0 && errno == EINTR ? STEP_ON : STEP_CLOSE;
    stream->in_bytes += (size_t)got;
    return STEP_ON;
}

/* The size of the question in front; 0 when it is not there yet; -1 when it cannot be one. */
static ssize_t question_size(const struct stream *stream)
{
    size_t size = stream->in_bytes < 2 ? 0 : (size_t)stream->in[0] << 8 | stream->in[1];

    if (stream->in_bytes < 2)
        return 0;
    if (size == 0 || size > RESOLVE_QUERY_BYTES)
        return -1;
    return stream->in_bytes < 2 + size ? 0 : (ssize_t)size;
}

static enum step take_question(struct stream *stream, size_t size)
{
    struct asker asker = {.stream = stream, .fd = stream->source.fd};
    uint8_t bytes[RESOLVE_QUERY_BYTES];

    memcpy(bytes, stream->in + 2, size);
    stream->in_bytes -= 2 + size;
    memmove(stream->in, stream->in + 2 + size, stream->in_bytes);
    stream->is_waiting = true;
    use_stream(stream);
    return resolve_ask(stream->resolver, &asker, bytes, size) ? STEP_ON : STEP_CLOSE;
}

static enum step step(struct stream *stream, int *reads)
{
    ssize_t size;

    if (stream->out_bytes > 0)
        return write_out(stream);
    if (stream->is_waiting)
        return pause_for(stream, 0);
    size = question_size(stream);
    if (size < 0)
        return STEP_CLOSE;
    if (size > 0)
        return take_question(stream, (size_t)size);
    /* Others have their turn. */
    return (*reads)++ < READS_AT_ONCE ? read_in(stream) : pause_for(stream, EPOLLIN);
}

static void move(struct stream *stream)
{
    enum step next;
    int reads = 0;

    stream->is_moving = true;
    do
        next = step(stream, &reads);
    while (next == STEP_ON);
    stream->is_moving = false;
    if (next == STEP_CLOSE)
        resolve_close_stream(stream);
}

void resolve_send_stream(struct stream *stream, const uint8_t *bytes, size_t size)
{
    stream->is_waiting = false;
    stream->out[0] = (uint8_t)(size >> 8);
    stream->out[1] = (uint8_t)size;
    memcpy(stream->out + 2, bytes, size);
    stream->out_bytes = 2 + size;
    if (!stream->is_moving)
        move(stream);
}

static void on_stream(void *context, uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR))
        resolve_close_stream(context);
    else
        move(context);
}

int resolve_take_tcp(struct resolver *resolver, int fd)
{
    autoclose int owned = fd;
    autofree struct stream *stream = calloc(1, sizeof(*stream));
    int r;

    if (!stream)
        return -ENOMEM;
    if (resolver->stream_count == RESOLVE_STREAMS)
        resolve_close_stream(resolver->oldest);
    stream->resolver = resolver;
    stream->source =
        (struct hub_source){.fd = fd, .events = EPOLLIN, .ready = on_stream, .context = stream};
    r = hub_add(resolver->hub, &stream->source, NULL);
    if (r < 0)
        return r;
    (void)take_fd(&owned);
    resolver->stream_count++;
    link_newest(stream);
    use_stream(take_ptr(&stream));
    return 0;
}
