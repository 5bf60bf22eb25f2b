/* SPDX-License-Identifier: Apache-2.0 */
#include "session/server.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

enum { NOTIFY_FD, ROOT_FD, KEPT_FDS };

static void report(void *context, const struct event *event)
{
    event_send(context, *event);
}

/*
 * Holds:    the caller's rights; the listener of the filter, the sandbox's root.
 * Must:     answer until nobody is left inside, in the sandbox's control groups.
 * Mustn't:  keep a descriptor whose end somebody waits for.
 */
static int serve(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct supervisor_options options = *(const struct supervisor_options *)context;
    struct pollfd ready = {.fd = NOTIFY_FD, .events = POLLIN};
    struct supervisor *supervisor = NULL;
    int result;

    options.notify_fd = NOTIFY_FD;
    options.root_fd = ROOT_FD;
    options.report = report;
    options.context = events;
    result = supervisor_new(&options, &supervisor, err);
    while (result == 0) {
        if (poll(&ready, 1, -1) > 0)
            result = supervisor_serve(supervisor, (uint32_t)ready.revents, err);
    }
    supervisor_free(supervisor);
    return result == -EPIPE ? 0 : result;
}

static int share(struct server *server, struct bawn_error *err)
{
    struct streams *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return error_errno(err, errno, "share memory with the process that makes the calls");
    memcpy(shared, &server->early, sizeof(*shared));
    server->streams = shared;
    return 0;
}

struct streams *server_streams(struct server *server)
{
    return server->streams ? server->streams : &server->early;
}

int server_start(struct server *server, const struct cgroup *group, int channel,
                 const struct supervisor_options *options, struct bawn_error *err)
{
    struct supervisor_options shared = *options;
    struct aide_work work = {
        .who = WHO_CALLS,
        .fds = {[NOTIFY_FD] = options->notify_fd, [ROOT_FD] = options->root_fd},
        .count = KEPT_FDS,
        .group = group,
        .run = serve,
        .context = &shared};
    int result = share(server, err);

    if (result < 0)
        return result;
    shared.streams = server->streams;
    return aide_start(&server->aide, &work, channel, err);
}
