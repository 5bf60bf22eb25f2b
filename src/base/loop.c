/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/error.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 16 };

int loop_init(struct loop *loop, struct bawn_error *err)
{
    *loop = (struct loop){.epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    return loop->epoll_fd < 0 ? error_errno(err, errno, "epoll_create1") : 0;
}

void loop_done(struct loop *loop)
{
    if (loop->epoll_fd >= 0)
        (void)close(loop->epoll_fd);
    loop->epoll_fd = -EBADF;
}

int loop_add(struct loop *loop, struct loop_source *source, struct bawn_error *err)
{
    struct epoll_event event = {.events = source->events, .data.ptr = source};

    if (epoll_ctl(loop->epoll_fd, source->is_added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd,
                  &event) < 0)
        return error_errno(err, errno, "epoll_ctl");
    source->is_added = true;
    return 0;
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
    if (!source->is_added)
        return;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
    source->is_added = false;
    loop->generation++;
}

void loop_end(struct loop *loop)
{
    loop->is_done = true;
}

int loop_run(struct loop *loop, int timeout_ms, struct bawn_error *err)
{
    while (!loop->is_done) {
        struct epoll_event events[EVENTS_AT_ONCE];
        unsigned generation = loop->generation;
        int count = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms);

        if (count < 0 && errno != EINTR)
            return error_errno(err, errno, "epoll_wait");
        if (count == 0)
            return 0;
        /* A source that another one removed may be gone with its memory: the rest is asked for
         * again, for the kernel still has it. */
        for (int i = 0; i < count && !loop->is_done && generation == loop->generation; i++) {
            struct loop_source *source = events[i].data.ptr;
            int result = source->ready(source->context, events[i].events);

            if (result < 0)
                return result;
        }
    }
    return 0;
}
