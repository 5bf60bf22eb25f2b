/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of bawn learn: the command that is observed, and what is shown of it. */
#ifndef PROGRAM_POLICY_LEARN_H
#define PROGRAM_POLICY_LEARN_H

#include "base/vec.h"
#include "program_policy/load.h"

/* Runs 'bawn run' with these options and this command, observed, and takes in what it tells.
 * Returns its exit status. Where the command was not started, learned says so. */
int learn_watch(const struct options *options, struct bawn_learned *learned,
                struct bawn_error *err);

/* What is proposed by now: the rules that were learned, or what an editor made of them. */
struct proposal {
    VEC(struct bawn_rule) rules;               /* texts are owned */
    VEC(const struct bawn_evidence *) reasons; /* for each; NULL: somebody wrote it */
};
void proposal_done(struct proposal *proposal);
int proposal_add(struct proposal *proposal, enum bawn_rule_kind kind, const char *text,
                 const struct bawn_evidence *reason);

/* "12 times, 5 paths, by python3, first /x": on one line, safe to show. */
void learn_add_reason(struct strbuf *out, const struct bawn_rule *rule,
                      const struct bawn_evidence *reason);

/* The diff with the reason behind each line that a rule stands on; a comment, so that it is still a
 * diff of a policy. Rules whose line is not theirs alone are listed below. */
void learn_add_diff(struct strbuf *out, const struct proposal *proposal,
                    const struct bawn_saved *saved);
/* What stays refused. */
void learn_add_refused(struct strbuf *out, const struct bawn_learned *learned);

/* Lets the user's editor change the rules. 1: it did; 0: it left nothing; an error has to be shown.
 */
int learn_edit(struct proposal *proposal, struct bawn_error *err);

#endif
