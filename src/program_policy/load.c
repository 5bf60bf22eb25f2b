/* SPDX-License-Identifier: Apache-2.0 */
/* From the options that select a policy to the policy. */
#include "program_policy/load.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/report.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const load_scopes[] = {"user", "project", "local", "org", NULL};

enum bawn_scope load_scope(const char *word)
{
    unsigned scope = 0;

    while (load_scopes[scope] && strcmp(load_scopes[scope], word) != 0)
        scope++;
    return (enum bawn_scope)scope;
}

/* --set KEY=VALUE */
/* The value is the launcher's: what a policy says of a variable is kept with its plan. */
static int pass_variable(struct bawn_load *load, const char *pair, const char *origin,
                         struct bawn_error *err)
{
    autofree char *name = strndup(pair, strcspn(pair, "="));

    return name ? bawn_load_set(load, "sandbox.process.env.pass", name, origin, err)
                : error_memory(err);
}

static int set_pair(struct bawn_load *load, const char *pair, const char *origin,
                    struct bawn_error *err)
{
    const char *equals = strchr(pair, '=');
    autofree char *key = NULL;
    char shown[256];
    int result;

    if (!equals || equals == pair) {
        text_escape(shown, sizeof(shown), pair, strlen(pair), TEXT_ONE_LINE);
        result = error_set(err, EINVAL, "usage.bad_value", "--set: '%s' is not KEY=VALUE", shown);
        error_hint(err, "for example: --set sandbox.reads=strict");
        return result;
    }
    key = strndup(pair, (size_t)(equals - pair));
    if (!key)
        return error_memory(err);
    return bawn_load_set(load, key, equals + 1, origin, err);
}

static int apply(struct bawn_load *load, const struct option_given *given, struct bawn_error *err)
{
    const struct option *option = given->option;
    autofree char *origin = NULL;

    if (asprintf(&origin, "--%s%s%s", option->name, given->value ? " " : "",
                 given->value ? given->value : "") < 0) {
        origin = NULL;
        return error_memory(err);
    }
    switch (option->id) {
    case OPTION_POLICY:
        return bawn_load_file(load, given->value, NULL, err);
    case OPTION_PROFILE:
        return bawn_load_profile(load, given->value, err);
    case OPTION_OVERLAY_ALL:
        return bawn_load_profile(load, "overlay", err);
    case OPTION_PRESET:
        return bawn_load_preset(load, given->value, err);
    case OPTION_PATH:
        return bawn_load_path(load, option->name, given->value, origin, err);
    case OPTION_KEY:
        return bawn_load_set(load, option->key, given->value ? given->value : "true", origin, err);
    case OPTION_ENV:
        return pass_variable(load, given->value, origin, err);
    case OPTION_SET:
        return set_pair(load, given->value, origin, err);
    default:
        return 0;
    }
}

static int refuse_profiles(struct bawn_error *err)
{
    (void)error_set(err, EINVAL, "usage.bad_value",
                    "--overlay-all is a profile, and --profile names another one");
    error_hint(err,
               "leave one of the two out; --set sandbox.overlay_all=true makes overlays of what "
               "another profile and your policy grant for writing");
    return -EINVAL;
}

int load_collect(const struct options *options, struct bawn_load **ret_load, struct bawn_error *err)
{
    autoload struct bawn_load *load = NULL;
    const char *workspace = options_value(options, OPTION_WORKSPACE);
    int result = bawn_load_new(&load, err);

    if (result < 0)
        return result;
    bawn_load_isolated(load, options_has(options, OPTION_ISOLATED));
    bawn_load_claude(load, options_has(options, OPTION_CLAUDE));
    /* First, wherever it stood: relative paths start there. */
    if (workspace)
        result = bawn_load_workspace(load, workspace, err);
    vec_each (&options->given, given) {
        if (result == 0)
            result = apply(load, given, err);
    }
    if (result == 0 && options_has(options, OPTION_OVERLAY_ALL) &&
        options_has(options, OPTION_PROFILE))
        result = refuse_profiles(err);
    if (result < 0)
        return result;
    *ret_load = take_ptr(&load);
    return 0;
}

void load_add_complaints(struct strbuf *out, const char *key,
                         const struct bawn_report *const *reports, size_t count)
{
    const struct bawn_complaint *complaint;

    json_open(out, key, '[');
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; reports[i] && (complaint = bawn_report_get(reports[i], k)); k++)
            report_add_json(out, complaint);
    }
    json_close(out, ']');
}

static void add_report(struct output *output, const struct bawn_report *report)
{
    autofree char *text = bawn_report_print(report, BAWN_FORMAT_TEXT);

    if (text)
        strbuf_add(&output->notes, text);
    else
        output->notes.failed = true;
}

void load_note(struct output *output, const struct bawn_report *report)
{
    if (report && !output->quiet && bawn_report_count(report) > 0)
        add_report(output, report);
}

int load_refuse(struct output *output, const struct bawn_report *report, const char *what,
                int result, struct bawn_error *err)
{
    const struct bawn_complaint *complaint;
    char first[sizeof(err->code)] = "";
    size_t errors = 0;

    for (size_t i = 0; report && (complaint = bawn_report_get(report, i)); i++) {
        if (complaint->severity == BAWN_ERROR && errors++ == 0)
            (void)snprintf(first, sizeof(first), "%s", complaint->code);
    }
    /* Out of memory, an unreadable file: then *err tells it better than the report. */
    if (errors == 0) {
        load_note(output, report);
        return result;
    }
    if (output->json)
        load_add_complaints(&output->complaints, NULL, &report, 1);
    else
        add_report(output, report);
    (void)error_set(err, -result, first, "%s: not read, %zu error%s", what, errors,
                    errors == 1 ? "" : "s");
    return result;
}

static int load_with(const struct options *options, struct output *output, bool matches, bool makes,
                     struct bawn_policy **ret_policy, struct bawn_report **ret_report,
                     struct bawn_error *err)
{
    autoload struct bawn_load *load = NULL;
    autoreport struct bawn_report *report = NULL;
    int result = load_collect(options, &load, err);

    if (result < 0)
        return result;
    bawn_load_matches(load, matches);
    bawn_load_make(load, makes);
    bawn_load_at_once(load, makes);
    result = bawn_policy_load(load, ret_policy, &report, err);
    if (result < 0)
        return load_refuse(output, report, "policy", result, err);
    if (ret_report)
        *ret_report = take_ptr(&report);
    else
        load_note(output, report);
    return 0;
}

int load_policy(const struct options *options, struct output *output,
                struct bawn_policy **ret_policy, struct bawn_report **ret_report,
                struct bawn_error *err)
{
    return load_with(options, output, false, false, ret_policy, ret_report, err);
}

/* Whether an option selects a policy. */
static bool selects(const struct option *option)
{
    for (size_t i = 0; i < load_options.count; i++) {
        if (option == &load_options.rows[i])
            return true;
    }
    return false;
}

int load_policy_asked(const struct options *options, struct output *output,
                      struct bawn_policy **ret_policy, struct bawn_error *err)
{
    bool is_nested = options_has(options, OPTION_NESTED);

    vec_each (&options->given, given)
        is_nested = is_nested || selects(given->option);
    if (!bawn_is_inside())
        return load_policy(options, output, ret_policy, NULL, err);
    if (!output->quiet)
        strbuf_add(&output->notes,
                   is_nested ? "bawn: this is about a sandbox that would be started in this one\n"
                             : "bawn: this is about the sandbox that this command is in\n");
    return is_nested ? load_policy(options, output, ret_policy, NULL, err)
                     : bawn_policy_inside(ret_policy, err);
}

int load_policy_to_run(const struct options *options, struct output *output, bool makes,
                       struct bawn_policy **ret_policy, struct bawn_error *err)
{
    return load_with(options, output, true, makes, ret_policy, NULL, err);
}

int by_refuse(const char *verb, struct bawn_error *err)
{
    return error_set(err, EINVAL, "usage.unexpected_option",
                     "--by: only 'bawn %s connect' takes it", verb);
}
