/* SPDX-License-Identifier: Apache-2.0 */
/* bawn stop: ends a session, with all that is in it. */
#include "base/error.h"
#include "base/text.h"
#include "verbs_session/own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_DEFAULT_S = 10, GRACE_MAX_S = 600, PATIENCE_MS = 1000 };

static int read_grace(const struct front *front, int *ret_ms, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_GRACE);
    uint64_t seconds = GRACE_DEFAULT_S;
    char shown[64];

    if (value && (!text_parse_seconds(value, &seconds) || seconds > GRACE_MAX_S)) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value", "--timeout: '%s' is no time up to %d min",
                        shown, GRACE_MAX_S / 60);
        error_hint(err, "write a time such as 0, 10s or 2m");
        return -EINVAL;
    }
    *ret_ms = (int)(seconds * 1000);
    return 0;
}

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
    int grace_ms = 0, status = 0;
    int result = read_grace(front, &grace_ms, err);

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
