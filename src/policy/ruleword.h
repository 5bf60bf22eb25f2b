/* SPDX-License-Identifier: Apache-2.0 */
/* Rules in words, "read PATH": the key of a policy that each stands for. */
#ifndef POLICY_RULEWORD_H
#define POLICY_RULEWORD_H

#include "policy/decide.h"
#include "policy/decide_net.h"

#include <bawn/save.h>

struct rule_word {
    const char *word;
    const char *key;  /* of the list, or sandbox.paths */
    const char *mode; /* of a path; NULL for entries of lists */
    bool widens;
    enum { TAKES_PATH, TAKES_PATTERN, TAKES_HOST, TAKES_PORT, TAKES_ENTRY } takes;
};

/* NULL where the kind is none. */
const struct rule_word *rule_word(enum bawn_rule_kind kind);

/* The rule that would allow what was refused. */
struct rule_advice {
    enum bawn_rule_kind kind;
    char text[LIMIT_PATH_BYTES];
    bool reopens; /* it is on a built-in list */
};

/* A refusal of a path: what was asked of it, and the decision. */
struct refused_path {
    enum path_op op;
    bool is_socket; /* the question was about connecting to it */
    const char *path;
    const struct path_decision *decision;
};

/*
 * NULL with the rule, or why there is none. SECURITY: it never grants the root, a home, what is
 * above one, or a directory that holds a secret. With directory it is for the directory that
 * the path is in, if that may be granted.
 */
const char *rule_for_path(const struct policy *policy, const struct refused_path *refused,
                          bool directory, struct rule_advice *ret_advice);
/* Why a path is not granted as a whole, or NULL. */
const char *rule_too_wide(const struct policy *policy, const char *path);
/* asked: the host as it was asked for. target: the same, or NULL where its port does not matter. */
const char *rule_for_host(const struct net_decision *decision, const char *asked,
                          const struct host *target, struct rule_advice *ret_advice);

/* Why a path is not granted as a whole, or NULL. */
const char *rule_too_wide(const struct policy *policy, const char *path);

/* "bawn policy save read '/x'": as a shell reads it. */
void rule_command(const struct rule_advice *advice, struct strbuf *out);

#endif
