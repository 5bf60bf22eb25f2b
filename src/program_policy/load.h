/* SPDX-License-Identifier: Apache-2.0 */
/* The policy that the options of a command line select. */
#ifndef PROGRAM_POLICY_LOAD_H
#define PROGRAM_POLICY_LOAD_H

#include "program_policy/own.h"
#include "program_policy/verb.h"
#include "verbs/rows.h"

/* Collects what the options say. */
int load_collect(const struct options *options, struct bawn_load **ret_load,
                 struct bawn_error *err);

/* Loads the policy. Complaints go to output->notes, unless ret_report takes them. */
int load_policy(const struct options *options, struct output *output,
                struct bawn_policy **ret_policy, struct bawn_report **ret_report,
                struct bawn_error *err);

/*
 * The policy that a question is about: that of the sandbox that bawn runs in, if it does; else,
 * with
 * --nested, and with any option that selects a policy, that of one which would be started here.
 * output->notes says which, where there are two.
 */
int load_policy_asked(const struct options *options, struct output *output,
                      struct bawn_policy **ret_policy, struct bawn_error *err);

/* The same for a plan: patterns that hide files are looked up, and directories made on request. */
int load_policy_to_run(const struct options *options, struct output *output, bool makes,
                       struct bawn_policy **ret_policy, struct bawn_error *err);

/* Adds the complaints of the reports, of which some may be NULL, as one JSON array. */
void load_add_complaints(struct strbuf *out, const char *key,
                         const struct bawn_report *const *reports, size_t count);

/* Adds complaints that are no failure to output->notes, unless they are not wanted. */
void load_note(struct output *output, const struct bawn_report *report);

/*
 * A policy could not be read: puts every complaint where main finds it and
 * makes *err the sum of them. what names the policy. Returns result.
 */
int load_refuse(struct output *output, const struct bawn_report *report, const char *what,
                int result, struct bawn_error *err);

/* Whose policy a rule is saved in: words in the order of enum bawn_scope, ended by NULL; and the
 * scope of one of them. */
extern const char *const load_scopes[];
enum bawn_scope load_scope(const char *word);
#define LOAD_SCOPE_ROW(otherwise)                                                                  \
    {                                                                                              \
        .id = OPTION_SCOPE, .name = "scope", .value = "SCOPE", .words = load_scopes,               \
        .help = "Whose policy: user is bawn/policy.yaml in your configuration, project and local " \
                "are .bawn/policy.yaml and .bawn/local.yaml of the project, org is "               \
                "/etc/bawn/policy.yaml, which is root's. Default: " otherwise "."                  \
    }

/* Of the verbs that ask: which program would connect. */
#define BY_OPTION                                                                                  \
    {                                                                                              \
        .id = OPTION_BY, .name = "by", .value = "PROGRAM", .fill = FILL_FILES,                     \
        .help =                                                                                    \
            "Ask for this program, by its path or its name in PATH: rules with 'by' count for "    \
            "the program they name. Without it they count for nobody. Only with 'connect'."        \
    }
/* Of the verbs that ask: inside, about another sandbox. */
#define NESTED_OPTION                                                                              \
    {                                                                                              \
        .id = OPTION_NESTED, .name = "nested",                                                     \
        .help = "Inside a sandbox of bawn: ask about one that would be started in it, instead of " \
                "the sandbox itself. So does every option that selects a policy."                  \
    }
/* It was given with another word than connect. */
int by_refuse(const char *verb, struct bawn_error *err);

#endif
