/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop for tens of thousands of descriptors and as many deadlines.
 *
 * How it works: epoll says which sources are ready. Timers are a pairing heap whose links
 * are in the timers themselves, so that setting one never fails for want of memory. A source
 * or a timer that is taken out is not called any more, not even for what the kernel
 * has said about it already: its memory may be gone.
 */
#ifndef NET_HUB_H
#define NET_HUB_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

enum { HUB_BATCH = 256 }; /* events of one epoll_wait */

/* Embedded in its owner. */
struct hub_source {
    int fd;          /* borrowed; take the source out before it is closed */
    uint32_t events; /* EPOLL*; with EPOLLET ready is called once for each change */
    void (*ready)(void *context, uint32_t events);
    void *context;
    bool is_added;
};

/* Embedded in its owner. */
struct hub_timer {
    int64_t at_ms;
    void (*ring)(void *context);
    void *context;
    bool is_set;
    struct hub_timer *child, *next, *before; /* before: the elder sister, or the mother */
};

struct hub {
    int epoll;
    bool is_done;
    struct hub_timer *timers; /* the first that is due */
    struct epoll_event batch[HUB_BATCH];
    size_t batch_at, batch_count;
};

int hub_init(struct hub *hub, struct bawn_error *err);
void hub_done(struct hub *hub);

int hub_add(struct hub *hub, struct hub_source *source, struct bawn_error *err);
/* Also with the same events: what is ready is then told again, with EPOLLET too. */
int hub_change(struct hub *hub, struct hub_source *source, uint32_t events);
void hub_remove(struct hub *hub, struct hub_source *source);

/* Calls ring once, so long from now. Set again, it starts anew. */
void hub_set_timer(struct hub *hub, struct hub_timer *timer, int after_ms,
                   void (*ring)(void *context), void *context);
void hub_stop_timer(struct hub *hub, struct hub_timer *timer);

/* Until hub_end. */
int hub_run(struct hub *hub, struct bawn_error *err);
void hub_end(struct hub *hub);

#endif
