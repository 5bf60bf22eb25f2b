/* SPDX-License-Identifier: Apache-2.0 */
/* bawn approve: what waits for an answer, listed, answered, or told as it comes. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/question.h"
#include "base/text.h"
#include "verbs_session/approve_own.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ANSWER_MS = 5000, LINE_COLS = 100, STATUS_SIGNAL = 128 };

static void put_asked(struct strbuf *out, struct waiting_question *question)
{
    question_tell(out, question->id, waiting_notice(question), true);
}

static void put_settled(struct strbuf *out, const struct waiting_question *question,
                        const struct bawn_notice *settled)
{
    question_tell_settled(out, question->id, settled && settled->is_allowed,
                          settled ? settled->scope : BAWN_ANSWER_ONCE,
                          settled ? question_by(settled->by) : "session");
}

static int refuse_id(const char *id, struct bawn_error *err)
{
    char shown[64];

    text_escape(shown, sizeof(shown), id, strlen(id), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "'%s' is no question", shown);
    error_hint(err, "'bawn approve --list' shows them: SESSION:NUMBER");
    return -EINVAL;
}

/* Of "SESSION:NUMBER", or the number alone, which is of the session that is named. */
static int read_id(const struct front *front, const char *id, char sid[static 32],
                   unsigned *ret_number, struct bawn_error *err)
{
    const char *colon = strrchr(id, ':');
    const char *named = front_sid(front);
    uint64_t number;

    if (!text_parse_count(colon ? colon + 1 : id, UINT32_MAX, &number) ||
        (colon && (size_t)(colon - id) >= 32))
        return refuse_id(id, err);
    (void)snprintf(sid, 32, "%.*s", colon ? (int)(colon - id) : 31,
                   colon   ? id
                   : named ? named
                           : "");
    *ret_number = (unsigned)number;
    return 0;
}

static int refuse_together(const char *what, struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "usage.bad_value", "%s", what);
    error_hint(err, "'bawn approve --help' lists what goes together");
    return -EINVAL;
}

static int read_answer(const struct front *front, bool is_allowed, struct bawn_answer *ret_answer,
                       struct bawn_error *err)
{
    const char *scope = options_value(&front->options, OPTION_ANSWER_SCOPE);
    const char *saved = options_value(&front->options, OPTION_ANSWER_SAVE);

    *ret_answer = (struct bawn_answer){.is_allowed = is_allowed};
    if (scope && strcmp(scope, "once") != 0)
        ret_answer->scope =
            strcmp(scope, "session") == 0 ? BAWN_ANSWER_SESSION : BAWN_ANSWER_SESSION_TREE;
    if (!saved)
        return 0;
    if (scope && strcmp(scope, "once") == 0)
        return refuse_together("--save and --scope once: what is saved holds for the session, too",
                               err);
    if (!scope)
        ret_answer->scope = BAWN_ANSWER_SESSION;
    ret_answer->flags = BAWN_ANSWER_SAVE;
    ret_answer->saved_in = strcmp(saved, "user") == 0      ? BAWN_SCOPE_USER
                           : strcmp(saved, "project") == 0 ? BAWN_SCOPE_PROJECT
                                                           : BAWN_SCOPE_LOCAL;
    return 0;
}

struct awaited {
    unsigned number;
    bool is_over;
    bool is_allowed;
    bool is_json;
    struct strbuf *out;
};

static void on_awaited(void *context, const struct waiting_question *question,
                       const struct bawn_notice *settled)
{
    struct awaited *awaited = context;

    if (question->notice.id != awaited->number)
        return;
    awaited->is_over = true;
    awaited->is_allowed = settled && settled->is_allowed;
    if (awaited->is_json) {
        put_settled(awaited->out, question, settled);
        return;
    }
    strbuf_addf(awaited->out, "%s: ", question->id);
    waiting_add_end(awaited->out, settled);
}

static struct waiting_question *find(const struct waiting *waiting, unsigned number)
{
    vec_each (&waiting->questions, question)
        if ((*question)->notice.id == number)
            return *question;
    return NULL;
}

/* Whether the answer can be given as it is meant. */
static int judge_answer(const struct bawn_notice *notice, const struct bawn_answer *answer,
                        struct bawn_error *err)
{
    if (answer->scope == BAWN_ANSWER_SESSION_TREE && !*notice->grant_tree) {
        (void)error_set(err, EINVAL, "approve.scope",
                        "its directory cannot be answered for as a whole");
        error_hint(err, "answer with --scope session");
        return -EINVAL;
    }
    if (answer->flags & BAWN_ANSWER_SAVE && !*notice->grant) {
        (void)error_set(err, EINVAL, "approve.save", "no rule of yours can say that for later");
        error_hint(err, "answer without --save");
        return -EINVAL;
    }
    return 0;
}

static int refuse_unknown(unsigned number, struct bawn_error *err)
{
    (void)error_set(err, ENOENT, "approve.unknown", "no question %u waits there", number);
    error_hint(err, "it is answered, or nobody waits for it any more: 'bawn approve --list' shows "
                    "those that wait");
    return -ENOENT;
}

static int answer_one(const struct front *front, const char *id, bool is_allowed,
                      struct bawn_error *err)
{
    struct strbuf out = {0};
    struct awaited awaited = {.is_json = front->json, .out = &out};
    struct waiting waiting = {.went = on_awaited, .context = &awaited};
    const struct waiting_question *question = NULL;
    struct bawn_answer answer;
    char sid[32];
    int64_t deadline = clock_ms() + ANSWER_MS;
    int result = read_id(front, id, sid, &awaited.number, err);

    if (result == 0)
        result = read_answer(front, is_allowed, &answer, err);
    if (result == 0)
        result = waiting_open(&waiting, *sid ? sid : NULL, err);
    if (result == 0) {
        waiting_settle(&waiting, ANSWER_MS);
        question = find(&waiting, awaited.number);
        if (!question && !awaited.is_over)
            result = refuse_unknown(awaited.number, err);
    }
    if (result == 0 && question)
        result = judge_answer(&question->notice, &answer, err);
    if (result == 0 && question)
        result = bawn_approver_answer(question->approver, question->notice.id, &answer, err);
    while (result == 0 && !awaited.is_over && clock_ms() < deadline) {
        struct pollfd in = {.fd = bawn_approver_fd(waiting.sessions[0].approver), .events = POLLIN};

        (void)poll(&in, 1, 100);
        waiting_read(&waiting);
    }
    if (result == 0 && !awaited.is_over) {
        result = error_set(err, ETIME, "approve.silent", "the session does not take the answer");
        error_hint(err, "it may be stopped, as by Ctrl-Z: see 'bawn status'");
    }
    waiting_done(&waiting);
    if (result < 0) {
        strbuf_done(&out);
        return result;
    }
    result = front_print(&out);
    /* Somebody was faster, and meant something else. */
    return result == 0 && awaited.is_allowed != is_allowed ? STATUS_DENIED : result;
}

static void add_text(struct strbuf *out, struct waiting_question *question)
{
    int left_s = waiting_notice(question)->ms_left / 1000;

    if (out->length > 0)
        strbuf_add(out, "\n");
    strbuf_addf(out, "%s, no in %d:%02d\n", question->id, left_s / 60, left_s % 60);
    question_print(&question->notice, LINE_COLS, out);
}

static int list(const struct front *front, const char *sid, struct bawn_error *err)
{
    struct waiting waiting = {0};
    struct strbuf out = {0};
    int result = sid ? waiting_open(&waiting, sid, err) : waiting_look(&waiting, err);

    if (result < 0)
        return result;
    waiting_settle(&waiting, ANSWER_MS);
    vec_each (&waiting.questions, question) {
        if (front->json)
            put_asked(&out, *question);
        else
            add_text(&out, *question);
    }
    if (waiting.questions.count == 0 && !front->json && !front->quiet)
        strbuf_add(&out, "nothing waits for an answer\n");
    /* A question that came meanwhile and that nobody else can answer is denied by our leaving, as
     * it would have been without us. */
    waiting_done(&waiting);
    return front_print(&out);
}

struct lines {
    const struct front *front;
    struct loop *loop;
    struct loop_source source;
    int signal; /* that ended us */
    bool has_failed;
};

static void print(struct lines *lines, struct strbuf *out)
{
    if (front_print(out) == 0)
        return;
    lines->has_failed = true;
    loop_end(lines->loop);
}

static void on_came(void *context, const struct waiting_question *question)
{
    struct lines *lines = context;
    struct strbuf out = {0};

    if (lines->front->json)
        put_asked(&out, (struct waiting_question *)(uintptr_t)question);
    else
        add_text(&out, (struct waiting_question *)(uintptr_t)question);
    print(lines, &out);
}

static void on_went(void *context, const struct waiting_question *question,
                    const struct bawn_notice *settled)
{
    struct lines *lines = context;
    struct strbuf out = {0};

    if (lines->front->json) {
        put_settled(&out, question, settled);
    } else {
        strbuf_addf(&out, "%s: ", question->id);
        waiting_add_end(&out, settled);
    }
    print(lines, &out);
}

static int on_signal(void *context, uint32_t events)
{
    struct lines *lines = context;
    struct signalfd_siginfo info;

    (void)events;
    if (read(lines->source.fd, &info, sizeof(info)) != sizeof(info))
        return 0;
    lines->signal = (int)info.ssi_signo;
    loop_end(lines->loop);
    return 0;
}

/* We leave nothing behind, whoever ends us. */
static int watch_signals(struct lines *lines, struct bawn_error *err)
{
    static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&set, watched[i]);
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return error_errno(err, errno, "block signals");
    lines->source = (struct loop_source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                         .events = POLLIN,
                                         .ready = on_signal,
                                         .context = lines};
    if (lines->source.fd < 0)
        return error_errno(err, errno, "signalfd");
    return loop_add(lines->loop, &lines->source, err);
}

/* As they come, for programs and logs: until the session ends, or we are told to. */
static int tell(const struct front *front, const char *sid, struct bawn_error *err)
{
    struct loop loop;
    struct lines lines = {.front = front, .loop = &loop};
    struct waiting waiting = {.loop = &loop, .came = on_came, .went = on_went, .context = &lines};
    int result = loop_init(&loop, err);

    if (result == 0)
        result = watch_signals(&lines, err);
    if (result == 0)
        result = sid ? waiting_open(&waiting, sid, err) : waiting_attend(&waiting, err);
    while (result == 0 && !lines.has_failed && !lines.signal &&
           (!sid || waiting_sessions(&waiting) > 0)) {
        if (!sid)
            result = waiting_look(&waiting, err);
        if (result == 0)
            result = loop_run(&loop, APPROVE_LOOK_MS, err);
    }
    waiting_done(&waiting);
    loop_done(&loop);
    if (lines.has_failed)
        return STATUS_FAILED;
    return result < 0 ? result : lines.signal ? STATUS_SIGNAL + lines.signal : 0;
}

int front_approve(struct front *front, struct bawn_error *err)
{
    const char *yes = options_value(&front->options, OPTION_ANSWER_YES);
    const char *no = options_value(&front->options, OPTION_ANSWER_NO);
    bool lists = options_has(&front->options, OPTION_LIST);
    bool has_how = options_value(&front->options, OPTION_ANSWER_SCOPE) ||
                   options_value(&front->options, OPTION_ANSWER_SAVE);
    const char *sid = front_sid(front);

    if ((yes != NULL) + (no != NULL) + lists > 1)
        return refuse_together("--list, --yes and --no: only one of them at a time", err);
    if (has_how && !yes && !no)
        return refuse_together("--scope and --save: there is no answer", err);
    if (yes || no)
        return answer_one(front, yes ? yes : no, yes != NULL, err);
    if (lists)
        return list(front, sid, err);
    if (front->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return tell(front, sid, err);
    return approve_on_screen(front, sid, err);
}
