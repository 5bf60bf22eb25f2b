/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

int loop_init(struct loop *loop, struct bawn_error *err)
{
    (void)err;
    *loop = (struct loop){0};
    return 0;
}

void loop_done(struct loop *loop)
{
    loop->count = 0;
}

int loop_add(struct loop *loop, struct loop_source *source, struct bawn_error *err)
{
    if (source->is_added)
        return 0;
    if (loop->count == LOOP_SOURCES)
        return error_set(err, ENOSPC, "loop.full", "more than %d descriptors to watch",
                         LOOP_SOURCES);
    loop->sources[loop->count++] = source;
    source->is_added = true;
    return 0;
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
    size_t i = 0;

    if (!source->is_added)
        return;
    while (loop->sources[i] != source)
        i++;
    loop->count--;
    memmove(&loop->sources[i], &loop->sources[i + 1], (loop->count - i) * sizeof(source));
    source->is_added = false;
    loop->generation++;
}

void loop_end(struct loop *loop)
{
    loop->is_done = true;
}

void loop_set_timer(struct loop *loop, struct loop_timer *timer, int first_ms, int every_ms,
                    int (*ring)(void *context), void *context)
{
    loop_stop_timer(loop, timer);
    if (loop->timer_count == LOOP_TIMERS)
        return;
    *timer = (struct loop_timer){clock_ms() + first_ms, every_ms, ring, context};
    loop->timers[loop->timer_count++] = timer;
}

void loop_stop_timer(struct loop *loop, struct loop_timer *timer)
{
    for (size_t i = 0; i < loop->timer_count; i++) {
        if (loop->timers[i] == timer)
            loop->timers[i] = loop->timers[--loop->timer_count];
    }
    timer->at_ms = 0;
}

void loop_set_clock(struct loop *loop, int first_ms, int tick_ms, int (*tick)(void *context),
                    void *context)
{
    loop_set_timer(loop, &loop->clock, first_ms, tick_ms, tick, context);
}

static struct loop_timer *next_timer(const struct loop *loop)
{
    struct loop_timer *next = NULL;

    for (size_t i = 0; i < loop->timer_count; i++) {
        if (!next || loop->timers[i]->at_ms < next->at_ms)
            next = loop->timers[i];
    }
    return next;
}

/* How long poll may wait, and whether that is until a timer rings. */
static int wait_ms(const struct loop *loop, int timeout_ms, bool *ret_rings)
{
    const struct loop_timer *next = next_timer(loop);
    int64_t left;

    *ret_rings = false;
    if (!next)
        return timeout_ms;
    left = next->at_ms - clock_ms();
    if (left < 0)
        left = 0;
    *ret_rings = timeout_ms < 0 || left <= timeout_ms;
    return *ret_rings ? (int)left : timeout_ms;
}

/* Rings those that are due, each at most once. */
static int ring_timers(struct loop *loop)
{
    int64_t now = loop->timer_count ? clock_ms() : 0;
    struct loop_timer *timer;

    while (!loop->is_done && (timer = next_timer(loop)) && timer->at_ms <= now) {
        int result;

        timer->at_ms = now + timer->every_ms;
        if (timer->every_ms == 0)
            loop_stop_timer(loop, timer);
        result = timer->ring(timer->context);
        if (result < 0)
            return result;
    }
    return 0;
}

static int dispatch(struct loop *loop, const struct pollfd *ready, struct loop_source **sources,
                    size_t count)
{
    unsigned generation = loop->generation;

    /* A source that another one removed may be gone with its memory: the rest is asked for again,
     * for the kernel still has it. */
    for (size_t i = 0; i < count && !loop->is_done && generation == loop->generation; i++) {
        int result = ready[i].revents
                         ? sources[i]->ready(sources[i]->context, (uint32_t)ready[i].revents)
                         : 0;

        if (result < 0)
            return result;
    }
    return 0;
}

int loop_run(struct loop *loop, int timeout_ms, struct bawn_error *err)
{
    while (!loop->is_done) {
        struct pollfd ready[LOOP_SOURCES];
        struct loop_source *sources[LOOP_SOURCES];
        size_t count = loop->count;
        bool rings;
        int result;

        for (size_t i = 0; i < count; i++) {
            sources[i] = loop->sources[i];
            ready[i] = (struct pollfd){.fd = sources[i]->fd, .events = (short)sources[i]->events};
        }
        result = poll(ready, count, wait_ms(loop, timeout_ms, &rings));
        if (result < 0 && errno != EINTR)
            return error_errno(err, errno, "poll");
        if (result == 0 && !rings)
            return 0;
        result = result > 0 ? dispatch(loop, ready, sources, count) : 0;
        if (result == 0 && !loop->is_done)
            result = ring_timers(loop);
        if (result < 0)
            return result;
    }
    return 0;
}
