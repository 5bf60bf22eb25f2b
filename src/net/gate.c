/* SPDX-License-Identifier: Apache-2.0 */
#include "net/gate.h"

#include "base/error.h"
#include "net/connection.h"
#include "net/resolve.h"
#include "policy/build.h"
#include "wire/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    ACCEPTED_AT_ONCE = 64,
    PAUSE_MS = 100,
    /* Listeners, the image, questions for names. */
    FDS_FOR_OTHERS = 192,
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
    others = FDS_FOR_OTHERS + gate->pipes.most * FDS_OF_PIPE;
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

    if (gate->is_paused && gate->count < gate->most)
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

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    struct host first = {0}, second = {0};

    host_from_address(a, &first);
    host_from_address(b, &second);
    return first.port == second.port && memcmp(first.address, second.address, 16) == 0;
}

/* At a port of the host's, which is listened to at every loopback address, because that takes one
 * descriptor. SECURITY: it is the host's localhost at the two that localhost has; who came by
 * another one wants that very address. */
static void take_port(struct gate *gate, int fd, struct host *to)
{
    if (strcmp(to->name, "127.0.0.1") == 0 || strcmp(to->name, "::1") == 0)
        *to = (struct host){.kind = HOST_NAME, .name = "localhost", .port = to->port};
    connection_start(gate, fd, to);
}

static void take(struct gate_listener *listener, int fd)
{
    struct gate *gate = listener->gate;
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    struct host to = {0};

    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        close(fd);
        return;
    }
    host_from_address(&listener->address, &to);
    if (to.port != NET_PORT) {
        host_from_address(&address, &to);
        take_port(gate, fd, &to);
        return;
    }
    if (is_same(&address, &listener->address)) {
        connection_start(gate, fd, NULL);
        return;
    }
    host_from_address(&address, &to);
    if (to.port == NET_DNS_PORT)
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

        if (gate->count < gate->most)
            fd = accept4(listener->source.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        else
            errno = EMFILE;
        if (fd >= 0) {
            take(listener, fd);
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
    socklen_t size = sizeof(listener->address);

    if (gate->listener_count == GATE_LISTENERS)
        return error_set(err, ENOSPC, "net.listeners", "more than %d listeners", GATE_LISTENERS);
    *listener = (struct gate_listener){
        .gate = gate, .source = {.fd = fd, .events = EPOLLIN, .ready = ready, .context = listener}};
    if (getsockname(fd, (struct sockaddr *)&listener->address, &size) < 0)
        return error_errno(err, errno, "getsockname");
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
