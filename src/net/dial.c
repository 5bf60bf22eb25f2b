/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

void dial_add(struct dial *dial, const struct host *address)
{
    if (dial->count < DIAL_ADDRESSES)
        memcpy(dial->addresses[dial->count++], address->address, 16);
}

static void ready(void *context, uint32_t events);
static void ring(void *context);

static bool is_loopback(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *v4 = (const void *)address;
    const struct sockaddr_in6 *v6 = (const void *)address;

    return address->ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
                                         : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* 0: it is under way. */
static int try(struct dial *dial)
{
    struct sockaddr_storage address;
    socklen_t size = host_address(dial->addresses[dial->at], dial->port, &address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    dial->at++;
    if (fd < 0)
        return -errno;
    *dial->end = (struct end){
        .source = {.fd = fd, .events = FLOW_EVENTS | EPOLLET, .ready = ready, .context = dial}};
    end_tune(fd);
    if (is_loopback(&address))
        end_tune_local(fd);
    if (connect(fd, (const struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS) {
        int error = errno;

        end_close(dial->hub, dial->end);
        return -error;
    }
    if (hub_add(dial->hub, &dial->end->source, NULL) < 0) {
        end_close(dial->hub, dial->end);
        return -ENOMEM;
    }
    hub_set_timer(dial->hub, &dial->timer, DIAL_MS, ring, dial);
    return 0;
}

void dial_start(struct dial *dial)
{
    while (dial->at < dial->count) {
        dial->error = try(dial);
        if (dial->error == 0)
            return;
    }
    dial->done(dial->context, dial->error ? dial->error : -EHOSTUNREACH);
}

static void next(struct dial *dial, int error)
{
    dial_stop(dial);
    dial->error = error;
    dial_start(dial);
}

static void ready(void *context, uint32_t events)
{
    struct dial *dial = context;
    int error = 0;
    socklen_t size = sizeof(error);

    if (getsockopt(dial->end->source.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error || (events & EPOLLHUP)) {
        next(dial, error ? -error : -ECONNRESET);
        return;
    }
    if (!(events & EPOLLOUT))
        return;
    hub_stop_timer(dial->hub, &dial->timer);
    end_note(dial->end, events);
    dial->done(dial->context, 0);
}

static void ring(void *context)
{
    next(context, -ETIMEDOUT);
}

void dial_stop(struct dial *dial)
{
    if (!dial->hub)
        return;
    hub_stop_timer(dial->hub, &dial->timer);
    end_close(dial->hub, dial->end);
}
