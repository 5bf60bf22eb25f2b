/* SPDX-License-Identifier: Apache-2.0 */
/* What clients are told, in the words of docs/PROTOCOL-approvals.md. */
#include "approvals/own.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

static const char *const scopes[] = {[BAWN_ANSWER_ONCE] = "once",
                                     [BAWN_ANSWER_SESSION] = "session",
                                     [BAWN_ANSWER_SESSION_TREE] = "dir"};

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
    return *notice->path != '/' && *notice->path != '@';
}

/* HOST:PORT, [ADDRESS]:PORT or a name alone. */
static void put_host(struct strbuf *out, const char *target)
{
    const char *colon = strrchr(target, ':');
    autostrbuf struct strbuf host = {0};
    size_t length = colon ? (size_t)(colon - target) : strlen(target);
    uint64_t port = 0;

    if (colon && !text_parse_count(colon + 1, 65535, &port))
        length = strlen(target);
    if (length > 2 && *target == '[' && target[length - 1] == ']')
        strbuf_add_bytes(&host, target + 1, length - 2);
    else
        strbuf_add_bytes(&host, target, length);
    json_put_text(out, "host", &host);
    if (port)
        json_put_uint(out, "port", port);
}

static void put_who(struct strbuf *out, const struct bawn_notice *notice)
{
    if (notice->pid > 0)
        json_put_uint(out, "pid", (uint64_t)notice->pid);
    if (*notice->comm)
        json_put_string(out, "comm", notice->comm);
    if (*notice->exe)
        json_put_string(out, "exe", notice->exe);
    if (!notice->argv[0])
        return;
    json_open(out, "argv", '[');
    for (const char *const *word = notice->argv; *word; word++)
        json_put_string(out, NULL, *word);
    json_close(out, ']');
}

void tell_question(struct strbuf *out, const char *id, const struct bawn_notice *notice)
{
    bool is_net = tell_is_net(notice);

    begin(out, is_net ? "event.net_request" : "event.fs_request");
    json_put_string(out, "id", id);
    put_who(out, notice);
    json_put_string(out, "op", notice->op);
    if (is_net)
        put_host(out, notice->path);
    else
        json_put_string(out, "path", notice->path);
    if (*notice->call)
        json_put_string(out, "call", notice->call);
    json_put_string(out, "rule", notice->rule);
    if (*notice->grant)
        json_put_string(out, "grant", notice->grant);
    if (*notice->grant_tree)
        json_put_string(out, "grant_tree", notice->grant_tree);
    json_put_uint(out, "timeout_ms", notice->ms_left > 0 ? (uint64_t)notice->ms_left : 0);
    end(out);
}

void tell_settled(struct strbuf *out, const struct told *told)
{
    begin(out, "event.settled");
    json_put_string(out, "id", told->id);
    json_put_string(out, "answer", told->is_allowed ? "allow" : "deny");
    json_put_string(out, "scope", scopes[told->scope]);
    json_put_string(out, "by", told->by);
    end(out);
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
