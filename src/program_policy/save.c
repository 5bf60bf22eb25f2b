/* SPDX-License-Identifier: Apache-2.0 */
/* bawn policy save and forget: rules into a policy file, and out of it. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "program_policy/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* In the order of enum bawn_rule_kind, for completions and complaints. */
static const char *const words[] = {"read",    "write",  "deny",     "ask",       "protect",
                                    "confirm", "host",   "ask-host", "deny-host", "host-port",
                                    "socket",  "reopen", "preset",   NULL};
_Static_assert(sizeof(words) / sizeof(words[0]) == BAWN_RULE_KINDS + 1, "a word for each kind");

typedef int (*change_rules)(const struct bawn_load *load, enum bawn_scope scope,
                            const struct bawn_rule *rules, size_t count, unsigned flags,
                            struct bawn_saved **ret_saved, struct bawn_report **ret_report,
                            struct bawn_error *err);

struct rule_list {
    VEC(struct bawn_rule) all;
};

static void rules_done(struct rule_list *rules)
{
    vec_done(&rules->all);
}

/* WORD TEXT, again and again. */
static int read_rules(const struct options *options, const char *verb, struct rule_list *ret_rules,
                      struct bawn_error *err)
{
    for (size_t i = 0; i < options->words.count; i += 2) {
        const char *word = options->words.items[i];
        struct bawn_rule rule = {.kind = bawn_rule_kind(word)};

        if (rule.kind == BAWN_RULE_KINDS)
            return words_refuse(words, verb, word, err);
        if (i + 1 == options->words.count) {
            (void)error_set(err, EINVAL, "usage.missing_argument",
                            "%s: '%s' takes a path, a pattern or a host", verb, word);
            error_hint(err, "usage: bawn %s [OPTION]... WORD TEXT [WORD TEXT]...", verb);
            return -EINVAL;
        }
        rule.text = options->words.items[i + 1];
        if (!vec_push(&ret_rules->all, rule))
            return error_memory(err);
    }
    return 0;
}

static void print_json(struct output *output, const struct rule_list *rules,
                       const struct bawn_saved *saved, const char *scope, bool dry_run)
{
    struct strbuf *out = &output->text;
    size_t i = 0;

    json_open(out, NULL, '{');
    json_put_string(out, "scope", scope);
    json_put_string(out, "file", bawn_saved_file(saved));
    json_put_bool(out, "dry_run", dry_run);
    json_put_bool(out, "written", bawn_saved_is_written(saved));
    json_put_bool(out, "approved", bawn_saved_is_written(saved) && bawn_saved_is_approved(saved));
    json_open(out, "rules", '[');
    vec_each (&rules->all, rule) {
        json_open(out, NULL, '{');
        json_put_string(out, "word", bawn_rule_word(rule->kind));
        json_put_string(out, "text", rule->text);
        json_put_bool(out, "changed", *bawn_saved_lines(saved, i) != '\0');
        json_put_string(out, "lines", bawn_saved_lines(saved, i++));
        json_close(out, '}');
    }
    json_close(out, ']');
    json_put_string(out, "diff", bawn_saved_diff(saved));
    json_close(out, '}');
}

static int print_text(struct output *output, const struct rule_list *rules,
                      const struct bawn_saved *saved, const char *done, struct bawn_error *err)
{
    const char *diff = bawn_saved_diff(saved);
    autofree char *shown = text_escape_new(diff, strlen(diff), TEXT_LINES);
    size_t i = 0;

    if (!shown)
        return error_memory(err);
    /* A dry run: the change itself, as patch(1) reads it. */
    if (!done)
        strbuf_add(&output->text, shown);
    vec_each (&rules->all, rule) {
        bool changed = *bawn_saved_lines(saved, i++) != '\0';

        if (output->quiet || (!done && changed))
            continue;
        strbuf_add_escaped(done ? &output->text : &output->notes, bawn_saved_file(saved));
        strbuf_addf(done ? &output->text : &output->notes, ": %s%s ",
                    changed ? done : "there is already: ", bawn_rule_word(rule->kind));
        strbuf_add_escaped(done ? &output->text : &output->notes, rule->text);
        strbuf_add(done ? &output->text : &output->notes, "\n");
    }
    return 0;
}

static int run_change(const struct options *options, struct output *output, change_rules change,
                      const char *verb, const char *done, struct bawn_error *err)
{
    __attribute__((cleanup(rules_done))) struct rule_list rules = {0};
    autoload struct bawn_load *load = NULL;
    autoreport struct bawn_report *report = NULL;
    autosaved struct bawn_saved *saved = NULL;
    bool dry_run = options_has(options, OPTION_DRY_RUN);
    unsigned flags = (dry_run ? BAWN_SAVE_DRY_RUN : 0U) |
                     (options_has(options, OPTION_REOPEN) ? BAWN_SAVE_REOPEN : 0U);
    const char *scope = options_value(options, OPTION_SCOPE);
    int result = read_rules(options, verb, &rules, err);

    if (result == 0)
        result = load_collect(options, &load, err);
    if (result < 0)
        return result;
    scope = scope ? scope : load_scopes[BAWN_SCOPE_USER];
    result = change(load, load_scope(scope), rules.all.items, rules.all.count, flags, &saved,
                    &report, err);
    if (result < 0)
        return load_refuse(output, report, verb, result, err);
    if (output->json) {
        print_json(output, &rules, saved, scope, dry_run);
        return STATUS_OK;
    }
    load_note(output, report);
    result = print_text(output, &rules, saved, dry_run ? NULL : done, err);
    return result < 0 ? result : STATUS_OK;
}

static int run_save(const struct options *options, struct output *output, struct bawn_error *err)
{
    return run_change(options, output, bawn_policy_save, "policy save", "saved ", err);
}

static int run_forget(const struct options *options, struct output *output, struct bawn_error *err)
{
    return run_change(options, output, bawn_policy_forget, "policy forget", "took out ", err);
}

#define DRY_RUN_ROW                                                                                \
    {                                                                                              \
        .id = OPTION_DRY_RUN, .name = "dry-run",                                                   \
        .help = "Print what would change, as a unified diff, and write nothing."                   \
    }

static const struct option save_rows[] = {
    LOAD_SCOPE_ROW("user"),
    DRY_RUN_ROW,
    {.id = OPTION_REOPEN,
     .name = "reopen",
     .help = "The rules may open what is on the built-in lists of secrets and protected paths. "
             "Without it bawn refuses such a rule."},
};
static const struct option_group save_group = {"How", save_rows,
                                               sizeof(save_rows) / sizeof(save_rows[0])};
static const struct option forget_rows[] = {LOAD_SCOPE_ROW("user"), DRY_RUN_ROW};
static const struct option_group forget_group = {"How", forget_rows,
                                                 sizeof(forget_rows) / sizeof(forget_rows[0])};

const struct verb verb_policy_save = {
    .name = "policy save",
    .arguments = "WORD TEXT [WORD TEXT]...",
    .summary = "put rules into a policy file, so that the next run has them",
    .details =
        "A rule is a word and what it is about: read PATH and write PATH grant a path; deny, ask, "
        "protect and confirm take a PATTERN; host, ask-host and deny-host take NAME[:PORT] as "
        "--allow-host does; host-port PORT, socket PATH and reopen ENTRY are entries of "
        "sandbox.network.host_ports, sandbox.network.unix_sockets and sandbox.reopen; preset NAME "
        "is one "
        "of presets.\n"
        "Comments, order and the way the file is written stay. bawn writes all rules or none, and "
        "none that would have no effect: what your organisation denies stays denied.\n"
        "Saving in a project's file approves its new content if you had approved the old one, or "
        "if the file is new.",
    .words = words,
    .fill = FILL_FILES,
    .min_args = 2,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&save_group, &load_place, &verb_options, NULL},
    .run = run_save,
};

const struct verb verb_policy_forget = {
    .name = "policy forget",
    .arguments = "WORD TEXT [WORD TEXT]...",
    .summary = "take rules out of a policy file",
    .details = "Takes back what 'bawn policy save' wrote, or a rule that somebody else did. A rule "
               "that is not in the file is an error, and nothing changes.",
    .words = words,
    .fill = FILL_FILES,
    .min_args = 2,
    .max_args = ARGS_ANY,
    .groups = (const struct option_group *const[]){&forget_group, &load_place, &verb_options, NULL},
    .run = run_forget,
};
