/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/questions.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mutant.h"
#include "policy/message.h"
#include "policy/ruleword.h"
#include "supervise/answer.h"
#include "supervise/call.h"
#include "supervise/wait.h"
#include "wire/net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { TICK_MS = 20, ANSWERS_AT_ONCE = 64 };

void questions_init(struct questions *questions, const struct supervisor_options *options)
{
    bool can_ask = (options->image->flags & IMAGE_ASKS) && options->ask && options->report;

    *questions = (struct questions){.notify_fd = options->notify_fd,
                                    .sock = can_ask ? options->answer_fd : -EBADF,
                                    .ask = options->ask,
                                    .report = options->report,
                                    .context = options->context};
}

static void drop(struct questions *questions, size_t index)
{
    struct question *question = &questions->items[index];

    free(question->notif);
    free(question->path);
    cleanup_close(&question->status_fd);
    *question = questions->items[--questions->count];
}

void questions_done(struct questions *questions)
{
    while (questions->count > 0)
        drop(questions, questions->count - 1);
    answers_done(&questions->kept);
    free(questions->items);
}

static bool make_room(struct questions *questions)
{
    if (!questions->items)
        questions->items = calloc(QUESTIONS_MAX, sizeof(*questions->items));
    return questions->items && questions->count < QUESTIONS_MAX;
}

static const char *word_of(enum question_op op)
{
    static const char *const words[] = {
        [QUESTION_READ] = "read", [QUESTION_WRITE] = "write", [QUESTION_EXEC] = ASK_EXEC};

    return words[op];
}

/* "read /x", or nothing. */
static void write_grant(const struct call *call, const char *outside, enum path_op op,
                        const struct path_decision *decision, bool directory,
                        char grant[static EVENT_GRANT_BYTES])
{
    const struct refused_path refused = {.op = op, .path = outside, .decision = decision};
    struct rule_advice advice;

    *grant = '\0';
    if (rule_for_path(&call->guard->policy, &refused, directory, &advice) == NULL &&
        !advice.reopens)
        (void)snprintf(grant, EVENT_GRANT_BYTES, "%s %s", rule_word(advice.kind)->word,
                       advice.text);
}

static bool tell(const struct call *call, const struct question *question,
                 const struct path_decision *decision)
{
    enum path_op op = question->op == QUESTION_WRITE ? PATH_WRITE : PATH_READ;
    autostrbuf struct strbuf rule = {0};
    char name[CALLER_NAME_BYTES] = "";
    char argv[EVENT_ARGV_BYTES] = "";
    char exe[1024] = "";
    char buffer[GUARD_PATH_BYTES];
    char grant[EVENT_GRANT_BYTES];
    char grant_tree[EVENT_GRANT_BYTES];
    const char *outside = guard_outside(call->guard, question->path, buffer);
    struct event event = {.what = EVENT_ASKED,
                          .verdict = VERDICT_ASK,
                          .pid = (int32_t)call->notif->pid,
                          .number = question->number,
                          .texts = {[EVENT_COMM] = name,
                                    [EVENT_EXE] = exe,
                                    [EVENT_ARGV] = argv,
                                    [EVENT_OP] = word_of(question->op),
                                    [EVENT_CALL] = call->kind->name,
                                    [EVENT_PATH] = question->path,
                                    [EVENT_GRANT] = grant,
                                    [EVENT_GRANT_TREE] = grant_tree}};

    write_grant(call, outside, op, decision, false, grant);
    write_grant(call, outside, op, decision, true, grant_tree);
    /* The directory may not be granted. */
    if (strcmp(grant, grant_tree) == 0)
        *grant_tree = '\0';
    message_label(decision, &rule);
    event.texts[EVENT_RULE] = rule.failed ? NULL : rule.text;
    (void)caller_name(call->caller, name);
    event_read_argv(caller_proc(call->caller), argv);
    report_exe(call->caller, exe, sizeof(exe));
    return call->questions->ask(call->questions->context, &event);
}

static bool park(const struct call *call, const char *path, enum question_op op,
                 const struct path_decision *decision)
{
    struct questions *questions = call->questions;
    int status_fd = caller_status(call->caller);
    struct question question = {.number = ++questions->last,
                                .notif = malloc(sizeof(*question.notif)),
                                .op = op,
                                .path = strdup(path),
                                .status_fd =
                                    status_fd < 0 ? -EBADF : fcntl(status_fd, F_DUPFD_CLOEXEC, 0)};

    questions->items[questions->count++] = question;
    if (question.notif && question.path && question.status_fd >= 0) {
        *question.notif = *call->notif;
        if (tell(call, &question, decision))
            return true;
    }
    drop(questions, questions->count - 1);
    return false;
}

bool questions_put(const struct call *call, const char *path, enum question_op op,
                   const struct path_decision *decision)
{
    struct questions *questions = call->questions;
    const struct answer *kept;

    if (!LAYER("asking"))
        return true;
    if (questions->sock < 0)
        return false;
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];

        if (question->notif->id == call->notif->id && question->is_answered && question->op == op &&
            strcmp(question->path, path) == 0)
            return question->is_allowed;
    }
    kept = answers_find(&questions->kept, word_of(op), path);
    if (kept)
        return kept->is_allowed;
    if (make_room(questions))
        (void)park(call, path, op, decision);
    return false;
}

bool questions_holds(const struct questions *questions, uint64_t call)
{
    for (size_t i = 0; i < questions->count; i++)
        if (questions->items[i].notif->id == call && !questions->items[i].is_answered)
            return true;
    return false;
}

void questions_forget(struct questions *questions, uint64_t call)
{
    for (size_t i = questions->count; i > 0; i--)
        if (questions->items[i - 1].notif->id == call)
            drop(questions, i - 1);
}

size_t questions_await(const struct questions *questions, struct pollfd *ret_polled,
                       int *ret_timeout_ms)
{
    *ret_timeout_ms = questions->count ? TICK_MS : -1;
    if (!questions->count)
        return 0;
    *ret_polled = (struct pollfd){.fd = questions->sock, .events = POLLIN};
    return 1;
}

/* SECURITY: an answer to a number that is not asked about is to nobody. */
static void take(struct questions *questions, const struct ask_verdict *verdict)
{
    for (size_t i = 0; i < questions->count; i++) {
        struct question *question = &questions->items[i];

        if (question->number != verdict->number || question->is_answered)
            continue;
        question->is_answered = true;
        question->is_allowed = verdict->is_allowed;
        if (verdict->scope != ASK_ONCE)
            (void)answers_keep(&questions->kept, word_of(question->op), question->path,
                               &(struct answer){.is_allowed = verdict->is_allowed,
                                                .is_tree = verdict->scope == ASK_SESSION_TREE});
        return;
    }
}

/* Nobody will answer: the launcher is gone. */
static void answer_all(struct questions *questions)
{
    for (size_t i = 0; i < questions->count; i++)
        questions->items[i].is_answered = true;
    questions->sock = -EBADF;
}

static void hear(struct questions *questions)
{
    for (unsigned i = 0; i < ANSWERS_AT_ONCE && questions->sock >= 0; i++) {
        struct ask_verdict verdict;
        ssize_t got = recv(questions->sock, &verdict, sizeof(verdict), MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            answer_all(questions);
        else if (got < 0)
            return;
        else if (got == (ssize_t)sizeof(verdict) && verdict.kind == NET_VERDICT &&
                 verdict.scope < ASK_SCOPES)
            take(questions, &verdict);
    }
}

/* Whoever is killed or has a signal does not wait. */
static void tick(struct questions *questions)
{
    for (size_t i = questions->count; i > 0; i--) {
        struct question *question = &questions->items[i - 1];
        uint64_t id = question->notif->id;
        struct event event = {.what = EVENT_GIVEN_UP, .number = question->number};
        int interruption = 0;

        if (question->is_answered)
            continue;
        if (answer_is_wanted(questions->notify_fd, id)) {
            interruption = wait_interruption(question->status_fd, &question->seen);
            if (!interruption)
                continue;
            answer_value(questions->notify_fd, id, interruption);
        }
        questions->report(questions->context, &event);
        questions_forget(questions, id);
        /* Others of the same call went with it. */
        if (i > questions->count)
            i = questions->count + 1;
    }
}

void questions_hear(struct questions *questions)
{
    int64_t now_ms = clock_ms();

    if (!questions->count)
        return;
    hear(questions);
    if (now_ms - questions->ticked_ms < TICK_MS)
        return;
    questions->ticked_ms = now_ms;
    tick(questions);
}

const struct seccomp_notif *questions_next(const struct questions *questions)
{
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];

        if (question->is_answered && !questions_holds(questions, question->notif->id))
            return question->notif;
    }
    return NULL;
}
