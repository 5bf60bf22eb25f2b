/* SPDX-License-Identifier: Apache-2.0 */
#include "net/gate.h"

#include "base/error.h"
#include "net/connection.h"
#include "net/resolve.h"
#include "policy/build.h"
#include "policy/network.h"
#include "wire/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ACCEPTED_AT_ONCE = 64,
    PAUSE_MS = 100,
    /* Listeners, the image, questions for names. */
    FDS_FOR_OTHERS = 192,
    TURNED_AWAY_MOST = 32, /* at once: they are told why */
    FDS_OF_CONNECTION = 2,
    FDS_OF_PIPE = 2,
    FLOWS_MOST = 1024,
};

void gate_init(struct gate *gate, const struct gate_parts *parts)
{
    size_t pipes = parts->fds_max / 16;
    size_t others;

    memset(gate, 0, sizeof(*gate));
    gate->parts = *parts;
    tally_init(&gate->tally, parts->hub, parts->events);
    pipes_init(&gate->pipes, pipes);
    gate->place = (struct flow_place){parts->hub, &gate->pipes, gate->scratch};
    gate->flows_most = parts->fds_max / 8 < FLOWS_MOST ? parts->fds_max / 8 : FLOWS_MOST;
    others = FDS_FOR_OTHERS + TURNED_AWAY_MOST + gate->pipes.most * FDS_OF_PIPE;
    if (policy_number(parts->policy, SETTING_NETWORK_MODE) == NETWORK_ISOLATED)
        others += gate->flows_most;
    gate->most = parts->fds_max > others + FDS_OF_CONNECTION
                     ? (parts->fds_max - others) / FDS_OF_CONNECTION
                     : 1;
}

static void set_listening(struct gate *gate, bool listens)
{
    for (size_t i = 0; i < gate->listener_count; i++)
        (void)hub_change(gate->parts.hub, &gate->listeners[i].source, listens ? EPOLLIN : 0);
    gate->is_paused = !listens;
}

static void resume(void *context)
{
    struct gate *gate = context;

    if (gate->is_paused && gate->count < gate->most + TURNED_AWAY_MOST)
        set_listening(gate, true);
}

/* For want of descriptors: until some are given back, or others gave theirs back. */
static void pause_accepting(struct gate *gate)
{
    set_listening(gate, false);
    hub_set_timer(gate->parts.hub, &gate->pause, PAUSE_MS, resume, gate);
}

void gate_freed(struct gate *gate)
{
    gate->count--;
    if (gate->is_paused && !gate->pause.is_set)
        set_listening(gate, true);
}

enum loopback { LOOPBACK_NOT, LOOPBACK_OTHER, LOOPBACK_FIRST };

/* Of IPv4 there are many, and all but the first are nobody's. */
static enum loopback loopback_of(const struct host *host)
{
    static const unsigned char v6[16] = {[15] = 1}, v4[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

    if (memcmp(host->address, v6, sizeof(v6)) == 0 || memcmp(host->address, v4, sizeof(v4)) == 0)
        return LOOPBACK_FIRST;
    return host_is_v4(host) && host->address[12] == v4[12] ? LOOPBACK_OTHER : LOOPBACK_NOT;
}

/* As the kernel does where nobody listens, if later. */
static void reset(int fd)
{
    const struct linger at_once = {.l_onoff = 1};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

/* SECURITY: what is meant for the loopback is never the loopback of the host's, but for the ports
 * that the policy lists. Those are listened to at every loopback address, because that takes one
 * descriptor: they are the host's localhost at the two that localhost has, and who came by another
 * one wants that very address. */
static void take_local(struct gate *gate, int fd, const struct host *to, enum loopback loopback)
{
    const struct host port = {.kind = HOST_NAME, .name = "localhost", .port = to->port};

    if (to->port == NET_PORT && loopback == LOOPBACK_FIRST)
        connection_start(gate, fd, NULL);
    else if (to->port != NET_PORT && network_host_port(gate->parts.policy, to->port))
        connection_start(gate, fd, loopback == LOOPBACK_FIRST ? &port : to);
    else
        reset(fd);
}

static void take(struct gate *gate, int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    struct host to = {0};
    enum loopback loopback;

    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        close(fd);
        return;
    }
    host_from_address(&address, &to);
    loopback = loopback_of(&to);
    if (loopback != LOOPBACK_NOT)
        take_local(gate, fd, &to, loopback);
    else if (to.port == NET_DNS_PORT)
        (void)resolve_take_tcp(gate->parts.resolver, fd);
    else
        connection_start(gate, fd, &to);
}

static void ready(void *context, uint32_t events)
{
    struct gate_listener *listener = context;
    struct gate *gate = listener->gate;

    (void)events;
    for (unsigned i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int fd = -1;

        if (gate->count < gate->most + TURNED_AWAY_MOST)
            fd = accept4(listener->source.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        else
            errno = EMFILE;
        if (fd >= 0) {
            take(gate, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(gate);
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

int gate_listen(struct gate *gate, int fd, struct bawn_error *err)
{
    struct gate_listener *listener = &gate->listeners[gate->listener_count];

    if (gate->listener_count == GATE_LISTENERS)
        return error_set(err, ENOSPC, "net.listeners", "more than %d listeners", GATE_LISTENERS);
    *listener = (struct gate_listener){
        .gate = gate, .source = {.fd = fd, .events = EPOLLIN, .ready = ready, .context = listener}};
    gate->listener_count++;
    end_tune_local(fd);
    return hub_add(gate->parts.hub, &listener->source, err);
}

void gate_done(struct gate *gate)
{
    while (gate->connections)
        connection_stop(gate->connections);
    hub_stop_timer(gate->parts.hub, &gate->pause);
    for (size_t i = 0; i < gate->listener_count; i++)
        hub_remove(gate->parts.hub, &gate->listeners[i].source);
    pipes_done(&gate->pipes);
    tally_flush(&gate->tally);
    hub_stop_timer(gate->parts.hub, &gate->tally.timer);
}
