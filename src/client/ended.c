/* SPDX-License-Identifier: Apache-2.0 */
/* How a session ends, or has ended. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 50 };

int client_find(const char *word, struct bawn_session **ret_session, struct kept_place *kept,
                char sid[SID_BYTES], struct bawn_error *err)
{
    int result = bawn_session_open(word, ret_session, err);
    int opened = kept_open(kept, false, result == -ESRCH ? err : NULL);

    if (opened == 0)
        kept_sweep(kept);
    if (result == 0)
        (void)snprintf(sid, SID_BYTES, "%s", (*ret_session)->sid);
    if (result != -ESRCH)
        return result;
    return opened < 0 && opened != -ENOENT ? opened : kept_find(kept, word, sid, err);
}

static int left_ms(int64_t deadline)
{
    int64_t left = deadline - clock_ms();

    if (deadline < 0)
        return -1;
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static int refuse_time(const char *sid, struct bawn_error *err)
{
    (void)error_set(err, ETIMEDOUT, "session.timeout", "%s: it still runs", sid);
    error_hint(err, "wait for longer, or end it with 'bawn stop %s'", sid);
    return -ETIMEDOUT;
}

static int await_session(struct bawn_session *session, int64_t deadline, int *ret_status,
                         struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_WAIT};
    int result = client_tell(session, &message, NULL, 0, NULL, err);
    int job;

    session->awaits_end = true;
    while (result == 0) {
        struct pollfd said = {.fd = session->sock, .events = POLLIN};

        if (poll(&said, 1, left_ms(deadline)) == 0)
            return refuse_time(session->sid, err);
        result = bawn_session_next(session, &job, err);
    }
    return result < 0 ? result : bawn_session_wait(session, 0, ret_status, err);
}

static int await_kept(const struct kept_place *kept, const char *sid, int64_t deadline,
                      int *ret_status, struct bawn_error *err)
{
    autoclose int dir_fd = kept->fd < 0 ? -EBADF : kept_enter(kept, sid);
    struct kept_end end = {0};

    if (dir_fd < 0 || !kept_look(dir_fd, &end)) {
        (void)error_set(err, EPIPE, "session.gone", "%s: the session has ended", sid);
        error_hint(err, "how is kept only of those that were started with --detach");
        return -EPIPE;
    }
    /* It runs where others look for sessions, or is at its end. */
    while (end.state == KEPT_RUNNING && left_ms(deadline) != 0 && kept_look(dir_fd, &end))
        (void)poll(NULL, 0, LOOK_MS);
    if (end.state == KEPT_RUNNING)
        return refuse_time(sid, err);
    if (end.state == KEPT_LOST) {
        (void)error_set(err, ENODATA, "session.lost",
                        "%s: bawn was killed, and the command with it: there is no status", sid);
        error_hint(err, "'bawn logs %s' shows what it said until then", sid);
        return -ENODATA;
    }
    *ret_status = end.status;
    return 0;
}

int bawn_session_await(const char *sid, int timeout_ms, struct bawn_ended *ret_ended,
                       struct bawn_error *err)
{
    int64_t deadline = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
    autokept struct kept_place kept = {.fd = -EBADF};
    struct bawn_session *session = NULL;
    int result;

    *ret_ended = (struct bawn_ended){0};
    result = client_find(sid, &session, &kept, ret_ended->sid, err);
    if (result < 0)
        return result;
    if (session) {
        result = await_session(session, deadline, &ret_ended->status, err);
        bawn_session_close(session);
        /* It is gone without a word: what is kept tells more. */
        if (result != -EPIPE)
            return result;
    }
    return await_kept(&kept, ret_ended->sid, deadline, &ret_ended->status, err);
}
