/* SPDX-License-Identifier: Apache-2.0 */
/* bawn policy: show, lint, import and export. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "program_policy/load.h"

#include <string.h>

static int run_show(const struct options *options, struct output *output, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autofree char *text = NULL;
    int result = load_policy(options, output, &policy, NULL, err);

    if (result == 0)
        result = bawn_policy_show(policy, options_has(options, OPTION_BUILTIN),
                                  output_format(output), &text, err);
    if (result < 0)
        return result;
    strbuf_add(&output->text, text);
    return STATUS_OK;
}

static size_t count_warnings(const struct bawn_report *const *reports, size_t count)
{
    const struct bawn_complaint *complaint;
    size_t warnings = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; (complaint = bawn_report_get(reports[i], k)); k++)
            warnings += complaint->severity != BAWN_NOTE;
    }
    return warnings;
}

static int lint_print(struct output *output, const struct bawn_report *const *reports, size_t count,
                      size_t warnings, struct bawn_error *err)
{
    struct strbuf *out = &output->text;

    if (output->json) {
        json_open(out, NULL, '{');
        json_put_uint(out, "warnings", warnings);
        load_add_complaints(out, "complaints", reports, count);
        json_close(out, '}');
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        autofree char *text = bawn_report_print(reports[i], BAWN_FORMAT_TEXT);

        if (!text)
            return error_memory(err);
        strbuf_add(out, text);
    }
    if (out->length == 0 && !output->quiet)
        strbuf_add(out, "Nothing to complain about.\n");
    return 0;
}

static int run_lint(const struct options *options, struct output *output, struct bawn_error *err)
{
    autopolicy struct bawn_policy *policy = NULL;
    autoreport struct bawn_report *loaded = NULL;
    autoreport struct bawn_report *linted = NULL;
    autohost struct bawn_host *host = NULL;
    const struct bawn_report *reports[2];
    size_t warnings;
    int result = load_policy(options, output, &policy, &loaded, err);

    if (result == 0)
        result = bawn_host_probe(&host, err);
    if (result == 0)
        result = bawn_policy_lint(policy, host, &linted, err);
    if (result < 0)
        return result;
    reports[0] = loaded;
    reports[1] = linted;
    warnings = count_warnings(reports, 2);
    result = lint_print(output, reports, 2, warnings, err);
    if (result < 0)
        return result;
    return warnings > 0 ? STATUS_FINDINGS : STATUS_OK;
}

/* A policy in a format: the text itself or, as JSON, the text with what was lost. */
static void print_converted(struct output *output, const char *format, const char *text,
                            const struct bawn_report *report)
{
    struct strbuf *out = &output->text;

    if (!output->json) {
        strbuf_add(out, text);
        load_note(output, report);
        return;
    }
    json_open(out, NULL, '{');
    json_put_string(out, "format", format);
    json_put_string(out, "text", text);
    load_add_complaints(out, "complaints", &report, 1);
    json_close(out, '}');
}

static int run_import(const struct options *options, struct output *output, struct bawn_error *err)
{
    const char *path = options->words.items[0];
    autoreport struct bawn_report *report = NULL;
    autofree char *text = NULL;
    char shown[512];
    int result =
        bawn_policy_import(path, options_value(options, OPTION_FORMAT), &text, &report, err);

    if (result < 0) {
        text_escape(shown, sizeof(shown), path, strlen(path), TEXT_ONE_LINE);
        return load_refuse(output, report, shown, result, err);
    }
    print_converted(output, "bawn", text, report);
    return STATUS_OK;
}

static int run_export(const struct options *options, struct output *output, struct bawn_error *err)
{
    const char *format = options_value(options, OPTION_FORMAT);
    autopolicy struct bawn_policy *policy = NULL;
    autoreport struct bawn_report *report = NULL;
    autofree char *text = NULL;
    int result = load_policy(options, output, &policy, NULL, err);

    if (!format)
        format = "bawn";
    if (result == 0)
        result = bawn_policy_export(policy, format, &text, &report, err);
    if (result < 0)
        return result;
    print_converted(output, format, text, report);
    return STATUS_OK;
}

static const char *const import_formats[] = {"bawn", "claude", "srt", "sandboxes", NULL};
static const char *const export_formats[] = {"bawn", "claude", "srt", NULL};

static const struct option show_rows[] = {
    {.id = OPTION_BUILTIN,
     .name = "builtin",
     .help = "Also list the built-in secret and protected paths."},
};
static const struct option_group show_group = {"What is shown", show_rows, 1};

static const struct option import_rows[] = {
    {.id = OPTION_FORMAT,
     .name = "format",
     .value = "FORMAT",
     .words = import_formats,
     .help = "The format of the file. Default: bawn tells it from the content."},
};
static const struct option_group import_group = {"What is read", import_rows, 1};

static const struct option export_rows[] = {
    {.id = OPTION_FORMAT,
     .name = "format",
     .value = "FORMAT",
     .words = export_formats,
     .help = "The format to print. Default: bawn."},
};
static const struct option_group export_group = {"What is printed", export_rows, 1};

static const struct verb verb_policy_show = {
    .name = "policy show",
    .arguments = "",
    .summary = "print the effective policy with the origin of every value",
    .details = "Prints the policy that all layers make together. Beside every value stands where "
               "it comes from: a file and line, an option or the built-in default.",
    .groups = (const struct option_group *const[]){&show_group, &load_options, &verb_options, NULL},
    .run = run_show,
};

static const struct verb verb_policy_lint = {
    .name = "policy lint",
    .arguments = "",
    .summary = "find rules without effect and rules that others hide",
    .details = "Prints everything there is to say about the policy, one complaint a line, with "
               "its place.\n"
               "The exit status is 1 when there are warnings, 125 when the policy is refused.",
    .groups = (const struct option_group *const[]){&load_options, &verb_options, NULL},
    .run = run_lint,
};

static const struct verb verb_policy_import = {
    .name = "policy import",
    .arguments = "FILE",
    .summary = "print a policy file of another tool as a bawn policy",
    .details = "Reads one file, alone, and prints it as bawn YAML. Says on standard error what it "
               "could not take over.",
    .fill = FILL_FILES,
    .min_args = 1,
    .max_args = 1,
    .groups = (const struct option_group *const[]){&import_group, &verb_options, NULL},
    .run = run_import,
};

static const struct verb verb_policy_export = {
    .name = "policy export",
    .arguments = "",
    .summary = "print the effective policy in a format",
    .details = "Prints the policy that all layers make together. Says on standard error what the "
               "format cannot express.",
    .groups =
        (const struct option_group *const[]){&export_group, &load_options, &verb_options, NULL},
    .run = run_export,
};

const struct verb verb_policy = {
    .name = "policy",
    .arguments = "VERB [OPTION]... [ARGUMENT]...",
    .summary = "show, check, convert, approve and change policies",
    .details = "Works on the policy itself: shows what the layers give together, finds mistakes, "
               "converts formats of other tools, and keeps rules.",
    .groups = (const struct option_group *const[]){&verb_options, NULL},
    .verbs = (const struct verb *const[]){&verb_policy_show, &verb_policy_lint, &verb_policy_import,
                                          &verb_policy_export, &verb_policy_approve,
                                          &verb_policy_save, &verb_policy_forget, NULL},
};
