/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that answer in a person's place, from a file:
 *
 *     default: deny
 *     rules:
 *       - {op: read, path: /srv/data, answer: allow, scope: dir}
 *       - {host: "*.example.org:443", program: /usr/bin/curl, answer: allow}
 *
 * The first that matches counts.
 */
#ifndef APPROVALS_RULES_H
#define APPROVALS_RULES_H

#include "base/report.h"

#include <bawn/approve.h>

enum rules_answer { RULES_ALLOW, RULES_DENY, RULES_ASK };

struct rules;

/* What is to be said to a question. */
struct rules_verdict {
    enum rules_answer answer;
    struct bawn_answer given; /* of what is not RULES_ASK */
    unsigned line;            /* of the rule; 0: no rule matched */
};

/* Pure but for memory. file is for complaints. NULL: the report says why, or memory is short. */
struct rules *rules_load(const char *file, const char *text, size_t length,
                         struct bawn_report *report);
void rules_free(struct rules *rules);
size_t rules_count(const struct rules *rules);

void rules_ask(const struct rules *rules, const struct bawn_notice *notice,
               struct rules_verdict *ret_verdict);

/* Whether a whole path matches a pattern: ** is any number of components. A path that is not
 * absolute, or has an empty component, "." or ".." in it, matches nothing. */
bool rules_match_path(const char *pattern, const char *path);

#endif
