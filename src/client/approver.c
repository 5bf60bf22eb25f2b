/* SPDX-License-Identifier: Apache-2.0 */
/* Being asked by a session: <bawn/approve.h>. */
#include "base/cleanup.h"
#include "base/error.h"
#include "client/client.h"
#include "wire/ask.h"
#include "wire/packet.h"

#include <bawn/approve.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

_Static_assert((int)BAWN_ANSWER_SESSION_TREE == (int)ASK_SESSION_TREE &&
                   (int)BAWN_GIVEN_UP == (int)ASK_GIVEN_UP,
               "the same numbers");

enum { ARGV_WORDS = 256 };

struct bawn_approver {
    struct bawn_session *session;
    struct bawn_notice notice;
    char argv[EVENT_ARGV_BYTES];
    const char *words[ARGV_WORDS + 1];
};

int bawn_approver_open(const char *sid, struct bawn_approver **ret_approver, struct bawn_error *err)
{
    autofree struct bawn_approver *approver = calloc(1, sizeof(*approver));
    struct control_message message = {.kind = CONTROL_ASKS};
    int result;

    if (!approver)
        return error_memory(err);
    result = bawn_session_open(sid, &approver->session, err);
    if (result == 0)
        result = client_tell(approver->session, &message, NULL, 0, NULL, err);
    /* Who watches many is not held up by one that reads nothing: it gets no answer. */
    if (result == 0 && fcntl(bawn_session_fd(approver->session), F_SETFL, O_NONBLOCK) < 0)
        result = error_errno(err, errno, "take the connection to the session");
    if (result < 0) {
        bawn_session_close(approver->session);
        return result;
    }
    *ret_approver = take_ptr(&approver);
    return 0;
}

void bawn_approver_close(struct bawn_approver *approver)
{
    if (approver)
        bawn_session_close(approver->session);
    free(approver);
}

const char *bawn_approver_sid(const struct bawn_approver *approver)
{
    return bawn_session_sid(approver->session);
}

int bawn_approver_fd(const struct bawn_approver *approver)
{
    return bawn_session_fd(approver->session);
}

static void take_asked(struct bawn_approver *approver, const struct client_heard *heard)
{
    const char *const *texts = heard->event.texts;

    event_split_argv(texts[EVENT_ARGV], approver->argv, approver->words, ARGV_WORDS);
    approver->notice = (struct bawn_notice){.kind = BAWN_NOTICE_ASKED,
                                            .id = heard->message.job,
                                            .ms_left = heard->message.value,
                                            .pid = heard->event.pid,
                                            .op = texts[EVENT_OP],
                                            .path = texts[EVENT_PATH],
                                            .call = texts[EVENT_CALL],
                                            .rule = texts[EVENT_RULE],
                                            .comm = texts[EVENT_COMM],
                                            .exe = texts[EVENT_EXE],
                                            .argv = approver->words,
                                            .grant = texts[EVENT_GRANT],
                                            .grant_tree = texts[EVENT_GRANT_TREE]};
}

static int take(struct bawn_approver *approver, const struct client_heard *heard,
                struct bawn_error *err)
{
    const struct control_message *message = &heard->message;
    uint32_t scope = message->flags >> CONTROL_SCOPE_SHIFT;

    switch (message->kind) {
    case CONTROL_ASKED:
        take_asked(approver, heard);
        return 1;
    case CONTROL_ASKS:
        approver->notice = (struct bawn_notice){.kind = BAWN_NOTICE_ALL};
        return 1;
    case CONTROL_SETTLED:
        if (scope >= ASK_SCOPES || message->value < 0 || message->value >= ASK_ENDS)
            return client_refuse_answer(approver->session, err);
        approver->notice = (struct bawn_notice){.kind = BAWN_NOTICE_SETTLED,
                                                .id = message->job,
                                                .is_allowed = message->flags & CONTROL_YES,
                                                .scope = (enum bawn_answer_scope)scope,
                                                .by = (enum bawn_answer_by)message->value};
        return 1;
    case CONTROL_FAILED:
        if (err)
            *err = heard->error;
        return -heard->error.errnum;
    default:
        return client_refuse_answer(approver->session, err);
    }
}

int bawn_approver_next(struct bawn_approver *approver, const struct bawn_notice **ret_notice,
                       struct bawn_error *err)
{
    struct pollfd ready = {.fd = bawn_approver_fd(approver), .events = POLLIN};
    struct client_heard heard = {0};
    int result;

    *ret_notice = NULL;
    if (poll(&ready, 1, 0) <= 0)
        return 0;
    result = client_hear(approver->session, &heard, err);
    if (result < 0)
        return result;
    packet_drop_fds(&heard.fd, 1);
    result = take(approver, &heard, err);
    if (result > 0)
        *ret_notice = &approver->notice;
    return result;
}

int bawn_approver_answer(struct bawn_approver *approver, unsigned id,
                         const struct bawn_answer *answer, struct bawn_error *err)
{
    struct control_message message = {
        .kind = CONTROL_ANSWER,
        .job = id,
        .flags = (answer->is_allowed ? CONTROL_YES : 0) | (uint32_t)answer->scope
                                                              << CONTROL_SCOPE_SHIFT,
        .value = answer->flags & BAWN_ANSWER_SAVE ? (int32_t)answer->saved_in + 1 : 0};

    if (answer->scope > BAWN_ANSWER_SESSION_TREE || answer->saved_in > BAWN_SCOPE_ORG ||
        (answer->flags & ~(unsigned)BAWN_ANSWER_SAVE))
        return error_set(err, EINVAL, "usage.bad_value", "an answer has a scope that there is not");
    return client_tell(approver->session, &message, NULL, 0, NULL, err);
}
