/* SPDX-License-Identifier: Apache-2.0 */
#include "session/relay.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { WAY_BYTES = 16 * 1024, PATIENCE_MS = 10000, DRAIN_BYTES_MAX = 1024 * 1024 };

struct way {
    int from, to;
    bool is_ended; /* nothing more comes, or nobody takes it */
    size_t count, sent;
    char bytes[WAY_BYTES];
};

struct relay {
    struct loop *loop;
    int outside; /* the connection */
    int inside;  /* our end of the pair */
    int given;   /* the other end, until it is handed in */
    struct loop_source outside_source, inside_source;
    struct way in, out;
};

bool relay_is_needed(int fd)
{
    struct sockaddr_storage peer = {0};
    socklen_t peer_length = sizeof(peer);
    int type = 0;
    socklen_t type_length = sizeof(type);

    return getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0 &&
           peer.ss_family != AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) == 0 && type == SOCK_STREAM;
}

static bool is_later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static void take(struct way *way)
{
    ssize_t count = recv(way->from, way->bytes, sizeof(way->bytes), MSG_DONTWAIT);

    way->sent = 0;
    way->count = count > 0 ? (size_t)count : 0;
    way->is_ended = count == 0 || (count < 0 && !is_later());
}

static void give(struct way *way)
{
    ssize_t count =
        send(way->to, way->bytes + way->sent, way->count - way->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (count < 0 && is_later())
        return;
    way->is_ended = count < 0;
    way->sent = count < 0 ? way->count : way->sent + (size_t)count;
    if (way->sent == way->count)
        way->count = way->sent = 0;
}

static void pump(struct way *way)
{
    if (way->count == 0 && !way->is_ended)
        take(way);
    if (way->count > 0)
        give(way);
}

static void watch(struct relay *relay, struct loop_source *source, const struct way *from,
                  const struct way *to)
{
    uint32_t events =
        (from->count == 0 && !from->is_ended ? POLLIN : 0U) | (to->count > 0 ? POLLOUT : 0U);

    /* A source without events leaves the loop: a hang-up would be told again and again. */
    if (events == 0)
        loop_remove(relay->loop, source);
    source->events = events;
    if (events != 0)
        (void)loop_add(relay->loop, source, NULL);
}

static int on_ready(void *context, uint32_t events)
{
    struct relay *relay = context;

    (void)events;
    pump(&relay->in);
    pump(&relay->out);
    /* As the command would see it if the connection were its own. */
    if (relay->in.is_ended && relay->in.count == 0)
        (void)shutdown(relay->inside, SHUT_WR);
    if (relay->out.is_ended)
        (void)shutdown(relay->inside, SHUT_RD);
    watch(relay, &relay->outside_source, &relay->in, &relay->out);
    watch(relay, &relay->inside_source, &relay->out, &relay->in);
    return 0;
}

static int relay_new(struct loop *loop, int fd, bool reads, struct relay **ret_relay,
                     struct bawn_error *err)
{
    struct relay *relay = calloc(1, sizeof(*relay));
    int ends[2];

    if (!relay)
        return error_memory(err);
    relay->outside = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (relay->outside < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        int result = error_errno(err, errno, "relay a stream");

        if (relay->outside >= 0)
            (void)close(relay->outside);
        free(relay);
        return result;
    }
    relay->loop = loop;
    relay->inside = ends[0];
    relay->given = ends[1];
    relay->in.from = relay->out.to = relay->outside;
    relay->in.to = relay->out.from = relay->inside;
    /* What comes by a stream that is only written to is for somebody else. */
    relay->in.is_ended = !reads;
    relay->outside_source =
        (struct loop_source){.fd = relay->outside, .ready = on_ready, .context = relay};
    relay->inside_source =
        (struct loop_source){.fd = relay->inside, .ready = on_ready, .context = relay};
    *ret_relay = relay;
    return 0;
}

static bool are_same(int fd, int other)
{
    struct stat one, two;

    return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_ino == two.st_ino &&
           one.st_dev == two.st_dev;
}

int relays_add(struct relays *relays, struct loop *loop, int stream, int fd, struct bawn_error *err)
{
    struct relay **relay = &relays->of[stream];
    int result;

    for (int i = 0; i < stream && !*relay; i++) {
        if (relays->of[i] && are_same(relays->of[i]->outside, fd))
            *relay = relays->of[i];
    }
    if (*relay)
        return (*relay)->given;
    result = relay_new(loop, fd, stream == STDIN_FILENO, relay, err);
    if (result < 0)
        return result;
    watch(*relay, &(*relay)->outside_source, &(*relay)->in, &(*relay)->out);
    watch(*relay, &(*relay)->inside_source, &(*relay)->out, &(*relay)->in);
    return (*relay)->given;
}

int relays_outside(const struct relays *relays, int stream)
{
    return relays->of[stream] ? relays->of[stream]->outside : -EBADF;
}

void relays_handed_in(struct relays *relays)
{
    for (int i = 0; i < 3; i++) {
        if (relays->of[i] && relays->of[i]->given >= 0)
            (void)close(take_fd(&relays->of[i]->given));
    }
}

static void drain(struct way *way)
{
    struct pollfd room = {.fd = way->to, .events = POLLOUT};
    size_t total = 0;

    do {
        total += way->count;
        while (way->count > 0 && poll(&room, 1, PATIENCE_MS) > 0)
            give(way);
        if (way->count > 0 || way->is_ended)
            return;
        take(way);
    } while (way->count > 0 && total < DRAIN_BYTES_MAX);
}

static void relay_free(struct relay *relay)
{
    loop_remove(relay->loop, &relay->outside_source);
    loop_remove(relay->loop, &relay->inside_source);
    drain(&relay->out);
    (void)close(relay->outside);
    (void)close(relay->inside);
    if (relay->given >= 0)
        (void)close(relay->given);
    free(relay);
}

void relays_stop(struct relays *relays)
{
    for (int i = 0; i < 3; i++) {
        struct relay *relay = relays->of[i];

        for (int j = i; relay && j < 3; j++) {
            if (relays->of[j] == relay)
                relays->of[j] = NULL;
        }
        if (relay)
            relay_free(relay);
    }
}
