/* SPDX-License-Identifier: Apache-2.0 */
/* bawn why: the whole story of one decision. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "program_policy/load.h"

#include <string.h>

/* In the order of enum bawn_operation. */
static const char *const words[] = {"read", "write", "exec", "connect", NULL};

/* There is no such program, or it is not shown. */
static int print_lost(struct output *output, const struct bawn_decision *decision)
{
    const char *text = bawn_decision_text(decision);
    autofree char *shown = text_escape_new(text, strlen(text), TEXT_LINES);

    if (output->json) {
        json_open(&output->text, NULL, '{');
        json_put_string(&output->text, "verdict", "deny");
        json_put_string(&output->text, "code", bawn_decision_code(decision));
        json_put_string(&output->text, "text", text);
        json_close(&output->text, '}');
    } else if (shown) {
        strbuf_addf(&output->text, "deny: %s\n", shown);
    }
    return STATUS_DENIED;
}

static int run_why(const struct options *options, struct output *output, struct bawn_error *err)
{
    const char *word = options->words.items[0];
    const char *what = options->words.items[1];
    autopolicy struct bawn_policy *policy = NULL;
    autodecision struct bawn_decision *decision = NULL;
    const char *by = options_value(options, OPTION_BY);
    autofree char *text = NULL;
    unsigned operation = 0;
    int verdict;
    int result;

    while (words[operation] && strcmp(words[operation], word) != 0)
        operation++;
    if (!words[operation])
        return words_refuse(words, "why", word, err);
    if (by && operation != BAWN_CONNECT)
        return by_refuse("why", err);
    result = load_policy_asked(options, output, &policy, err);
    if (result < 0)
        return result;
    verdict = by ? bawn_decide_by(policy, by, what, &decision, err)
                 : bawn_decide(policy, (enum bawn_operation)operation, what, &decision, err);
    if (verdict < 0)
        return verdict;
    /* A program by its name: the story is that of what it stands for, if that is shown at all. */
    if (operation == BAWN_EXEC && !strchr(what, '/')) {
        if (verdict == BAWN_DENY && !*bawn_decision_rule(decision))
            return print_lost(output, decision);
        what = bawn_decision_target(decision);
    }
    if (by && strncmp(what, "unix:", 5) != 0)
        result = bawn_explain_by(policy, by, what, output_format(output), &text, err);
    else
        result = bawn_explain(policy, (enum bawn_operation)operation, what, output_format(output),
                              &text, err);
    if (result < 0)
        return result;
    strbuf_add(&output->text, text);
    return verdict_status((enum bawn_verdict)verdict);
}

static const struct option rows[] = {BY_OPTION, NESTED_OPTION};
static const struct option_group group = {"What is asked", rows, sizeof(rows) / sizeof(rows[0])};

const struct verb verb_why = {
    .name = "why",
    .arguments = "OPERATION WHAT",
    .summary = "explain a decision: the rules that had a say, and what would change it",
    .details =
        "Says how bawn resolved the path or read the host, which rules had a say, which one "
        "won with its file and line, and what would change the answer.\n"
        "Inside a sandbox of bawn the question is about that very sandbox, as with 'bawn "
        "check', and the answer says what somebody can do outside. Whose rule it is is told, "
        "and not where it stands.\n"
        "OPERATION is read, write, exec or connect.\n"
        "The exit status is that of 'bawn check': 0 allowed, 1 denied, 2 asked about.",
    .words = words,
    .fill = FILL_FILES,
    .min_args = 2,
    .max_args = 2,
    .groups = (const struct option_group *const[]){&group, &load_options, &verb_options, NULL},
    .run = run_why,
};
