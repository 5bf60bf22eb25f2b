/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

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

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void loop_set_clock(struct loop *loop, int first_ms, int tick_ms, int (*tick)(void *context),
                    void *context)
{
    loop->tick_at_ms = now_ms() + first_ms;
    loop->tick_ms = tick_ms;
    loop->tick = tick;
    loop->tick_context = context;
}

/* How long poll may wait, and whether that is until the clock ticks. */
static int wait_ms(const struct loop *loop, int timeout_ms, bool *ret_ticks)
{
    int64_t left;

    *ret_ticks = false;
    if (!loop->tick_at_ms)
        return timeout_ms;
    left = loop->tick_at_ms - now_ms();
    if (left < 0)
        left = 0;
    *ret_ticks = timeout_ms < 0 || left <= timeout_ms;
    return *ret_ticks ? (int)left : timeout_ms;
}

static int tick(struct loop *loop)
{
    int64_t now = loop->tick_at_ms ? now_ms() : 0;

    if (!loop->tick_at_ms || now < loop->tick_at_ms)
        return 0;
    loop->tick_at_ms = now + loop->tick_ms;
    return loop->tick(loop->tick_context);
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
        bool ticks;
        int result;

        for (size_t i = 0; i < count; i++) {
            sources[i] = loop->sources[i];
            ready[i] =
                (struct pollfd){.fd = sources[i]->fd, .events = (short)sources[i]->events};
        }
        result = poll(ready, count, wait_ms(loop, timeout_ms, &ticks));
        if (result < 0 && errno != EINTR)
            return error_errno(err, errno, "poll");
        if (result == 0 && !ticks)
            return 0;
        result = result > 0 ? dispatch(loop, ready, sources, count) : 0;
        if (result == 0 && !loop->is_done)
            result = tick(loop);
        if (result < 0)
            return result;
    }
    return 0;
}
