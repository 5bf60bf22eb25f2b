/* SPDX-License-Identifier: Apache-2.0 */
#include "net/approval.h"

#include "base/clock.h"
#include "policy/message.h"
#include "policy/ruleword.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A channel that is full is tried again. */
enum { AGAIN_MS = 20, SECOND_MS = 1000, NUMBER_SHIFT = 20 };

struct approval_question {
    struct approvals *all;
    struct approval_question *next, **link;
    uint64_t number;
    bool is_told, is_settled;
    int64_t until_ms;
    struct hub_timer timer;
    struct approval_request *first, **end;
    /* What it says. */
    char host[TALLY_HOST_BYTES];
    const char *way;
    struct strbuf rule, grant;
    int32_t pid;
    char comm[NET_COMM_BYTES];
    char exe[NET_EXE_BYTES];
};

int approvals_init(struct approvals *approvals, struct hub *hub, const struct policy *policy,
                   struct event_sender *events, uint32_t ask_seconds, struct bawn_error *err)
{
    const uint32_t most = (INT_MAX - APPROVALS_GRACE_MS) / 1000;

    *approvals = (struct approvals){.hub = hub, .events = events, .policy = policy};
    approvals->patience_ms = (int)(ask_seconds < most ? ask_seconds : most) * 1000;
    /* SECURITY: no number of a bawn-net that was here before. */
    approvals->last = (uint64_t)clock_ms() << NUMBER_SHIFT;
    return table_init(&approvals->kept, APPROVALS_KEPT, err);
}

static void question_free(struct approval_question *question)
{
    strbuf_done(&question->rule);
    strbuf_done(&question->grant);
    free(question);
}

/* It waits no more; who waits for it still does. */
static void question_end(struct approval_question *question)
{
    hub_stop_timer(question->all->hub, &question->timer);
    *question->link = question->next;
    if (question->next)
        question->next->link = question->link;
    question->all->question_count--;
    question->is_settled = true;
}

static void unlink_request(struct approval_question *question, struct approval_request *request)
{
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
    else
        question->end = request->link;
    question->all->request_count--;
    request->question = NULL;
}

static void give_up(const struct approval_question *question)
{
    if (question->is_told)
        event_send(question->all->events,
                   (struct event){.what = EVENT_GIVEN_UP, .number = question->number});
}

void approval_cancel(struct approval_request *request)
{
    struct approval_question *question = request->question;

    if (!question)
        return;
    unlink_request(question, request);
    if (question->first || question->is_settled)
        return;
    give_up(question);
    question_end(question);
    question_free(question);
}

void approvals_done(struct approvals *approvals)
{
    while (approvals->first) {
        struct approval_question *question = approvals->first;

        while (question->first)
            unlink_request(question, question->first);
        question_end(question);
        question_free(question);
    }
    table_done(&approvals->kept);
}

/* Who is told may ask about others, and cancel those that wait here. */
static void settle(struct approval_question *question, const struct approval *answer)
{
    struct approval_request *request;

    question_end(question);
    while ((request = question->first)) {
        unlink_request(question, request);
        request->done(request->context, answer);
    }
    question_free(question);
}

static struct approval_kept *find_kept(const struct approvals *approvals, const char *host)
{
    return (struct approval_kept *)table_find(&approvals->kept, host);
}

bool approval_find(struct approvals *approvals, const struct host *host,
                   struct approval *ret_answer)
{
    char text[TALLY_HOST_BYTES];
    struct approval_kept *kept;

    tally_host(host, text);
    kept = find_kept(approvals, text);
    if (!kept || (kept->until_ms && clock_ms() >= kept->until_ms))
        return false;
    table_use(&approvals->kept, &kept->entry);
    *ret_answer = kept->answer;
    return true;
}

/* Where there is no room the one that was used least goes. */
static void keep(struct approvals *approvals, const char *host, const struct approval *answer,
                 int64_t until_ms)
{
    struct approval_kept *kept = find_kept(approvals, host);

    if (!kept && approvals->kept.count < APPROVALS_KEPT)
        kept = &approvals->answers[approvals->kept.count];
    else if (!kept)
        kept = (struct approval_kept *)approvals->kept.oldest;
    if (kept->entry.name)
        table_remove(&approvals->kept, &kept->entry);
    memmove(kept->host, host, strlen(host) + 1);
    kept->entry.name = kept->host;
    kept->answer = *answer;
    kept->until_ms = until_ms;
    table_put(&approvals->kept, &kept->entry);
}

/* SECURITY: whoever answers may judge by the program that is told: what another one wants is
 * another question. exe NULL: whichever program wants it. */
static struct approval_question *find_question(const struct approvals *approvals, const char *host,
                                               const char *exe)
{
    for (struct approval_question *question = approvals->first; question; question = question->next)
        if (strcmp(question->host, host) == 0 && (!exe || strcmp(question->exe, exe) == 0))
            return question;
    return NULL;
}

bool approval_is_asked(const struct approvals *approvals, const struct host *host)
{
    char text[TALLY_HOST_BYTES];

    tally_host(host, text);
    return find_question(approvals, text, NULL);
}

static void on_late(void *context)
{
    struct approval_question *question = context;

    give_up(question);
    settle(question, &(struct approval){.by = ASK_BY_TIME});
}

/* SECURITY: a command can bring questions about as fast as it likes. */
static bool may_tell(struct approvals *approvals)
{
    int64_t now_ms = clock_ms();

    if (now_ms - approvals->second_ms >= SECOND_MS) {
        approvals->second_ms = now_ms;
        approvals->told = 0;
    }
    return approvals->told < APPROVALS_A_SECOND;
}

static void tell(void *context)
{
    struct approval_question *question = context;
    struct approvals *all = question->all;
    const struct event event = {.what = EVENT_ASKED,
                                .verdict = VERDICT_ASK,
                                .pid = question->pid,
                                .number = question->number,
                                .texts = {[EVENT_COMM] = question->comm,
                                          [EVENT_CALL] = question->way,
                                          [EVENT_PATH] = question->host,
                                          [EVENT_RULE] = question->rule.text,
                                          [EVENT_EXE] = question->exe,
                                          [EVENT_OP] = "connect",
                                          [EVENT_GRANT] = question->grant.text}};
    int64_t left_ms = question->until_ms - clock_ms();

    question->is_told = may_tell(all) && event_ask(all->events, event);
    all->told += question->is_told;
    if (question->is_told || left_ms <= 0)
        hub_set_timer(all->hub, &question->timer, left_ms > 0 ? (int)left_ms : 0, on_late,
                      question);
    else
        hub_set_timer(all->hub, &question->timer, AGAIN_MS, tell, question);
}

static bool word_question(struct approval_question *question, const struct approval_asked *asked)
{
    struct rule_advice advice;

    tally_host(asked->host, question->host);
    question->way = asked->way;
    message_net_label(question->all->policy, asked->decision, &question->rule);
    if (!rule_for_host(asked->decision, question->host, asked->host, &advice))
        strbuf_addf(&question->grant, "%s %s", rule_word(advice.kind)->word, advice.text);
    if (asked->who) {
        question->pid = asked->who->pid;
        memcpy(question->comm, asked->who->comm, sizeof(question->comm));
        memcpy(question->exe, asked->who->exe, sizeof(question->exe));
    }
    return !question->rule.failed && !question->grant.failed;
}

/* NULL: there are too many, or no memory. */
static struct approval_question *question_new(struct approvals *approvals,
                                              const struct approval_asked *asked)
{
    struct approval_question *question = NULL;

    if (approvals->question_count < APPROVALS_WAITING)
        question = calloc(1, sizeof(*question));
    if (!question)
        return NULL;
    question->all = approvals;
    question->end = &question->first;
    if (!word_question(question, asked)) {
        question_free(question);
        return NULL;
    }
    question->number = ++approvals->last;
    question->until_ms = clock_ms() + approvals->patience_ms + APPROVALS_GRACE_MS;
    question->next = approvals->first;
    question->link = &approvals->first;
    if (question->next)
        question->next->link = &question->next;
    approvals->first = question;
    approvals->question_count++;
    tell(question);
    return question;
}

bool approval_ask(struct approvals *approvals, struct approval_request *request,
                  const struct approval_asked *asked)
{
    struct approval_question *question;
    char text[TALLY_HOST_BYTES];

    tally_host(asked->host, text);
    question = find_question(approvals, text, asked->who ? asked->who->exe : "");
    if (!question)
        question = question_new(approvals, asked);
    if (!question)
        return false;
    request->question = question;
    request->next = NULL;
    request->link = question->end;
    *question->end = request;
    question->end = &request->next;
    approvals->request_count++;
    return true;
}

void approvals_take(struct approvals *approvals, const void *packet, size_t size)
{
    struct approval_question *question = approvals->first;
    struct ask_verdict verdict;
    struct approval answer;

    if (size != sizeof(verdict))
        return;
    memcpy(&verdict, packet, sizeof(verdict));
    if (verdict.kind != NET_VERDICT || verdict.scope >= ASK_SCOPES || verdict.by >= ASK_ENDS)
        return;
    while (question && question->number != verdict.number)
        question = question->next;
    if (!question)
        return;
    answer = (struct approval){.is_allowed = verdict.is_allowed, .by = (enum ask_end)verdict.by};
    if (verdict.scope != ASK_ONCE)
        keep(approvals, question->host, &answer, 0);
    else if (!answer.is_allowed)
        keep(approvals, question->host, &answer, clock_ms() + APPROVALS_NO_MS);
    settle(question, &answer);
}
