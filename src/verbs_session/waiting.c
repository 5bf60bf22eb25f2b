/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs_session/waiting.h"

#include "base/answered.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "verbs_session/own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void free_question(struct waiting_question *question)
{
    const struct bawn_notice *notice = &question->notice;
    const char *texts[] = {notice->op,   notice->path, notice->call,  notice->rule,
                           notice->comm, notice->exe,  notice->grant, notice->grant_tree};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        free((void *)(uintptr_t)texts[i]);
    for (const char *const *word = notice->argv; word && *word; word++)
        free((void *)(uintptr_t)*word);
    free((void *)(uintptr_t)notice->argv);
    free(question);
}

static const char *const *copy_argv(const char *const *argv)
{
    size_t count = 0;
    const char **copy;

    while (argv[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = strdup(argv[i]);
    return copy;
}

static struct waiting_question *copy_question(struct bawn_approver *approver,
                                              const struct bawn_notice *notice)
{
    struct waiting_question *question = calloc(1, sizeof(*question));

    if (!question)
        return NULL;
    question->approver = approver;
    question->until_ms = clock_ms() + notice->ms_left;
    (void)snprintf(question->id, sizeof(question->id), "%s:%u", bawn_approver_sid(approver),
                   notice->id);
    question->notice = *notice;
    question->notice.op = strdup(notice->op);
    question->notice.path = strdup(notice->path);
    question->notice.call = strdup(notice->call);
    question->notice.rule = strdup(notice->rule);
    question->notice.comm = strdup(notice->comm);
    question->notice.exe = strdup(notice->exe);
    question->notice.grant = strdup(notice->grant);
    question->notice.grant_tree = strdup(notice->grant_tree);
    question->notice.argv = copy_argv(notice->argv);
    notice = &question->notice;
    if (notice->op && notice->path && notice->call && notice->rule && notice->comm && notice->exe &&
        notice->grant && notice->grant_tree && notice->argv)
        return question;
    free_question(question);
    return NULL;
}

static void add(struct waiting *waiting, struct bawn_approver *approver,
                const struct bawn_notice *notice)
{
    struct waiting_question *question = copy_question(approver, notice);

    /* Without memory it waits for somebody else. */
    if (!question)
        return;
    if (!vec_push(&waiting->questions, question)) {
        free_question(question);
        return;
    }
    if (waiting->came)
        waiting->came(waiting->context, question);
}

static void drop(struct waiting *waiting, size_t index, const struct bawn_notice *settled)
{
    struct waiting_question *question = waiting->questions.items[index];

    waiting->questions.count--;
    memmove(waiting->questions.items + index, waiting->questions.items + index + 1,
            (waiting->questions.count - index) * sizeof(struct waiting_question *));
    if (waiting->went)
        waiting->went(waiting->context, question, settled);
    free_question(question);
}

static void settle(struct waiting *waiting, const struct bawn_approver *approver,
                   const struct bawn_notice *notice)
{
    for (size_t i = waiting->questions.count; i > 0; i--) {
        const struct waiting_question *question = waiting->questions.items[i - 1];

        if (question->approver == approver && question->notice.id == notice->id)
            drop(waiting, i - 1, notice);
    }
}

/* The session has ended. */
static void lose(struct waiting *waiting, struct waiting_session *session)
{
    for (size_t i = waiting->questions.count; i > 0; i--)
        if (waiting->questions.items[i - 1]->approver == session->approver)
            drop(waiting, i - 1, NULL);
    if (waiting->loop)
        loop_remove(waiting->loop, &session->source);
    bawn_approver_close(session->approver);
    *session = (struct waiting_session){.approver = NULL};
}

static int on_session(void *context, uint32_t events)
{
    struct waiting_session *session = context;
    const struct bawn_notice *notice;
    int result;

    (void)events;
    while ((result = bawn_approver_next(session->approver, &notice, NULL)) > 0) {
        if (notice->kind == BAWN_NOTICE_ASKED)
            add(session->waiting, session->approver, notice);
        else if (notice->kind == BAWN_NOTICE_SETTLED)
            settle(session->waiting, session->approver, notice);
        else
            session->is_all = true;
    }
    if (result < 0)
        lose(session->waiting, session);
    return 0;
}

int waiting_open(struct waiting *waiting, const char *sid, struct bawn_error *err)
{
    struct waiting_session *session = NULL;
    int result;

    for (size_t i = 0; i < WAITING_SESSIONS && !session; i++)
        if (!waiting->sessions[i].approver)
            session = &waiting->sessions[i];
    if (!session) {
        (void)error_set(err, E2BIG, "approve.sessions", "more than %d sessions ask",
                        WAITING_SESSIONS);
        error_hint(err, "name the one that you want to answer");
        return -E2BIG;
    }
    *session = (struct waiting_session){.waiting = waiting};
    result = bawn_approver_open(sid, &session->approver, err);
    if (result < 0 || !waiting->loop)
        return result;
    session->source = (struct loop_source){.fd = bawn_approver_fd(session->approver),
                                           .events = POLLIN,
                                           .ready = on_session,
                                           .context = session};
    result = loop_add(waiting->loop, &session->source, err);
    if (result < 0)
        lose(waiting, session);
    return result;
}

int waiting_attend(struct waiting *waiting, struct bawn_error *err)
{
    waiting->place_fd = places_open_sessions(getenv("XDG_RUNTIME_DIR"), true, waiting->place, err);
    if (waiting->place_fd < 0)
        return waiting->place_fd;
    waiting->attends = true;
    waiting->mark_fd = answered_mark(waiting->place_fd, waiting->place, err);
    return waiting->mark_fd < 0 ? waiting->mark_fd : 0;
}

static bool is_open(const struct waiting *waiting, const char *sid)
{
    for (size_t i = 0; i < WAITING_SESSIONS; i++) {
        const struct bawn_approver *approver = waiting->sessions[i].approver;

        if (approver && strcmp(bawn_approver_sid(approver), sid) == 0)
            return true;
    }
    return false;
}

int waiting_look(struct waiting *waiting, struct bawn_error *err)
{
    autostatus struct bawn_status *list = NULL;
    int result = bawn_session_list(&list, err);

    for (const struct bawn_status *one = list; result >= 0 && one; one = one->next)
        if (!is_open(waiting, one->sid))
            (void)waiting_open(waiting, one->sid, NULL);
    return result < 0 ? result : 0;
}

unsigned waiting_sessions(const struct waiting *waiting)
{
    unsigned count = 0;

    for (size_t i = 0; i < WAITING_SESSIONS; i++)
        count += waiting->sessions[i].approver != NULL;
    return count;
}

void waiting_read(struct waiting *waiting)
{
    for (size_t i = 0; i < WAITING_SESSIONS; i++)
        if (waiting->sessions[i].approver)
            (void)on_session(&waiting->sessions[i], 0);
}

void waiting_settle(struct waiting *waiting, int timeout_ms)
{
    int64_t deadline = clock_ms() + timeout_ms;

    for (;;) {
        struct pollfd fds[WAITING_SESSIONS];
        nfds_t count = 0;
        int64_t left = deadline - clock_ms();

        waiting_read(waiting);
        for (size_t i = 0; i < WAITING_SESSIONS; i++)
            if (waiting->sessions[i].approver && !waiting->sessions[i].is_all)
                fds[count++] = (struct pollfd){
                    .fd = bawn_approver_fd(waiting->sessions[i].approver), .events = POLLIN};
        if (count == 0 || left <= 0)
            return;
        (void)poll(fds, count, (int)left);
    }
}

void waiting_done(struct waiting *waiting)
{
    waiting->came = NULL;
    waiting->went = NULL;
    for (size_t i = 0; i < WAITING_SESSIONS; i++)
        if (waiting->sessions[i].approver)
            lose(waiting, &waiting->sessions[i]);
    vec_done(&waiting->questions);
    if (!waiting->attends)
        return;
    answered_unmark(waiting->place_fd, &waiting->mark_fd);
    (void)close(take_fd(&waiting->place_fd));
    /* As the last session does. */
    (void)rmdir(waiting->place);
    waiting->attends = false;
}

const struct bawn_notice *waiting_notice(struct waiting_question *question)
{
    int64_t left = question->until_ms - clock_ms();

    question->notice.ms_left = left > 0 ? (int)left : 0;
    return &question->notice;
}

void waiting_add_end(struct strbuf *out, const struct bawn_notice *settled)
{
    static const char *const ends[] = {[BAWN_BY_TERMINAL] = "",
                                       [BAWN_BY_CLIENT] = "",
                                       [BAWN_BY_TIME] = ": nobody answered in time",
                                       [BAWN_BY_NOBODY] = ": nobody was left to answer",
                                       [BAWN_GIVEN_UP] = ": nobody waits for it any more"};
    static const char *const scopes[] = {"once", "for the session",
                                         "for the session, with its directory"};

    if (!settled)
        strbuf_add(out, "its session has ended");
    else
        strbuf_addf(out, "%s %s%s", settled->is_allowed ? "allowed" : "denied",
                    scopes[settled->scope], ends[settled->by]);
}
