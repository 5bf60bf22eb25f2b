/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions that are connected to, and what waits in them. */
#include "approvals/own.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/question.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { NOTICES = 64 /* of one session, before others have their turn */ };

static void name(char id[static SERVED_ID_BYTES], const struct served *session, unsigned number)
{
    (void)snprintf(id, SERVED_ID_BYTES, "%s:%u", session->sid, number);
}

struct served *sessions_find(struct approvals *approvals, const char *sid)
{
    for (size_t i = 0; i < SERVED_SESSIONS; i++) {
        struct served *session = &approvals->sessions[i];

        if (session->generation && strcmp(session->sid, sid) == 0)
            return session;
    }
    return NULL;
}

static struct question *find(struct served *session, unsigned id)
{
    vec_each (&session->questions, question) {
        if (question->id == id)
            return question;
    }
    return NULL;
}

struct question *sessions_question(struct approvals *approvals, const char *id,
                                   struct served **ret_session)
{
    const char *colon = strchr(id, ':');
    char sid[SERVED_SID_BYTES];
    uint64_t number = 0;

    if (!colon || (size_t)(colon - id) >= sizeof(sid) ||
        !text_parse_count(colon + 1, UINT32_MAX, &number))
        return NULL;
    (void)snprintf(sid, sizeof(sid), "%.*s", (int)(colon - id), id);
    *ret_session = sessions_find(approvals, sid);
    return *ret_session ? find(*ret_session, (unsigned)number) : NULL;
}

/* It needs no answer any more: those who know of it are told. */
static void settle(struct served *session, struct question *question, struct told end)
{
    struct question over = *question;

    name(end.id, session, over.id);
    end.is_settled = true;
    *question = session->questions.items[--session->questions.count];
    peers_settled(session->approvals, &over, &end);
    free(over.line);
}

static void settle_all(struct served *session, const char *by, bool only_stale)
{
    for (size_t i = session->questions.count; i > 0; i--) {
        struct question *question = &session->questions.items[i - 1];

        if (!only_stale || question->is_stale)
            settle(session, question, (struct told){.by = by});
    }
}

static void end(struct served *session, const char *by)
{
    settle_all(session, by, false);
    loop_remove(&session->approvals->loop, &session->source);
    bawn_approver_close(session->approver);
    free(session->line);
    free(session->workspace);
    vec_done(&session->questions);
    *session = (struct served){.generation = 0};
}

static void take_asked(struct served *session, const struct bawn_notice *notice)
{
    struct approvals *approvals = session->approvals;
    struct question *known = find(session, notice->id);
    struct question question = {.id = notice->id,
                                .is_net = tell_is_net(notice),
                                .has_grant = *notice->grant != '\0',
                                .has_tree = *notice->grant_tree != '\0'};
    autostrbuf struct strbuf line = {0};
    char id[SERVED_ID_BYTES];

    if (known) {
        known->is_stale = false;
        return;
    }
    name(id, session, notice->id);
    if (approvals->rules && answer_by_rules(approvals, session, id, notice))
        return;
    tell_question(&line, id, notice);
    question.length = line.length;
    question.line = strbuf_take(&line);
    question.serial = ++approvals->last_serial;
    /* Out of memory: others may answer it, or nobody does. */
    if (!question.line || session->questions.count >= SERVED_QUESTIONS ||
        !vec_push(&session->questions, question))
        free(question.line);
}

static void take_settled(struct served *session, const struct bawn_notice *notice)
{
    struct question *question = find(session, notice->id);

    if (question)
        settle(session, question,
               (struct told){.is_allowed = notice->is_allowed,
                             .scope = (uint32_t)notice->scope,
                             .by = question_by(notice->by)});
}

/* A session does not wait for who reads too slowly: it breaks the connection. Then what waits is
 * told anew. */
static bool connect_again(struct served *session)
{
    struct bawn_approver *approver = NULL;

    if (session->is_fresh || bawn_approver_open(session->sid, &approver, NULL) < 0)
        return false;
    loop_remove(&session->approvals->loop, &session->source);
    bawn_approver_close(session->approver);
    session->approver = approver;
    session->source.fd = bawn_approver_fd(approver);
    session->is_fresh = true;
    vec_each (&session->questions, question)
        question->is_stale = true;
    return loop_add(&session->approvals->loop, &session->source, NULL) == 0;
}

static int on_session(void *context, uint32_t events)
{
    struct served *session = context;
    struct approvals *approvals = session->approvals;
    struct bawn_error error = {0};
    const struct bawn_notice *notice;
    int result = 1;

    (void)events;
    for (int i = 0; i < NOTICES && result > 0; i++) {
        result = bawn_approver_next(session->approver, &notice, &error);
        if (result <= 0)
            break;
        session->is_fresh = false;
        if (notice->kind == BAWN_NOTICE_ASKED)
            take_asked(session, notice);
        else if (notice->kind == BAWN_NOTICE_SETTLED)
            take_settled(session, notice);
        else
            settle_all(session, "nobody", true);
    }
    if (result < 0 && !(result == -EPIPE && connect_again(session))) {
        if (result != -EPIPE)
            approvals_complain(approvals, &error);
        approvals->misses = true;
        end(session, "session");
        if (*approvals->sid)
            loop_end(&approvals->loop);
    }
    peers_tell(approvals);
    return approvals->failed;
}

static struct served *find_room(struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_SESSIONS; i++)
        if (!approvals->sessions[i].generation)
            return &approvals->sessions[i];
    return NULL;
}

static int add(struct approvals *approvals, const struct bawn_status *status,
               struct bawn_error *err)
{
    struct served *session = find_room(approvals);
    autostrbuf struct strbuf line = {0};
    int result;

    if (!session)
        return error_set(err, EUSERS, "supervise.full",
                         "%s: questions of more than %d sessions at a time are not answered here",
                         status->sid, SERVED_SESSIONS);
    *session = (struct served){.approvals = approvals, .is_fresh = true};
    result = bawn_approver_open(status->sid, &session->approver, err);
    if (result < 0)
        return result;
    (void)snprintf(session->sid, sizeof(session->sid), "%s", status->sid);
    tell_session(&line, session->sid, status);
    session->line = strbuf_take(&line);
    session->workspace = strdup(status->workspace);
    session->source = (struct loop_source){.fd = bawn_approver_fd(session->approver),
                                           .events = POLLIN,
                                           .ready = on_session,
                                           .context = session};
    result = session->line && session->workspace ? loop_add(&approvals->loop, &session->source, err)
                                                 : error_memory(err);
    session->generation = ++approvals->last_generation;
    if (result < 0)
        end(session, "session");
    return result;
}

void sessions_look(struct approvals *approvals)
{
    struct bawn_status *list = NULL;
    struct bawn_error error = {0};

    approvals->misses = false;
    if (!approvals->attends)
        return;
    if (bawn_session_list(&list, &error) < 0) {
        approvals_complain(approvals, &error);
        approvals->misses = true;
        return;
    }
    for (const struct bawn_status *status = list; status; status = status->next) {
        int result;

        if ((*approvals->sid && strcmp(status->sid, approvals->sid) != 0) ||
            sessions_find(approvals, status->sid))
            continue;
        result = add(approvals, status, &error);
        /* One that has just ended, or that is stopped. */
        approvals->misses |= result < 0;
        if (result == -EUSERS && !approvals->said_full) {
            approvals_complain(approvals, &error);
            approvals->said_full = true;
        }
    }
    bawn_status_free(list);
    peers_tell(approvals);
}

void sessions_leave(struct approvals *approvals)
{
    for (size_t i = 0; i < SERVED_SESSIONS; i++)
        if (approvals->sessions[i].generation)
            end(&approvals->sessions[i], "session");
}
