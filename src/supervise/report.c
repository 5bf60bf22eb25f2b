/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/report.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "policy/message.h"
#include "supervise/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void forget(struct refusal *refusal)
{
    free(refusal->path);
    free(refusal->rule);
    *refusal = (struct refusal){0};
}

enum { TOLD_A_SECOND = 64 };

static bool may_tell(struct reports *reports)
{
    int64_t second = clock_ms() / 1000;

    if (second != reports->second)
        reports->told = 0;
    reports->second = second;
    return reports->told++ < TOLD_A_SECOND;
}

/* call: of the last one, or NULL. */
static void tell(struct reports *reports, struct refusal *refusal, const struct call *call)
{
    char name[CALLER_NAME_BYTES] = "";
    struct event event = {.what = EVENT_REFUSED,
                          .verdict = refusal->verdict,
                          .errnum = refusal->errnum,
                          .times = refusal->untold,
                          .lost = reports->lost,
                          .texts = {[EVENT_COMM] = name,
                                    [EVENT_CALL] = refusal->kind->name,
                                    [EVENT_PATH] = refusal->path,
                                    [EVENT_RULE] = refusal->rule}};

    if (call) {
        event.pid = (int32_t)call->notif->pid;
        (void)caller_name(call->caller, name);
    }
    refusal->untold = 0;
    reports->lost = 0;
    reports->report(reports->context, &event);
}

static struct refusal *find(struct reports *reports, const struct call *call, const char *path,
                            int errnum)
{
    for (unsigned i = 0; i < REPORT_REFUSALS; i++) {
        struct refusal *refusal = &reports->refusals[i];

        if (refusal->kind == call->kind && refusal->errnum == errnum &&
            strcmp(refusal->path, path) == 0)
            return refusal;
    }
    return NULL;
}

/* Which rule it was, in words. */
static void find_rule(const struct call *call, const char *path, struct refusal *refusal)
{
    autostrbuf struct strbuf rule = {0};
    struct path_decision decision;

    refusal->verdict = VERDICT_DENY;
    if (!call_explain(call, path, &decision))
        return;
    if (decision.access == ACCESS_ASK)
        refusal->verdict = VERDICT_ASK;
    message_label(&decision, &rule);
    refusal->rule = rule.failed ? NULL : take_ptr(&rule.text);
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
        !guard_is_host_tree(call->guard, path))
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
    for (unsigned i = 0; i < REPORT_REFUSALS; i++) {
        if (reports->refusals[i].untold)
            tell(reports, &reports->refusals[i], NULL);
        forget(&reports->refusals[i]);
    }
    for (unsigned i = 0; i < reports->gitfile_count && i < REPORT_GITFILES; i++)
        free(reports->gitfiles[i]);
}
