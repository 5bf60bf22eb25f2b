/* SPDX-License-Identifier: Apache-2.0 */
/* What clients are told, in the words of docs/PROTOCOL-approvals.md. */
#include "approvals/own.h"
#include "base/json.h"
#include "base/question.h"

#include <string.h>

static void begin(struct strbuf *out, const char *type)
{
    json_open(out, NULL, '{');
    json_put_string(out, "type", type);
}

static void end(struct strbuf *out)
{
    json_close(out, '}');
    strbuf_add(out, "\n");
}

bool tell_is_net(const struct bawn_notice *notice)
{
    return question_is_net(notice);
}

void tell_question(struct strbuf *out, const char *id, const struct bawn_notice *notice)
{
    question_tell(out, id, notice, false);
}

void tell_settled(struct strbuf *out, const struct told *told)
{
    question_tell_settled(out, told->id, told->is_allowed, told->scope, told->by);
}

void tell_session(struct strbuf *out, const char *sid, const struct bawn_status *status)
{
    begin(out, "event.session");
    json_put_string(out, "session", sid);
    json_put_string(out, "state", status ? "begin" : "end");
    if (status) {
        json_put_uint(out, "pid", status->pid > 0 ? (uint64_t)status->pid : 0);
        json_put_string(out, "command", status->command);
        json_put_string(out, "workspace", status->workspace);
    }
    end(out);
}
