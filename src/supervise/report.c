/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/report.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "policy/explain.h"
#include "policy/ruleword.h"
#include "supervise/call.h"
#include "supervise/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void forget(struct refusal *refusal)
{
    free(refusal->path);
    free(refusal->rule);
    free(refusal->hint);
    *refusal = (struct refusal){0};
}

enum { TOLD_A_SECOND = 64, EXE_BYTES = 1024 };

static bool may_tell(struct reports *reports)
{
    int64_t second = clock_ms() / 1000;

    if (second != reports->second)
        reports->told = 0;
    reports->second = second;
    return reports->told++ < TOLD_A_SECOND;
}

void report_exe(struct caller *caller, char *exe, size_t size)
{
    int proc_fd = caller_proc(caller);
    ssize_t got = proc_fd < 0 ? -1 : readlinkat(proc_fd, "exe", exe, size - 1);

    exe[got > 0 ? got : 0] = '\0';
}

/* call: of the last one, or NULL. */
static void tell(struct reports *reports, struct refusal *refusal, const struct call *call)
{
    char name[CALLER_NAME_BYTES] = "";
    char argv[EVENT_ARGV_BYTES] = "";
    char exe[EXE_BYTES] = "";
    struct event event = {.what = EVENT_REFUSED,
                          .verdict = refusal->verdict,
                          .errnum = refusal->errnum,
                          .times = refusal->untold,
                          .lost = reports->lost,
                          .texts = {[EVENT_COMM] = name,
                                    [EVENT_EXE] = exe,
                                    [EVENT_ARGV] = argv,
                                    [EVENT_OP] = refusal->op,
                                    [EVENT_CALL] = refusal->kind->name,
                                    [EVENT_PATH] = refusal->path,
                                    [EVENT_RULE] = refusal->rule,
                                    [EVENT_HINT] = refusal->hint}};

    if (call) {
        event.pid = (int32_t)call->notif->pid;
        (void)caller_name(call->caller, name);
        event_read_argv(caller_proc(call->caller), argv);
        report_exe(call->caller, exe, sizeof(exe));
    }
    refusal->untold = 0;
    reports->lost = 0;
    if (reports->report)
        reports->report(reports->context, &event);
}

static struct refusal *find(struct reports *reports, const struct call *call, const char *path,
                            int errnum)
{
    for (unsigned i = 0; i < REPORT_REFUSALS; i++) {
        struct refusal *refusal = &reports->refusals[i];

        /* What is only looked at is looked at in several ways. */
        if ((refusal->kind == call->kind || call->is_told) && refusal->errnum == errnum &&
            refusal->path && strcmp(refusal->path, path) == 0)
            return refusal;
    }
    return NULL;
}

/* What the call was about. */
static const char *operation(const struct call *call)
{
    static const char *const others[] = {"connect", "bind", "listen", "ioctl", "ptrace"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(call->kind->name, others[i]) == 0)
            return strcmp(others[i], "ptrace") == 0 ? "trace" : others[i];
    }
    return "write";
}

/* What hides the host's own where the sandbox's is: an entry of the lists, or what makes it
 * private. */
static bool explain_covered(const struct call *call, const char *path, const char *outside,
                            struct path_decision *ret_decision)
{
    struct path_decision decisions[PATH_OP_COUNT];
    struct tree_answer answer;
    const struct path_rule *listed;

    if (!call->is_told || !guard_is_private(call->guard, path) ||
        pathtree_ask(&call->guard->policy.tree, outside, &answer) < 0)
        return false;
    listed = answer.best[CLASS_LISTED][PATH_READ].rule;
    decide_answer(&call->guard->policy, &answer, decisions);
    *ret_decision = decisions[PATH_READ];
    if (listed && listed->read == ACCESS_DENY)
        *ret_decision = (struct path_decision){
            .access = ACCESS_DENY, .rule = listed, .reason = DECIDED_BY_RULE};
    return true;
}

/* Whether a grant of the directory would allow what was refused below it: not where it may be
 * written already, where an entry of the lists names something below it, or where nobody grants so
 * much. */
static bool can_grant(const struct call *call, const char *dir, const char *path)
{
    const struct policy *policy = &call->guard->policy;
    enum guard_answer answer = guard_ask(call->guard, dir, PATH_WRITE);
    struct path_decision decision;
    char outside[GUARD_PATH_BYTES];
    const char *ruled = guard_outside(call->guard, dir, outside);

    guard_explain(call->guard, path, false, &decision);
    if (decision.rule &&
        (decision.rule->kind == RULE_SECRET || decision.rule->kind == RULE_PROTECTED))
        return answer == GUARD_REFUSE;
    return answer != GUARD_ALLOW && answer != GUARD_ONLY_DIR && !rule_too_wide(policy, ruled);
}

/* A grant is of what is there: the path, or the directory above it that is. False: that may be
 * written already, so the path itself has to be made outside first. */
static bool find_grant(const struct call *call, const char *path,
                       char grant[static LIMIT_PATH_BYTES])
{
    char *slash = grant;

    (void)snprintf(grant, LIMIT_PATH_BYTES, "%s", path);
    while (slash && !locate_is_there(&call->locator, grant)) {
        slash = strrchr(grant, '/');
        if (slash && slash != grant)
            *slash = '\0';
        else
            slash = NULL;
    }
    if (strcmp(grant, path) == 0 || (slash && can_grant(call, grant, path)))
        return true;
    (void)snprintf(grant, LIMIT_PATH_BYTES, "%s", path);
    return false;
}

/* Which rule it was, in words, and what would allow it. */
static void find_rule(const struct call *call, const char *path, struct refusal *refusal)
{
    autostrbuf struct strbuf rule = {0};
    autostrbuf struct strbuf hint = {0};
    autostrbuf struct strbuf remedy = {0};
    bool is_to_be_made = false;
    struct path_decision decisions[PATH_OP_COUNT];
    struct path_decision decision;
    char buffer[GUARD_PATH_BYTES];
    char outside[GUARD_PATH_BYTES];
    char grant[LIMIT_PATH_BYTES];
    struct path_story story = {.op = MESSAGE_WRITE, .asked = path, .decision = &decision};

    refusal->verdict = VERDICT_DENY;
    refusal->op = operation(call);
    story.resolved = guard_outside(call->guard, path, buffer);
    if (explain_covered(call, path, story.resolved, &decision))
        story.is_covered = decision.access < ACCESS_ASK;
    else if (!call_explain(call, path, &decision))
        return;
    if (decision.access == ACCESS_ASK)
        refusal->verdict = VERDICT_ASK;
    message_label(&decision, &rule);
    refusal->rule = rule.failed ? NULL : take_ptr(&rule.text);
    /* What is only looked at is there, outside. */
    if (!call->is_told && !call->is_reading) {
        is_to_be_made = !find_grant(call, path, grant);
        story.resolved = guard_outside(call->guard, grant, buffer);
    }
    story.is_socket = strcmp(refusal->op, "connect") == 0;
    /* What cannot be read is refused for that, whatever else was wanted. */
    if (call->is_told || call->is_reading ||
        (strcmp(refusal->op, "write") == 0 &&
         decide_path(&call->guard->policy, guard_outside(call->guard, path, outside), decisions) ==
             0 &&
         decisions[PATH_READ].access >= ACCESS_ASK)) {
        story.op = MESSAGE_READ;
        refusal->op = "read";
    }
    explain_path_remedy(&call->guard->policy, &story, &remedy);
    /* Only a grant is of what is there. */
    if (is_to_be_made && remedy.text && strncmp(remedy.text, "add --", 6) == 0)
        strbuf_add(&hint, "make it outside first, then ");
    strbuf_add(&hint, remedy.text ? remedy.text : "");
    hint.failed = hint.failed || remedy.failed;
    refusal->hint = hint.failed ? NULL : take_ptr(&hint.text);
}

/* The oldest is forgotten. */
static struct refusal *make_room(struct reports *reports)
{
    struct refusal *refusal = &reports->refusals[reports->next++ % REPORT_REFUSALS];

    if (refusal->untold && may_tell(reports))
        tell(reports, refusal, NULL);
    reports->lost += refusal->untold;
    forget(refusal);
    return refusal;
}

void report_refusal(const struct call *call, const char *path, int errnum)
{
    struct reports *reports = call->reports;
    struct refusal *refusal;

    if (!reports->report)
        return;
    reports->last = call->notif->id;
    refusal = find(reports, call, path, errnum);
    if (refusal) {
        refusal->untold++;
        return;
    }
    refusal = make_room(reports);
    refusal->path = strdup(path);
    if (!refusal->path)
        return;
    refusal->kind = call->kind;
    refusal->errnum = errnum;
    refusal->untold = 1;
    find_rule(call, path, refusal);
    if (may_tell(reports))
        tell(reports, refusal, call);
}

void report_read_only(const struct call *call)
{
    autofree char *whole = NULL;
    autofree char *path = NULL;
    char start[LIMIT_PATH_BYTES] = "";
    char name[32];
    ssize_t length = 0;
    autoclose int again = -EBADF;
    int dir = call->starts[0];

    if (!call->reports->report || call->reports->last == call->notif->id)
        return;
    /* Who made the call may have used the directory up. */
    if (call->paths[0][0] != '/' && dir < 0) {
        again = caller_open_dir(
            call->caller, call->kind->dirs[0] < 0 ? AT_FDCWD : call_int(call, call->kind->dirs[0]));
        dir = again;
    }
    if (call->paths[0][0] != '/' && dir >= 0) {
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", dir);
        length = readlink(name, start, sizeof(start) - 1);
    }
    start[length > 0 ? length : 0] = '\0';
    if (asprintf(&whole, "%s%s%s", start, call->paths[0][0] ? "/" : "", call->paths[0]) < 0) {
        whole = NULL;
        return;
    }
    path = path_normalize("/", whole);
    if (path)
        report_refusal(call, path, EROFS);
}

void report_limit(const struct call *call, int errnum)
{
    struct event event = {
        .what = EVENT_LIMIT,
        .pid = (int32_t)call->notif->pid,
        .errnum = errnum,
        .texts = {[EVENT_CALL] = call->kind->name, [EVENT_PATH] = call->paths[0]}};

    if (call->reports->report)
        call->reports->report(call->reports->context, &event);
}

/* Whether it is known; if there is room it is from now on. */
static bool is_known(struct reports *reports, const char *path)
{
    for (unsigned i = 0; i < reports->gitfile_count && i < REPORT_GITFILES; i++)
        if (reports->gitfiles[i] && strcmp(reports->gitfiles[i], path) == 0)
            return true;
    if (reports->gitfile_count > REPORT_GITFILES)
        return true;
    if (reports->gitfile_count < REPORT_GITFILES)
        reports->gitfiles[reports->gitfile_count] = strdup(path);
    reports->gitfile_count++;
    return false;
}

void report_write(const struct call *call, const char *path)
{
    struct reports *reports = call->reports;
    const char *name = strrchr(path, '/');
    struct event event = {.what = EVENT_GITFILE, .verdict = VERDICT_ALLOW};
    char buffer[GUARD_PATH_BYTES];
    const char *outside;

    if (!reports->report || !name || strcasecmp(name, "/.git") != 0 ||
        !guard_is_real(call->guard, path))
        return;
    outside = guard_outside(call->guard, path, buffer);
    if (is_known(reports, outside))
        return;
    /* One too many stands for all that come. */
    if (reports->gitfile_count <= REPORT_GITFILES && strlen(outside) < REPORT_PATH_BYTES)
        event.texts[EVENT_PATH] = outside;
    reports->report(reports->context, &event);
}

void reports_done(struct reports *reports)
{
    if (reports->report)
        observe_done(reports);
    for (unsigned i = 0; i < REPORT_REFUSALS; i++) {
        if (reports->refusals[i].untold)
            tell(reports, &reports->refusals[i], NULL);
        forget(&reports->refusals[i]);
    }
    for (unsigned i = 0; i < reports->gitfile_count && i < REPORT_GITFILES; i++)
        free(reports->gitfiles[i]);
}
