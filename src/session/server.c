/* SPDX-License-Identifier: Apache-2.0 */
#include "session/server.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { NOTIFY_FD, ROOT_FD, FURTHER_FD };

static void report(void *context, const struct event *event)
{
    event_send(context, *event);
}

static bool ask(void *context, const struct event *event)
{
    return event_ask(context, *event);
}

/*
 * Holds:    the caller's rights; the listener of the filter, the sandbox's root.
 * Must:     answer until nobody is left inside, in the sandbox's control groups.
 * Mustn't:  keep a descriptor whose end somebody waits for.
 */
static int serve(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct supervisor_options options = *(const struct supervisor_options *)context;
    struct pollfd ready[1 + SUPERVISOR_POLLED] = {{.fd = NOTIFY_FD, .events = POLLIN}};
    struct supervisor *supervisor = NULL;
    int further = FURTHER_FD;
    int result;

    options.notify_fd = NOTIFY_FD;
    options.root_fd = ROOT_FD;
    options.report = report;
    options.ask = ask;
    options.context = events;
    if (options.answer_fd >= 0)
        options.answer_fd = further++;
    if (options.dial_fd >= 0)
        options.dial_fd = further++;
    result = supervisor_new(&options, &supervisor, err);
    while (result == 0) {
        int timeout_ms = -1;
        size_t more = supervisor_await(supervisor, ready + 1, &timeout_ms);
        int count = poll(ready, 1 + more, timeout_ms);

        if (count < 0)
            continue;
        if (count == 0)
            supervisor_rest(supervisor);
        if (more)
            supervisor_go_on(supervisor, ready + 1, more);
        if (ready[0].revents)
            result = supervisor_serve(supervisor, (uint32_t)ready[0].revents, err);
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

/* Returns the end of the process that asks. */
static int open_answers(struct server *server, struct bawn_error *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return error_errno(err, errno, "make a socket for answers");
    server->answer_fd = ends[0];
    return ends[1];
}

int server_start(struct server *server, const struct cgroup *group, int channel,
                 const struct supervisor_options *options, struct bawn_error *err)
{
    struct supervisor_options shared = *options;
    struct aide_work work = {
        .who = WHO_CALLS,
        .fds = {[NOTIFY_FD] = options->notify_fd, [ROOT_FD] = options->root_fd},
        .count = FURTHER_FD,
        .group = group,
        .run = serve,
        .context = &shared};
    autoclose int answers = -EBADF;
    int result = share(server, err);

    if (result == 0 && (options->image->flags & IMAGE_ASKS))
        result = answers = open_answers(server, err);
    if (result < 0)
        return result;
    if (answers >= 0)
        work.fds[work.count++] = shared.answer_fd = answers;
    if (options->dial_fd >= 0)
        work.fds[work.count++] = options->dial_fd;
    shared.streams = server->streams;
    return aide_start(&server->aide, &work, channel, err);
}
