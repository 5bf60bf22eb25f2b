/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the network mode veth, also when the launcher is killed.
 *
 * How it works: a process of its own holds the socket that the rules belong to, as the launcher
 * does. It waits for the end of the sandbox, removes the pair, and ends. SECURITY: so the pair
 * never outlives its rules, whichever of the two is killed. Where both are at once the kernel takes
 * all down: the rules, the sandbox with the launcher, and the pair with the sandbox.
 */
#include "base/error.h"
#include "session/own.h"

#include <errno.h>
#include <poll.h>

enum { TABLE_FD, INIT_FD, KEPT_FDS };

/*
 * Holds:    the caller's rights, the socket of the rules, a pidfd of pid 1.
 * Must:     remove the pair when nobody is left inside, then end.
 * Mustn't:  end before that, or with the launcher.
 */
static int guard(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct session *session = context;
    struct pollfd ended = {.fd = INIT_FD, .events = POLLIN};

    (void)events;
    while (poll(&ended, 1, -1) < 0) {
        if (errno != EINTR)
            return error_errno(err, errno, "wait for the end of the sandbox");
    }
    veth_remove(session->launch.veth.index);
    return 0;
}

static int on_ended(void *context, uint32_t events)
{
    struct session *session = context;
    int status = 0;

    (void)events;
    return aide_reap(&session->veth_guard, &status) && status
               ? session_lost(session, WHO_VETH, status)
               : 0;
}

int session_guard_veth(struct session *session, struct bawn_error *err)
{
    struct aide_work work = {
        .who = WHO_VETH,
        .fds = {[TABLE_FD] = session->launch.veth.table_fd, [INIT_FD] = session->launch.pidfd},
        .count = KEPT_FDS,
        .run = guard,
        .context = session};
    int channel, result;

    channel = session_channel(session, err);
    if (channel < 0)
        return channel;
    result = aide_start(&session->veth_guard, &work, channel, err);
    return result < 0 ? result
                      : aide_watch(&session->veth_guard, &session->loop, on_ended, session, err);
}
