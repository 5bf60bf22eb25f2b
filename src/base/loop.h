/* SPDX-License-Identifier: Apache-2.0 */
/* One epoll loop: descriptors and what to do when they are ready. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>

struct loop;

/* Called with the EPOLL* events of the descriptor. A negative errno ends loop_run with it. */
typedef int (*loop_ready)(void *context, uint32_t events);

/* Embedded in its owner, and outlives its time in the loop. */
struct loop_source {
    int fd; /* borrowed */
    uint32_t events;
    loop_ready ready;
    void *context;
    bool is_added;
};

struct loop {
    int epoll_fd;
    bool is_done;
    unsigned generation; /* raised by loop_remove: events fetched before are stale */
};

int loop_init(struct loop *loop, struct bawn_error *err);
void loop_done(struct loop *loop);

/* Adds the source, or changes its events. */
int loop_add(struct loop *loop, struct loop_source *source, struct bawn_error *err);
void loop_remove(struct loop *loop, struct loop_source *source);

/* Until loop_end, an error, or timeout_ms without an event (-1: none; then 0 is returned and
 * is_done stays false). */
int loop_run(struct loop *loop, int timeout_ms, struct bawn_error *err);
void loop_end(struct loop *loop);

#endif
