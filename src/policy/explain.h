/* SPDX-License-Identifier: Apache-2.0 */
/* The whole story of one answer, and of one policy: for people and for programs. */
#ifndef POLICY_EXPLAIN_H
#define POLICY_EXPLAIN_H

#include "policy/decide.h"
#include "policy/decide_net.h"
#include "policy/message.h"

/* A question about a path, with all that is known of it. */
struct path_story {
    enum message_op op;
    bool is_socket;  /* the question is about connecting to it */
    bool is_covered; /* the sandbox's own is there; the host's, at the same path, is meant */
    bool is_moved;   /* the workspace is there outside, and inside it is not */
    const char *asked;
    const char *resolved; /* as the rules have it; NULL when it could not be */
    const char *shown;    /* as who asks has it; NULL: the same */
    const struct path_decision *decision;
    const char *unresolved; /* why not */
    /* What an outer sandbox does about it, or that of the asker's, which then decides; or NULL. */
    const char *outer;
};

int explain_path(const struct policy *policy, const struct path_story *story,
                 enum bawn_format format, struct strbuf *out);
/* asker: which program asks; NULL: any. */
void explain_net(const struct policy *policy, const char *asked, const struct host *target,
                 const struct net_asker *asker, enum bawn_format format, struct strbuf *out);

/* "p.example:3128": the proxy outside that an allowed connection goes through; false: none. */
bool explain_net_proxy(const struct policy *policy, const struct net_decision *decision,
                       const struct host *target, struct strbuf *out);

/* What would change a decision on a path, in one sentence. story->resolved is the host's path. */
void explain_path_remedy(const struct policy *policy, const struct path_story *story,
                         struct strbuf *out);
/* What would make the decision another one. asked: the host as it was asked for. */
void explain_net_remedy(const struct policy *policy, const struct net_decision *decision,
                        const char *asked, struct strbuf *out);

/* "FILE:LINE:COLUMN", or the layer's name when there is no file. */
void explain_origin(const struct layer *layer, struct origin origin, struct strbuf *out);

/* The effective policy, every value with its origin. */
void explain_policy(const struct policy *policy, bool with_builtin, enum bawn_format format,
                    struct strbuf *out);

/* Grants that a project gives in vain. */
int explain_lost(const struct policy *policy, struct bawn_report *report);
/* Other rules that never decide anything. */
int explain_lint(const struct policy *policy, struct bawn_report *report);

#endif
