/* SPDX-License-Identifier: Apache-2.0 */
/* bawn stop: ends a session, with all that is in it. */
#include "verbs_session/own.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { GRACE_DEFAULT_MS = 10 * 1000, GRACE_MAX_S = 600, PATIENCE_MS = 1000 };

/* Who waits for more than a second is told what for. */
static void tell_waiting(const struct front *front, const struct bawn_session *session,
                         int grace_ms)
{
    struct pollfd answer = {.fd = bawn_session_fd(session), .events = POLLIN};

    if (front->quiet || front->json || !isatty(STDERR_FILENO))
        return;
    if (poll(&answer, 1, PATIENCE_MS) == 0)
        (void)fprintf(stderr, "bawn: %s was asked to end; what still runs after %d s is killed\n",
                      bawn_session_sid(session), grace_ms / 1000);
}

int front_stop(struct front *front, struct bawn_error *err)
{
    autosession struct bawn_session *session = NULL;
    struct strbuf out = {0};
    int grace_ms = GRACE_DEFAULT_MS, status = 0;
    int result = front_timeout(front, GRACE_MAX_S, &grace_ms, err);

    if (result == 0)
        result = bawn_session_open(front_sid(front), &session, err);
    if (result == 0)
        result = bawn_session_stop(session, grace_ms, err);
    if (result == 0)
        tell_waiting(front, session, grace_ms);
    if (result == 0)
        result = bawn_session_wait(session, 0, &status, err);
    if (result < 0)
        return result;
    if (front->json)
        front_put_end(&out, session, status);
    else if (!front->quiet)
        strbuf_addf(&out, "%s stopped, status %d\n", bawn_session_sid(session), status);
    return front_print(&out);
}
