/* SPDX-License-Identifier: Apache-2.0 */
#include "net/handover.h"

#include "base/cleanup.h"
#include "net/dial.h"
#include "net/lookup.h"
#include "net/names.h"
#include "net/own.h"
#include "policy/decide.h"
#include "policy/proxy.h"
#include "wire/net.h"
#include "wire/packet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

enum {
    HANDOVERS_MAX = 512, /* under way */
    WISHES_AT_ONCE = 32,
    LOOKUP_MS = 30000,
};

struct handover {
    struct handovers *all;
    struct handover *next, **link;
    struct net_wish wish;
    struct host to;
    struct lookup *lookup;
    struct hub_timer timer;
    struct dial dial;
    struct end server;
};

static void answer(const struct handovers *all, const struct net_handover *said, int *fd)
{
    struct iovec parts[2] = {{.iov_base = (void *)said, .iov_len = sizeof(*said)}};

    /* Who does not read what it asked for hears nothing. */
    (void)packet_send(all->source.fd, parts, fd, fd && *fd >= 0);
}

static void end(struct handover *handover)
{
    struct hub *hub = handover->all->gate->parts.hub;

    hub_stop_timer(hub, &handover->timer);
    if (handover->lookup)
        lookup_cancel(take_ptr(&handover->lookup));
    dial_stop(&handover->dial);
    *handover->link = handover->next;
    if (handover->next)
        handover->next->link = handover->link;
    handover->all->count--;
    free(handover);
}

static void relay(struct handover *handover)
{
    const struct net_handover said = {.number = handover->wish.number, .way = NET_RELAY};

    answer(handover->all, &said, NULL);
    end(handover);
}

static void fail(struct handover *handover, int errnum)
{
    const struct net_handover said = {
        .number = handover->wish.number, .way = NET_ERROR, .errnum = errnum};

    answer(handover->all, &said, NULL);
    end(handover);
}

/* The socket to this address goes in. */
static void hand(struct handover *handover, const unsigned char address[16], int fd)
{
    struct net_handover said = {.number = handover->wish.number,
                                .way = NET_HAND,
                                .family = handover->wish.family,
                                .port = handover->to.port};

    if (said.family == AF_INET)
        memcpy(said.address, address + 12, 4);
    else
        memcpy(said.address, address, 16);
    tally_handed(&handover->all->gate->tally, &handover->to);
    answer(handover->all, &said, &fd);
    end(handover);
}

static void dialled(void *context, int result)
{
    struct handover *handover = context;
    const struct dial *dial = &handover->dial;

    if (result < 0)
        fail(handover, -result);
    else
        hand(handover, dial->addresses[dial->at - 1], handover->server.source.fd);
}

/* One address: whoever asked waits for it to answer, or does not. */
static void dial_one(struct handover *handover, const struct host *to)
{
    struct sockaddr_storage address;
    socklen_t size = host_address(to->address, handover->to.port, &address);
    autoclose int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        relay(handover);
        return;
    }
    if (connect(fd, (const struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS)
        fail(handover, errno);
    else
        hand(handover, to->address, fd);
}

/* Addresses that were vetted. */
static void dial_all(struct handover *handover, const struct host *addresses, size_t count)
{
    const struct gate *gate = handover->all->gate;
    const struct host *first = NULL;
    struct net_decision decision;

    handover->dial = (struct dial){.hub = gate->parts.hub,
                                   .end = &handover->server,
                                   .port = handover->to.port,
                                   .done = dialled,
                                   .context = handover};
    for (size_t i = 0; i < count; i++) {
        if (own_is_barred(gate->parts.policy, &handover->to, &addresses[i], false, &decision)) {
            relay(handover);
            return;
        }
        if (host_is_v4(&addresses[i]) != (handover->wish.family == AF_INET))
            continue;
        if (!first)
            first = &addresses[i];
        dial_add(&handover->dial, &addresses[i]);
    }
    if (!first || (handover->dial.count > 1 && !handover->wish.waits))
        relay(handover);
    else if (handover->dial.count == 1)
        dial_one(handover, first);
    else
        dial_start(&handover->dial);
}

static void looked_up(void *context, const struct lookup_answer *found)
{
    struct handover *handover = context;

    handover->lookup = NULL;
    hub_stop_timer(handover->all->gate->parts.hub, &handover->timer);
    /* Who is refused is told so by the relay. */
    if (found->count)
        dial_all(handover, found->addresses, found->count);
    else
        relay(handover);
}

static void ring(void *context)
{
    relay(context);
}

static void look_up(struct handover *handover)
{
    const struct gate *gate = handover->all->gate;
    struct lookup *lookup = NULL;
    bool waits = handover->wish.waits;

    /* It may be answered, and gone, when this returns: then lookup is NULL. */
    if (lookup_start(gate->parts.lookups, &handover->to, looked_up, handover, &lookup, NULL) < 0) {
        relay(handover);
        return;
    }
    if (!lookup)
        return;
    handover->lookup = lookup;
    if (waits)
        hub_set_timer(gate->parts.hub, &handover->timer, LOOKUP_MS, ring, handover);
    else
        relay(handover);
}

/* The name that an address stands for. False: it stands for none any more. */
static bool find_name(const struct gate *gate, struct host *to)
{
    char name[LIMIT_HOST_BYTES];

    if (!names_is_synthetic(to))
        return true;
    if (!names_find(gate->parts.names, to, name))
        return false;
    to->kind = HOST_NAME;
    memcpy(to->name, name, sizeof(name));
    return true;
}

/* Whether the rules let it go to its server unheard. */
static bool is_opaque(const struct gate *gate, const struct host *to)
{
    struct net_decision decision;

    decide_net(gate->parts.policy, to, &decision);
    return decision.access == ACCESS_ALLOW && !decision.for_program && decision.rule &&
           decision.rule->opaque && decision.reason != NET_BY_HOST_PORT && !decision.special &&
           to->port != NET_DNS_PORT && !proxy_serves(gate->parts.policy, to);
}

static void go(struct handover *handover)
{
    const struct gate *gate = handover->all->gate;

    if (!find_name(gate, &handover->to) || !is_opaque(gate, &handover->to))
        relay(handover);
    else if (handover->to.kind == HOST_ADDRESS)
        dial_all(handover, &handover->to, 1);
    else
        look_up(handover);
}

/* Where it wants to go. */
static bool read_wish(const struct net_wish *wish, struct host *ret_to)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(wish->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(wish->port)};
    struct sockaddr_storage address = {0};

    if (wish->family == AF_INET) {
        memcpy(&v4.sin_addr, wish->address, sizeof(v4.sin_addr));
        memcpy(&address, &v4, sizeof(v4));
    } else if (wish->family == AF_INET6) {
        memcpy(&v6.sin6_addr, wish->address, sizeof(v6.sin6_addr));
        memcpy(&address, &v6, sizeof(v6));
    } else {
        return false;
    }
    host_from_address(&address, ret_to);
    return true;
}

static void take(struct handovers *all, const struct net_wish *wish)
{
    const struct net_handover refused = {.number = wish->number, .way = NET_RELAY};
    struct handover *handover = all->count < HANDOVERS_MAX ? calloc(1, sizeof(*handover)) : NULL;

    if (!handover || !read_wish(wish, &handover->to)) {
        free(handover);
        answer(all, &refused, NULL);
        return;
    }
    handover->all = all;
    handover->wish = *wish;
    handover->server.source.fd = -EBADF;
    handover->next = all->first;
    handover->link = &all->first;
    if (handover->next)
        handover->next->link = &handover->next;
    all->first = handover;
    all->count++;
    go(handover);
}

static void ready(void *context, uint32_t events)
{
    struct handovers *all = context;

    (void)events;
    for (unsigned i = 0; i < WISHES_AT_ONCE; i++) {
        struct net_wish wish = {0};
        struct iovec parts[2] = {{.iov_base = &wish, .iov_len = sizeof(wish)}};
        ssize_t got = packet_receive(all->source.fd, parts, NULL, 0);

        if (got == 0)
            take(all, &wish);
        if (got == -EPIPE)
            hub_remove(all->gate->parts.hub, &all->source);
        if (got < 0)
            return;
    }
}

int handovers_init(struct handovers *handovers, struct gate *gate, int sock, struct bawn_error *err)
{
    *handovers = (struct handovers){
        .gate = gate,
        .source = {.fd = sock, .events = EPOLLIN, .ready = ready, .context = handovers}};
    return hub_add(gate->parts.hub, &handovers->source, err);
}

void handovers_done(struct handovers *handovers)
{
    hub_remove(handovers->gate->parts.hub, &handovers->source);
    while (handovers->first)
        end(handovers->first);
}
