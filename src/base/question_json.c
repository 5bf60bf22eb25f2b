/* SPDX-License-Identifier: Apache-2.0 */
/* Questions as programs are told them, in the words of docs/PROTOCOL-approvals.md. */
#include "base/json.h"
#include "base/question.h"
#include "base/redact.h"
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

bool question_is_net(const struct bawn_notice *notice)
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

/* Each word of its command line; masked: without what looks like a secret. */
static void put_argv(struct strbuf *out, const char *const *argv, bool is_masked)
{
    struct redact_words words = {.next = REDACT_NOTHING};

    json_open(out, "argv", '[');
    for (; *argv; argv++) {
        autostrbuf struct strbuf word = {0};

        if (is_masked)
            redact_word(&words, &word, *argv);
        else
            strbuf_add(&word, *argv);
        json_put_text(out, NULL, &word);
    }
    json_close(out, ']');
}

static void put_who(struct strbuf *out, const struct bawn_notice *notice, bool is_masked)
{
    if (notice->pid > 0)
        json_put_uint(out, "pid", (uint64_t)notice->pid);
    if (*notice->comm)
        json_put_string(out, "comm", notice->comm);
    if (*notice->exe)
        json_put_string(out, "exe", notice->exe);
    if (notice->argv[0])
        put_argv(out, notice->argv, is_masked);
}

void question_tell(struct strbuf *out, const char *id, const struct bawn_notice *notice,
                   bool is_masked)
{
    bool is_net = question_is_net(notice);

    begin(out, is_net ? "event.net_request" : "event.fs_request");
    json_put_string(out, "id", id);
    put_who(out, notice, is_masked);
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

void question_tell_settled(struct strbuf *out, const char *id, bool is_allowed,
                           enum bawn_answer_scope scope, const char *by)
{
    begin(out, "event.settled");
    json_put_string(out, "id", id);
    json_put_string(out, "answer", is_allowed ? "allow" : "deny");
    json_put_string(out, "scope", scopes[scope]);
    json_put_string(out, "by", by);
    end(out);
}

const char *question_by(enum bawn_answer_by by)
{
    static const char *const ends[] = {[BAWN_BY_TERMINAL] = "terminal",
                                       [BAWN_BY_CLIENT] = "client",
                                       [BAWN_BY_TIME] = "time",
                                       [BAWN_BY_NOBODY] = "nobody",
                                       [BAWN_GIVEN_UP] = "given_up"};

    return ends[by];
}
