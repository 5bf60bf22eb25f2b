/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hub.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

int hub_init(struct hub *hub, struct bawn_error *err)
{
    hub->is_done = false;
    hub->timers = NULL;
    hub->batch_at = hub->batch_count = 0;
    hub->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (hub->epoll < 0)
        return error_errno(err, errno, "epoll_create1");
    return 0;
}

void hub_done(struct hub *hub)
{
    if (hub->epoll >= 0)
        close(hub->epoll);
    hub->epoll = -EBADF;
}

int hub_add(struct hub *hub, struct hub_source *source, struct bawn_error *err)
{
    struct epoll_event event = {.events = source->events, .data.ptr = source};

    if (epoll_ctl(hub->epoll, EPOLL_CTL_ADD, source->fd, &event) < 0)
        return error_errno(err, errno, "epoll_ctl");
    source->is_added = true;
    return 0;
}

int hub_change(struct hub *hub, struct hub_source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (epoll_ctl(hub->epoll, EPOLL_CTL_MOD, source->fd, &event) < 0)
        return -errno;
    source->events = events;
    return 0;
}

void hub_remove(struct hub *hub, struct hub_source *source)
{
    if (!source->is_added)
        return;
    (void)epoll_ctl(hub->epoll, EPOLL_CTL_DEL, source->fd, NULL);
    source->is_added = false;
    for (size_t i = hub->batch_at; i < hub->batch_count; i++) {
        if (hub->batch[i].data.ptr == source)
            hub->batch[i].data.ptr = NULL;
    }
}

/* The later of two heaps becomes the first child of the other. */
static struct hub_timer *join(struct hub_timer *a, struct hub_timer *b)
{
    struct hub_timer *first = a->at_ms <= b->at_ms ? a : b;
    struct hub_timer *second = first == a ? b : a;

    second->before = first;
    second->next = first->child;
    if (second->next)
        second->next->before = second;
    first->child = second;
    first->next = first->before = NULL;
    return first;
}

/* One heap of a list of sisters: by pairs from the front, then all of these from the back. */
static struct hub_timer *join_all(struct hub_timer *timer)
{
    struct hub_timer *pairs = NULL, *all = NULL;

    while (timer) {
        struct hub_timer *pair = timer, *other = timer->next;

        timer = other ? other->next : NULL;
        pair->next = pair->before = NULL;
        if (other)
            pair = join(pair, other);
        pair->next = pairs;
        pairs = pair;
    }
    while (pairs) {
        struct hub_timer *rest = pairs->next;

        pairs->next = pairs->before = NULL;
        all = all ? join(all, pairs) : pairs;
        pairs = rest;
    }
    return all;
}

void hub_stop_timer(struct hub *hub, struct hub_timer *timer)
{
    struct hub_timer *below;

    if (!timer->is_set)
        return;
    below = join_all(timer->child);
    if (hub->timers == timer) {
        hub->timers = below;
    } else {
        if (timer->before->child == timer)
            timer->before->child = timer->next;
        else
            timer->before->next = timer->next;
        if (timer->next)
            timer->next->before = timer->before;
        if (below)
            hub->timers = join(hub->timers, below);
    }
    timer->is_set = false;
    timer->child = timer->next = timer->before = NULL;
}

void hub_set_timer(struct hub *hub, struct hub_timer *timer, int after_ms,
                   void (*ring)(void *context), void *context)
{
    hub_stop_timer(hub, timer);
    *timer = (struct hub_timer){
        .at_ms = clock_ms() + after_ms, .ring = ring, .context = context, .is_set = true};
    hub->timers = hub->timers ? join(hub->timers, timer) : timer;
}

static int wait_ms(const struct hub *hub)
{
    int64_t left;

    if (!hub->timers)
        return -1;
    left = hub->timers->at_ms - clock_ms();
    if (left < 0)
        return 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

static void ring_timers(struct hub *hub)
{
    int64_t now = hub->timers ? clock_ms() : 0;

    while (!hub->is_done && hub->timers && hub->timers->at_ms <= now) {
        struct hub_timer *timer = hub->timers;

        hub_stop_timer(hub, timer);
        timer->ring(timer->context);
    }
}

static void dispatch(struct hub *hub)
{
    while (!hub->is_done && hub->batch_at < hub->batch_count) {
        const struct epoll_event *event = &hub->batch[hub->batch_at++];
        const struct hub_source *source = event->data.ptr;

        if (source)
            source->ready(source->context, event->events);
    }
    hub->batch_at = hub->batch_count = 0;
}

int hub_run(struct hub *hub, struct bawn_error *err)
{
    while (!hub->is_done) {
        int count = epoll_wait(hub->epoll, hub->batch, HUB_BATCH, wait_ms(hub));

        if (count < 0 && errno != EINTR)
            return error_errno(err, errno, "epoll_wait");
        hub->batch_at = 0;
        hub->batch_count = count > 0 ? (size_t)count : 0;
        dispatch(hub);
        ring_timers(hub);
    }
    return 0;
}

void hub_end(struct hub *hub)
{
    hub->is_done = true;
}
