/* SPDX-License-Identifier: Apache-2.0 */
/* A loaded policy printed, examined and put into other formats. */
#include "api/api.h"
#include "api/git_identity.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/export.h"
#include "policy/advise.h"
#include "policy/build.h"
#include "policy/explain.h"

#include <errno.h>
#include <stdio.h>

void bawn_policy_free(struct bawn_policy *policy)
{
    if (!policy)
        return;
    git_identity_free(policy->identity);
    policy_done(&policy->policy);
    environ_free(policy->environ);
    view_free(policy->view);
    free(policy->told);
    free(policy);
}

/* What the plan for this host says cannot be held. */
static int lint_host(const struct bawn_policy *policy, const struct bawn_host *host,
                     struct bawn_report *report, struct bawn_error *err)
{
    struct bawn_plan *plan = NULL;
    int r = bawn_plan_new(policy, host, &plan, err);

    if (r < 0)
        return r;
    vec_each (&plan->plan.rules, line) {
        if (line->by)
            continue;
        report_add(report, BAWN_WARNING, "policy.unenforceable", line->origin,
                   "%s cannot be enforced on this host", line->what);
        report_hint(report, "'bawn doctor' tells what is missing here");
    }
    bawn_plan_free(plan);
    return 0;
}

int bawn_policy_lint(const struct bawn_policy *policy, const struct bawn_host *host,
                     struct bawn_report **ret_report, struct bawn_error *err)
{
    struct bawn_report *report = report_new();
    int r = report && explain_lint(&policy->policy, report) == 0 ? 0 : error_memory(err);

    if (r == 0 && host)
        r = lint_host(policy, host, report, err);
    if (r < 0)
        bawn_report_free(report);
    else
        *ret_report = report;
    return r;
}

int bawn_policy_advise(const struct bawn_policy *policy, struct bawn_report **ret_report,
                       struct bawn_error *err)
{
    struct bawn_report *report = report_new();

    if (!report || advise_policy(&policy->policy, report) < 0) {
        bawn_report_free(report);
        return error_memory(err);
    }
    *ret_report = report;
    return 0;
}

int bawn_policy_show(const struct bawn_policy *policy, bool with_builtin, enum bawn_format format,
                     char **ret_text, struct bawn_error *err)
{
    struct strbuf out = {0};

    explain_policy(&policy->policy, with_builtin, format, &out);
    return strbuf_give(&out, ret_text, err);
}

static int export_text(const struct policy *policy, const char *format, bool with_builtin,
                       char **ret_text, struct bawn_report *report, struct bawn_error *err)
{
    struct strbuf out = {0};

    switch (config_format_find(format)) {
    case FORMAT_BAWN:
        export_bawn(policy, with_builtin, &out);
        break;
    case FORMAT_CLAUDE:
        export_claude(policy, report, &out);
        break;
    case FORMAT_SRT:
        export_srt(policy, report, &out);
        break;
    default:
        error_set(err, EINVAL, "config.format", "there is no export to '%s'", format);
        error_hint(err, "there are bawn, claude and srt");
        return -EINVAL;
    }
    return strbuf_give(&out, ret_text, err);
}

int bawn_policy_export(const struct bawn_policy *policy, const char *format, char **ret_text,
                       struct bawn_report **ret_report, struct bawn_error *err)
{
    struct bawn_report *report = report_new();
    int r;

    if (!report)
        return error_memory(err);
    r = export_text(&policy->policy, format, true, ret_text, report, err);
    if (r < 0 || !ret_report)
        bawn_report_free(report);
    else
        *ret_report = report;
    return r;
}

int bawn_policy_import(const char *path, const char *format, char **ret_text,
                       struct bawn_report **ret_report, struct bawn_error *err)
{
    struct bawn_load *load = NULL;
    struct bawn_policy *policy = NULL;
    int r = bawn_load_new(&load, err);

    if (ret_report)
        *ret_report = NULL;
    if (r < 0)
        return r;
    load->isolated = load->no_profile = load->no_lists = true;
    r = bawn_load_file(load, path, format, err);
    if (r == 0)
        r = bawn_policy_load(load, &policy, ret_report, err);
    if (r == 0)
        r = export_text(&policy->policy, "bawn", false, ret_text, NULL, err);
    bawn_policy_free(policy);
    bawn_load_free(load);
    return r;
}

bool bawn_policy_key(size_t index, struct bawn_key *ret_key)
{
    struct config_key key;

    if (!config_key(index, &key))
        return false;
    ret_key->key = key.key;
    ret_key->help = key.help;
    (void)snprintf(ret_key->takes, sizeof(ret_key->takes), "%s", key.takes);
    return true;
}
