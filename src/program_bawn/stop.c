/* SPDX-License-Identifier: Apache-2.0 */
/* bawn stop: ends a session, with all that is in it. */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_bawn/own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_DEFAULT_S = 10, PATIENCE_MS = 1000 };

static int read_grace(const struct front *front, int32_t *ret_ms, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_GRACE);
    uint64_t seconds = GRACE_DEFAULT_S;
    char shown[64];

    if (value && (!text_parse_seconds(value, &seconds) || seconds > CONTROL_GRACE_MAX_MS / 1000)) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value", "--timeout: '%s' is no time up to %d min",
                        shown, CONTROL_GRACE_MAX_MS / 60000);
        error_hint(err, "write a time such as 0, 10s or 2m");
        return -EINVAL;
    }
    *ret_ms = (int32_t)(seconds * 1000);
    return 0;
}

/* Who waits for more than a second is told what for. */
static void tell_waiting(const struct front *front, const struct link *link, int32_t grace_ms)
{
    struct pollfd answer = {.fd = link->sock, .events = POLLIN};

    if (front->quiet || front->json || !isatty(STDERR_FILENO))
        return;
    if (poll(&answer, 1, PATIENCE_MS) == 0)
        (void)fprintf(stderr, "bawn: %s was asked to end; what still runs after %d s is killed\n",
                      link->sid, (int)grace_ms / 1000);
}

int front_stop(struct front *front, struct bawn_error *err)
{
    autolink struct link link = {.registry.fd = -EBADF, .sock = -EBADF};
    struct control_message message = {.kind = CONTROL_STOP};
    struct strbuf out = {0};
    int result = read_grace(front, &message.value, err);

    if (result == 0)
        result = link_open(&link, front, front_sid(front), err);
    if (result == 0)
        result = link_send(&link, &message, err);
    if (result == 0)
        tell_waiting(front, &link, message.value);
    if (result == 0)
        result = link_await(&link, CONTROL_EXITED, &message, NULL, 0, NULL, err);
    if (result < 0)
        return result;
    if (front->json) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "sid", link.sid);
        json_put_uint(&out, "status", (uint64_t)front_status_of(message.value));
        json_close(&out, '}');
    } else if (!front->quiet) {
        strbuf_addf(&out, "%s stopped, status %d\n", link.sid, front_status_of(message.value));
    }
    return front_print(&out);
}
