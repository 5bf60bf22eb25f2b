/* SPDX-License-Identifier: Apache-2.0 */
#include "net/datagrams.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "net/ip.h"
#include "net/lookup.h"
#include "net/names.h"
#include "net/own.h"
#include "net/table.h"
#include "policy/decide_net.h"
#include "policy/explain.h"
#include "policy/message.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum {
    FLOW_MS = 60000,
    AT_ONCE = 64,
    FAMILIES = 2,
    KEY_BYTES = 2 * (46 + 8),
    WAITING_BYTES = 4 << 20, /* of all first datagrams that wait for their names */
};

struct datagram_flow {
    struct table_entry entry; /* first of all */
    char key[KEY_BYTES];
    struct datagrams *all;
    struct host client, meant; /* addresses, with their ports */
    struct host to;            /* the name that was meant, or the same address */
    struct hub_source source;  /* outside; fd -EBADF: none yet */
    struct hub_timer timer;
    struct lookup *lookup;
    bool is_refused;
    const void *first; /* until it is sent: the first datagram, NULL: it is lost */
    void *waiting;     /* its room, while it waits for the name */
    size_t first_bytes;
    uint64_t sent, received;
};

/* A socket that they come to. */
struct door {
    struct datagrams *all;
    struct hub_source source;
};

struct datagrams {
    struct gate *gate;
    struct table flows;
    struct door doors[FAMILIES];
    size_t door_count;
    int raw[FAMILIES]; /* of IPv4, of IPv6 */
    size_t waiting_bytes;
};

struct datagrams *datagrams_new(struct gate *gate, struct bawn_error *err)
{
    struct datagrams *all = calloc(1, sizeof(*all));

    if (!all || table_init(&all->flows, gate->flows_most, err) < 0) {
        free(all);
        (void)error_memory(err);
        return NULL;
    }
    all->gate = gate;
    all->raw[0] = all->raw[1] = -EBADF;
    return all;
}

static void forget_first(struct datagram_flow *flow)
{
    if (flow->waiting)
        flow->all->waiting_bytes -= flow->first_bytes;
    free(take_ptr(&flow->waiting));
    flow->first = NULL;
}

static void flow_end(struct datagram_flow *flow)
{
    struct gate *gate = flow->all->gate;

    forget_first(flow);
    if (flow->lookup)
        lookup_cancel(take_ptr(&flow->lookup));
    hub_stop_timer(gate->parts.hub, &flow->timer);
    if (flow->source.fd >= 0) {
        hub_remove(gate->parts.hub, &flow->source);
        (void)close(flow->source.fd);
        tally_reached(&gate->tally, &flow->to, flow->sent, flow->received);
    }
    table_remove(&flow->all->flows, &flow->entry);
    free(flow);
}

void datagrams_free(struct datagrams *all)
{
    if (!all)
        return;
    while (all->flows.oldest)
        flow_end((struct datagram_flow *)all->flows.oldest);
    for (size_t i = 0; i < all->door_count; i++)
        hub_remove(all->gate->parts.hub, &all->doors[i].source);
    table_done(&all->flows);
    free(all);
}

static void ring(void *context)
{
    flow_end(context);
}

static void use(struct datagram_flow *flow)
{
    table_use(&flow->all->flows, &flow->entry);
    hub_set_timer(flow->all->gate->parts.hub, &flow->timer, FLOW_MS, ring, flow);
}

/* Into the sandbox, with heads of our own in front. */
static void send_inside(const struct datagram_flow *flow, const void *heads, size_t head_bytes,
                        const void *bytes, size_t size)
{
    int fd = flow->all->raw[host_is_v4(&flow->client) ? 0 : 1];
    struct sockaddr_storage address;
    /* KERNEL: of a raw packet the port is no business of the socket's. */
    socklen_t address_bytes = host_address(flow->client.address, 0, &address);
    struct iovec parts[2] = {{.iov_base = (void *)(uintptr_t)heads, .iov_len = head_bytes},
                             {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size}};
    const struct msghdr message = {.msg_name = &address,
                                   .msg_namelen = address_bytes,
                                   .msg_iov = parts,
                                   .msg_iovlen = size ? 2 : 1};

    /* As on any network, what finds no room is lost. */
    if (fd >= 0 && head_bytes)
        (void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void say_nobody_is_there(const struct datagram_flow *flow)
{
    uint8_t notice[IP_NOTICE_MAX];

    send_inside(flow, notice, ip_write_unreachable(&flow->client, &flow->meant, notice), NULL, 0);
}

static void refuse(struct datagram_flow *flow, const struct net_decision *decision)
{
    struct gate *gate = flow->all->gate;
    autostrbuf struct strbuf rule = {0}, why = {0}, hint = {0};
    char host[TALLY_HOST_BYTES];

    flow->is_refused = true;
    tally_host(&flow->to, host);
    message_net_label(gate->parts.policy, decision, &rule);
    (void)message_net_why(decision, &why);
    /* Nobody waits with a datagram. */
    if (decision->access == ACCESS_ASK)
        strbuf_add(&why, ", and nobody is asked about datagrams");
    explain_net_remedy(gate->parts.policy, decision, host, &hint);
    if (!why.failed && why.text) {
        const struct tally_refusal refusal = {
            .way = "datagram",
            .host = &flow->to,
            .verdict = decision->access == ACCESS_ASK ? VERDICT_ASK : VERDICT_DENY,
            .rule = rule.text,
            .message = why.text,
            .hint = hint.text};

        tally_refused(&gate->tally, &refusal);
    }
    say_nobody_is_there(flow);
}

static void on_answer(void *context, uint32_t events)
{
    struct datagram_flow *flow = context;
    struct gate *gate = flow->all->gate;

    (void)events;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        uint8_t heads[IP_HEADS_MAX];
        ssize_t got = recv(flow->source.fd, gate->scratch, sizeof(gate->scratch), MSG_DONTWAIT);

        if (got < 0 && errno == ECONNREFUSED)
            say_nobody_is_there(flow);
        if (got < 0)
            return;
        flow->received += (uint64_t)got;
        send_inside(flow, heads,
                    ip_write_heads(&flow->meant, &flow->client, gate->scratch, (size_t)got, heads),
                    gate->scratch, (size_t)got);
        use(flow);
    }
}

static void send_outside(struct datagram_flow *flow, const void *bytes, size_t size)
{
    ssize_t sent = send(flow->source.fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent < 0 && errno == ECONNREFUSED)
        say_nobody_is_there(flow);
    if (sent > 0)
        flow->sent += (uint64_t)sent;
}

/* False: there is no way there. */
static bool connect_outside(struct datagram_flow *flow, const struct host *to)
{
    struct sockaddr_storage address;
    socklen_t size = host_address(to->address, flow->to.port, &address);
    int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return false;
    flow->source =
        (struct hub_source){.fd = fd, .events = EPOLLIN, .ready = on_answer, .context = flow};
    if (connect(fd, (struct sockaddr *)&address, size) == 0 &&
        hub_add(flow->all->gate->parts.hub, &flow->source, NULL) == 0)
        return true;
    (void)close(take_fd(&flow->source.fd));
    return false;
}

/* To an address of the family that the client chose, if the name has one: nobody tries another
 * when no answer comes. */
static void open_outside(struct datagram_flow *flow, const struct host *addresses, size_t count)
{
    struct net_decision decision;
    bool is_open = false;

    for (size_t i = 0; i < count; i++) {
        if (own_is_barred(flow->all->gate->parts.policy, &flow->to, &addresses[i], false,
                          &decision)) {
            refuse(flow, &decision);
            return;
        }
    }
    for (size_t i = 0; i < 2 * count && !is_open; i++) {
        const struct host *address = &addresses[i % count];

        if (host_is_v4(address) == (host_is_v4(&flow->meant) == (i < count)))
            is_open = connect_outside(flow, address);
    }
    if (is_open && flow->first) {
        send_outside(flow, flow->first, flow->first_bytes);
    } else if (!is_open) {
        flow->is_refused = true;
        say_nobody_is_there(flow);
    }
    forget_first(flow);
}

static void looked_up(void *context, const struct lookup_answer *answer)
{
    struct datagram_flow *flow = context;

    flow->lookup = NULL;
    if (answer->end == LOOKUP_BARRED || answer->end == LOOKUP_ASKS)
        refuse(flow, &answer->decision);
    else
        open_outside(flow, answer->addresses, answer->count);
}

/* The first datagram is somebody else's room until now. Where there is no other it is lost, as on
 * any network. */
static void keep_first(struct datagram_flow *flow)
{
    struct datagrams *all = flow->all;
    const void *first = take_ptr(&flow->first);

    if (!first || !flow->lookup || all->waiting_bytes + flow->first_bytes > WAITING_BYTES)
        return;
    flow->waiting = malloc(flow->first_bytes + 1);
    if (!flow->waiting)
        return;
    memcpy(flow->waiting, first, flow->first_bytes);
    all->waiting_bytes += flow->first_bytes;
    flow->first = flow->waiting;
}

/* Whether the address is one, or stands for a name that is known. */
static bool find_target(struct datagram_flow *flow)
{
    struct host *to = &flow->to;
    char name[LIMIT_HOST_BYTES];

    *to = flow->meant;
    if (!names_is_synthetic(to))
        return true;
    if (!names_find(flow->all->gate->parts.names, to, name))
        return false;
    *to = (struct host){.kind = HOST_NAME, .port = to->port};
    memcpy(to->name, name, sizeof(name));
    return true;
}

static void flow_begin(struct datagram_flow *flow)
{
    struct gate_parts *parts = &flow->all->gate->parts;
    struct net_decision decision = {.access = ACCESS_DENY, .reason = NET_BY_UNLISTED};

    if (find_target(flow))
        decide_net(parts->policy, &flow->to, &decision);
    if (decision.access != ACCESS_ALLOW)
        refuse(flow, &decision);
    else if (flow->to.kind == HOST_ADDRESS)
        open_outside(flow, &flow->to, 1);
    else if (lookup_start(parts->lookups, &flow->to, looked_up, flow, &flow->lookup, NULL) < 0)
        open_outside(flow, NULL, 0);
}

static struct datagram_flow *flow_new(struct datagrams *all, const char *key,
                                      const struct host *client, const struct host *meant)
{
    struct datagram_flow *flow;

    if (all->flows.count >= all->gate->flows_most)
        flow_end((struct datagram_flow *)all->flows.oldest);
    flow = calloc(1, sizeof(*flow));
    if (!flow)
        return NULL;
    flow->all = all;
    flow->client = *client;
    flow->meant = *meant;
    flow->source.fd = -EBADF;
    (void)snprintf(flow->key, sizeof(flow->key), "%s", key);
    flow->entry.name = flow->key;
    table_put(&all->flows, &flow->entry);
    return flow;
}

static void take(struct datagrams *all, const struct host *client, const struct host *meant,
                 const void *bytes, size_t size)
{
    char key[KEY_BYTES];
    struct datagram_flow *flow;

    (void)snprintf(key, sizeof(key), "%.45s %u %.45s %u", client->name, client->port, meant->name,
                   meant->port);
    flow = (struct datagram_flow *)table_find(&all->flows, key);
    if (!flow) {
        flow = flow_new(all, key, client, meant);
        if (!flow)
            return;
        flow->first = bytes;
        flow->first_bytes = size;
        flow_begin(flow);
        keep_first(flow);
    } else if (flow->is_refused) {
        say_nobody_is_there(flow);
    } else if (flow->source.fd >= 0) {
        send_outside(flow, bytes, size);
    }
    use(flow);
}

union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(struct sockaddr_in6))];
};

/* The address that a datagram was sent to. */
static bool find_meant(struct msghdr *message, struct host *ret_meant)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        struct sockaddr_storage address = {0};
        size_t size = part->cmsg_len - CMSG_LEN(0);

        if ((part->cmsg_level != IPPROTO_IP || part->cmsg_type != IP_ORIGDSTADDR) &&
            (part->cmsg_level != IPPROTO_IPV6 || part->cmsg_type != IPV6_ORIGDSTADDR))
            continue;
        memcpy(&address, CMSG_DATA(part), size < sizeof(address) ? size : sizeof(address));
        host_from_address(&address, ret_meant);
        return true;
    }
    return false;
}

static void on_datagram(void *context, uint32_t events)
{
    struct door *door = context;
    char *bytes = door->all->gate->scratch;

    (void)events;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        struct sockaddr_storage peer = {0};
        struct iovec part = {.iov_base = bytes, .iov_len = FLOW_SCRATCH_BYTES};
        union control control;
        struct msghdr message = {.msg_name = &peer,
                                 .msg_namelen = sizeof(peer),
                                 .msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof(control)};
        ssize_t got = recvmsg(door->source.fd, &message, MSG_DONTWAIT);
        struct host client, meant;

        if (got < 0 && errno == EAGAIN)
            return;
        if (got < 0 || !find_meant(&message, &meant))
            continue;
        host_from_address(&peer, &client);
        take(door->all, &client, &meant, bytes, (size_t)got);
    }
}

int datagrams_serve(struct datagrams *all, int fd, struct bawn_error *err)
{
    struct door *door = &all->doors[all->door_count];
    const int on = 1;
    int family = 0;
    socklen_t size = sizeof(family);

    if (all->door_count == FAMILIES)
        return error_set(err, EMFILE, "net.listeners", "too many sockets for datagrams");
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ||
        (family == AF_INET
             ? setsockopt(fd, IPPROTO_IP, IP_RECVORIGDSTADDR, &on, sizeof(on))
             : setsockopt(fd, IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, &on, sizeof(on))) < 0)
        return error_errno(err, errno, "set the socket for datagrams");
    *door = (struct door){
        .all = all, .source = {.fd = fd, .events = EPOLLIN, .ready = on_datagram, .context = door}};
    all->door_count++;
    return hub_add(all->gate->parts.hub, &door->source, err);
}

int datagrams_answer_by(struct datagrams *all, int fd, struct bawn_error *err)
{
    int family = 0;
    socklen_t size = sizeof(family);

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0)
        return error_errno(err, errno, "look at the socket that answers datagrams");
    all->raw[family == AF_INET ? 0 : 1] = fd;
    return 0;
}
