/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a question about a path: which rule wins, and why. */
#ifndef POLICY_DECIDE_H
#define POLICY_DECIDE_H

#include "policy/model.h"

/*
 * How it works, for one path and one operation:
 *   1. Of the rules of profile, approved project, user and org the most
 *      specific wins; the profile loses a tie, else the stricter wins it. No
 *      rule: the default, which "reads" sets for reads; writes are denied.
 *   2. What a stronger speaker than the winner denies, or wants to be asked
 *      about, stands.
 *   3. A built-in entry stands unless the user or the org names that very
 *      path or one below it. A protected one binds neither in private trees
 *      nor above the workspace, a secret not in the private home.
 *   4. A project makes it stricter, never laxer.
 *   5. Policy files are not written, whatever any rule says.
 * What cannot be read cannot be written.
 */
enum decide_reason {
    DECIDED_BY_RULE,
    DECIDED_BY_DEFAULT,  /* no rule says anything */
    DECIDED_BY_SKELETON, /* a directory that only leads to what is granted below it */
    DECIDED_BY_READ,     /* a write that fails because the path cannot be read */
    DECIDED_BY_SOCKET,   /* the path is listed in sandbox.network.unix_sockets */
};

struct path_decision {
    enum access access; /* never ACCESS_UNSET */
    enum decide_reason reason;
    const struct path_rule *rule; /* NULL when no rule decided */
    const struct item *socket;    /* the entry, when one decided */
    /* Of a write that is allowed: the rule that only a directory may be made there, or NULL. */
    const struct path_rule *only_dir;
};

/* path is absolute, normalized and resolved. Fills one decision per operation. */
int decide_path(const struct policy *policy, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT]);

/* The same for a name in a directory that the policy's tree was entered to. */
int decide_in(const struct policy *policy, const struct tree_dir *dir, const char *name,
              struct path_decision ret_decisions[PATH_OP_COUNT]);

/* What becomes of a decision on writing something that is no directory. */
void decide_no_dir(struct path_decision *write);

/* Whether a rule says no or ask, rather than a grant being missing. */
bool decide_restricts(const struct path_decision *decision, enum path_op op);
/* The same of the decision on op as it came out, which may be that on reading. */
bool decide_refuses(const struct path_decision *decision, enum path_op op);

/*
 * SECURITY: what stands under a protected name is not written through it,
 * wherever a symbolic link on the way leads. link is the link's own path,
 * resolved but for itself, and rest what was to be walked behind it, as it was
 * spelled: where a rule is against writing that name, *write becomes
 * stricter. A rest whose ".." leads out again is not about what is behind
 * the link. Questions and the supervisor both ask here, at each link they meet.
 */
int decide_through(const struct policy *policy, const char *link, const char *rest,
                   struct path_decision *write);

/* The decisions from an answer of the tree that is at hand already. */
void decide_answer(const struct policy *policy, const struct tree_answer *answer,
                   struct path_decision ret_decisions[PATH_OP_COUNT]);

/* Connecting to a unix socket: where writing is allowed (the program could have made the socket,
 * and the kernel asks for write permission), or where an entry lists it. An entry makes up for a
 * grant that is missing; a rule that says no stands, and a built-in entry unless it is named. */
int decide_socket(const struct policy *policy, const char *path,
                  struct path_decision *ret_decision);

/* The rules whose suffixes and size limits hold for a path: one of each speaker at most, and all of
 * them count. */
int decide_limits(const struct policy *policy, const char *path,
                  const struct path_rule *ret_rules[CLASS_COUNT], size_t *ret_count);

#endif
