/* SPDX-License-Identifier: Apache-2.0 */
/* One loop: descriptors and what to do when they are ready, and timers. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loop watches a handful of descriptors: poll needs no call to learn of them. */
enum { LOOP_SOURCES = 80, LOOP_TIMERS = 12 };

/* Called with the POLL* events of the descriptor. A negative errno ends loop_run with it. */
typedef int (*loop_ready)(void *context, uint32_t events);

/* Embedded in its owner, and outlives its time in the loop. */
struct loop_source {
    int fd; /* borrowed */
    uint32_t events;
    loop_ready ready;
    void *context;
    bool is_added;
};

/* Embedded in its owner, and outlives its time in the loop. */
struct loop_timer {
    int64_t at_ms; /* 0: not set */
    int every_ms;  /* 0: once */
    int (*ring)(void *context);
    void *context;
};

struct loop {
    struct loop_source *sources[LOOP_SOURCES];
    size_t count;
    bool is_done;
    unsigned generation; /* raised by loop_remove: what poll said before is stale */
    struct loop_timer *timers[LOOP_TIMERS];
    size_t timer_count;
    struct loop_timer clock;
};

int loop_init(struct loop *loop, struct bawn_error *err);
void loop_done(struct loop *loop);

/* Adds the source, or takes note of its changed events. */
int loop_add(struct loop *loop, struct loop_source *source, struct bawn_error *err);
void loop_remove(struct loop *loop, struct loop_source *source);

/* Calls ring first_ms from now, and then every every_ms; 0: once. Set again, it starts anew. */
void loop_set_timer(struct loop *loop, struct loop_timer *timer, int first_ms, int every_ms,
                    int (*ring)(void *context), void *context);
void loop_stop_timer(struct loop *loop, struct loop_timer *timer);

/* The same with a timer of the loop's own. */
void loop_set_clock(struct loop *loop, int first_ms, int tick_ms, int (*tick)(void *context),
                    void *context);

/* Until loop_end, an error, or timeout_ms without an event (-1: none; then 0 is returned and
 * is_done stays false). */
int loop_run(struct loop *loop, int timeout_ms, struct bawn_error *err);
void loop_end(struct loop *loop);

#endif
