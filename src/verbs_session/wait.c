/* SPDX-License-Identifier: Apache-2.0 */
/* bawn wait: until sessions have ended, and how they did. */
#include "base/clock.h"
#include "base/json.h"
#include "verbs_session/own.h"

#include <limits.h>

enum { WAIT_MAX_S = 20 * 24 * 60 * 60 };

static int wait_for(const struct front *front, const char *sid, int64_t deadline,
                    struct strbuf *out, struct bawn_error *err)
{
    int64_t left = deadline - clock_ms();
    struct bawn_ended ended;
    int result = bawn_session_await(sid, deadline < 0 ? -1 : left > 0 ? (int)left : 0, &ended, err);

    if (result < 0)
        return result;
    if (front->json) {
        json_open(out, NULL, '{');
        json_put_string(out, "sid", ended.sid);
        json_put_uint(out, "status", (uint64_t)ended.status);
        json_close(out, '}');
    } else if (!front->quiet) {
        strbuf_addf(out, "%s ended, status %d\n", ended.sid, ended.status);
    }
    return ended.status;
}

int front_wait(struct front *front, struct bawn_error *err)
{
    size_t count = front->options.words.count;
    struct strbuf out = {0};
    int timeout_ms = -1;
    int result = front_timeout(front, WAIT_MAX_S, &timeout_ms, err);
    int64_t deadline = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;

    if (front->json) {
        json_open(&out, NULL, '{');
        json_open(&out, "sessions", '[');
    }
    for (size_t i = 0; result >= 0 && i < (count ? count : 1); i++)
        result = wait_for(front, count ? front->options.words.items[i] : NULL, deadline, &out, err);
    if (front->json && result >= 0) {
        json_close(&out, ']');
        json_close(&out, '}');
    }
    /* What was found out is said, whatever comes after it; but one document is all of it. */
    if (front->json && result < 0)
        strbuf_done(&out);
    else if (front_print(&out) != STATUS_OK && result >= 0)
        return STATUS_FAILED;
    return result;
}
