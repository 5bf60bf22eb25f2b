/* SPDX-License-Identifier: Apache-2.0 */
/* Rules answer, and each answer is written down. */
#include "approvals/own.h"
#include "approvals/rules.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const char *const answers[] = {
    [RULES_ALLOW] = "allow", [RULES_DENY] = "deny", [RULES_ASK] = "ask"};
static const char *const persists[] = {[BAWN_SCOPE_USER] = "user",
                                       [BAWN_SCOPE_PROJECT] = "project",
                                       [BAWN_SCOPE_LOCAL] = "local",
                                       [BAWN_SCOPE_ORG] = "org"};

static void put_time(char out[static 40])
{
    struct timespec now = clock_wall();
    struct tm parts;
    size_t used;

    (void)gmtime_r(&now.tv_sec, &parts);
    used = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(out + used, 40 - used, ".%03ldZ", now.tv_nsec / 1000000);
}

/* What an answer holds for, as the protocol says it; "": a question that is left to others. */
static const char *scope_word(const struct rules_verdict *verdict, const struct bawn_notice *notice)
{
    if (verdict->answer == RULES_ASK)
        return "";
    if (verdict->given.scope == BAWN_ANSWER_ONCE)
        return "once";
    if (tell_is_net(notice))
        return "host";
    /* A directory that may not be granted as a whole: the session takes it for the file alone. */
    return verdict->given.scope == BAWN_ANSWER_SESSION_TREE && *notice->grant_tree ? "dir" : "file";
}

static void write_text(struct strbuf *line, const struct approvals *approvals, const char *id,
                       const struct bawn_notice *notice, const struct rules_verdict *verdict)
{
    const char *scope = scope_word(verdict, notice);
    char time[40];

    put_time(time);
    strbuf_addf(line, "%s %s %s%s", time, id, approvals->request->is_dry ? "would " : "",
                answers[verdict->answer]);
    if (*scope)
        strbuf_addf(line, " %s", scope);
    if (verdict->given.flags & BAWN_ANSWER_SAVE)
        strbuf_addf(line, " and save in %s", persists[verdict->given.saved_in]);
    strbuf_addf(line, ": %s ", notice->op);
    strbuf_add_escaped(line, notice->path);
    if (*notice->exe) {
        strbuf_add(line, " by ");
        strbuf_add_escaped(line, notice->exe);
    }
    if (verdict->line)
        strbuf_addf(line, " (line %u)", verdict->line);
    else
        strbuf_add(line, " (default)");
    strbuf_add(line, "\n");
}

static void write_json(struct strbuf *line, const struct approvals *approvals, const char *id,
                       const struct bawn_notice *notice, const struct rules_verdict *verdict)
{
    const char *scope = scope_word(verdict, notice);
    char time[40];

    put_time(time);
    json_open(line, NULL, '{');
    json_put_string(line, "time", time);
    json_put_string(line, "event", "answer");
    json_put_string(line, "id", id);
    json_put_string(line, "answer", answers[verdict->answer]);
    json_put_bool(line, "dry_run", approvals->request->is_dry);
    if (*scope)
        json_put_string(line, "scope", scope);
    if (verdict->given.flags & BAWN_ANSWER_SAVE)
        json_put_string(line, "persist", persists[verdict->given.saved_in]);
    if (verdict->line)
        json_put_uint(line, "line", verdict->line);
    json_put_string(line, "op", notice->op);
    json_put_string(line, "path", notice->path);
    json_put_string(line, "rule", notice->rule);
    json_put_string(line, "exe", notice->exe);
    if (notice->pid > 0)
        json_put_uint(line, "pid", (uint64_t)notice->pid);
    json_close(line, '}');
    strbuf_add(line, "\n");
}

bool answer_by_rules(struct approvals *approvals, struct served *session, const char *id,
                     const struct bawn_notice *notice)
{
    autostrbuf struct strbuf line = {0};
    struct bawn_error error = {0};
    struct rules_verdict verdict;

    rules_ask(approvals->rules, notice, &verdict);
    (approvals->request->json ? write_json : write_text)(&line, approvals, id, notice, &verdict);
    /* Written first: what is answered can be found. */
    approvals_say(approvals, &line);
    if (approvals->failed < 0)
        return true;
    if (approvals->request->is_dry || verdict.answer == RULES_ASK)
        return false;
    if (bawn_approver_answer(session->approver, notice->id, &verdict.given, &error) < 0)
        approvals_complain(approvals, &error);
    return true;
}

/* SECURITY: whoever can write it can answer. */
static int check_owner(const char *path, const char *shown, struct bawn_error *err)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return error_errno(err, errno, "--rules: %s", shown);
    if ((status.st_uid == getuid() || status.st_uid == 0) && (status.st_mode & 022) == 0)
        return 0;
    (void)error_set(err, EPERM, "supervise.rules", "--rules: others than you can write %s", shown);
    error_hint(err, "chown it to yourself, and chmod go-w; keep it where no sandbox can write");
    return -EPERM;
}

int answer_load(struct approvals *approvals, struct bawn_error *err)
{
    const char *path = approvals->request->rules_path;
    autofree char *shown = text_escape_new(path, strlen(path), TEXT_ONE_LINE);
    autofree char *text = NULL;
    struct bawn_report *report = report_new();
    struct rules *rules;
    size_t length = 0;
    int result = shown && report ? check_owner(path, shown, err) : error_memory(err);

    if (result == 0)
        result = file_read(AT_FDCWD, path, LIMIT_CONFIG_BYTES, &text, &length, err);
    if (result == 0) {
        rules = rules_load(shown, text, length, report);
        if (rules) {
            rules_free(approvals->rules);
            approvals->rules = rules;
        } else {
            result = report_to_error(report, err);
        }
    }
    bawn_report_free(report);
    return result;
}

void answer_done(struct approvals *approvals)
{
    rules_free(approvals->rules);
    approvals->rules = NULL;
}
