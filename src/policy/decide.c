/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/decide.h"

#include "base/limits.h"
#include "base/path.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

static enum access rule_access(const struct path_rule *rule, enum path_op op)
{
    return op == PATH_READ ? rule->read : rule->write;
}

/* Whether a rule says no, or ask: a read-only grant merely does not say yes to writing. */
static bool rule_restricts(const struct path_rule *rule, enum path_op op)
{
    return rule_access(rule, op) >= ACCESS_ASK && !(op == PATH_WRITE && rule->read_only);
}

/* Step 1. Returns the class of the winner; CLASS_PROFILE with no rule for the default. */
static enum rule_class pick_winner(const struct tree_answer *answer, enum path_op op,
                                   struct tree_match *ret_winner)
{
    static const enum rule_class order[] = {CLASS_PROFILE, CLASS_APPROVED, CLASS_USER, CLASS_ORG};
    enum rule_class winner = CLASS_PROFILE;

    *ret_winner = (struct tree_match){0};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        const struct tree_match *match = &answer->best[order[i]][op];
        bool wins;

        if (!match->rule)
            continue;
        if (!ret_winner->rule || match->depth != ret_winner->depth)
            wins = !ret_winner->rule || match->depth > ret_winner->depth;
        else
            wins = winner == CLASS_PROFILE ||
                   rule_access(match->rule, op) >= rule_access(ret_winner->rule, op);
        if (wins) {
            *ret_winner = *match;
            winner = order[i];
        }
    }
    return winner;
}

static void tighten(struct path_decision *decision, const struct path_rule *rule, enum path_op op)
{
    if (rule_access(rule, op) <= decision->access)
        return;
    decision->access = rule_access(rule, op);
    decision->rule = rule;
    decision->reason = DECIDED_BY_RULE;
}

/* Whether a rule names what a built-in entry is about. One that only got there through a link does
 * so where the entry got there through the same link: naming ~/notes is not naming ~/.ssh, whatever
 * ~/notes leads to. */
static bool names_entry(const struct path_rule *rule, const struct path_rule *listed)
{
    if (rule->wild)
        return false;
    return !rule->link || (listed->link && path_is_below(rule->link, listed->link));
}

/* Where a built-in entry makes no sense: a private tree has nothing of the host in it, and a
 * workspace that itself lies below a protected name (a worktree in .claude) was chosen by the user.
 * Secrets bind in private trees other than the home: services have theirs in /run and /proc.
 * In an overlay nothing of the host's changes: what is protected is asked about when somebody takes
 * the changes. */
static bool is_own_ground(const struct policy *policy, const struct tree_answer *answer,
                          const struct tree_match *listed, enum path_op op)
{
    const struct tree_match *profile = &answer->best[CLASS_PROFILE][op];
    bool is_secret = listed->rule->kind == RULE_SECRET;
    struct tree_match winner;

    (void)pick_winner(answer, op, &winner);
    if (winner.rule && rule_access(winner.rule, op) == ACCESS_PRIVATE)
        return !is_secret || policy_is_in_home(policy, winner.rule->path);
    if (winner.rule && op == PATH_WRITE && rule_access(winner.rule, op) == ACCESS_OVERLAY)
        return !is_secret;
    return !is_secret && profile->rule && profile->depth >= listed->depth &&
           strcmp(profile->rule->path, policy->workspace) == 0;
}

/* Step 3: whether the user or the org names the path of a built-in entry, or one below it. */
static bool is_reopened(const struct policy *policy, const struct tree_answer *answer,
                        const struct tree_match *listed, enum path_op op)
{
    if (is_own_ground(policy, answer, listed, op))
        return true;
    for (enum rule_class class = CLASS_USER; class <= CLASS_ORG; class ++) {
        const struct tree_match *match = &answer->best[class][op];

        if (match->rule && match->depth >= listed->depth && names_entry(match->rule, listed->rule))
            return true;
    }
    return false;
}

static void decide_default(const struct policy *policy, const struct tree_answer *answer,
                           enum path_op op, struct path_decision *ret_decision)
{
    static const enum access reads[] = {
        [READS_STRICT] = ACCESS_DENY, [READS_DYNAMIC] = ACCESS_ASK, [READS_STATIC] = ACCESS_ALLOW};

    *ret_decision = (struct path_decision){.access = ACCESS_DENY, .reason = DECIDED_BY_DEFAULT};
    if (op != PATH_READ)
        return;
    ret_decision->access = reads[policy_number(policy, SETTING_READS)];
    if (ret_decision->access != ACCESS_ALLOW && answer->is_skeleton) {
        ret_decision->access = ACCESS_ALLOW;
        ret_decision->reason = DECIDED_BY_SKELETON;
    }
}

static void decide_op(const struct policy *policy, const struct tree_answer *answer,
                      enum path_op op, struct path_decision *ret_decision)
{
    const struct path_rule *project = answer->best[CLASS_PROJECT][op].rule;
    const struct path_rule *listed = answer->best[CLASS_LISTED][op].rule;
    const struct path_rule *sealed = answer->best[CLASS_SEALED][op].rule;
    struct tree_match winner;
    enum rule_class class = pick_winner(answer, op, &winner);

    if (winner.rule)
        *ret_decision = (struct path_decision){
            .access = rule_access(winner.rule, op), .rule = winner.rule, .reason = DECIDED_BY_RULE};
    else
        decide_default(policy, answer, op, ret_decision);
    for (enum rule_class above = CLASS_USER; above <= CLASS_ORG; above++) {
        const struct path_rule *rule = answer->best[above][op].rule;

        /* "overlay" and "private" are no refusals, but whoever is weaker cannot undo them either.
         */
        if (above > class && rule && !(op == PATH_WRITE && rule->read_only))
            tighten(ret_decision, rule, op);
    }
    if (listed && !is_reopened(policy, answer, &answer->best[CLASS_LISTED][op], op)) {
        tighten(ret_decision, listed, op);
        /* Where only a grant is lacking the entry is named: a plain grant would not help. */
        if (rule_access(listed, op) == ret_decision->access &&
            (!ret_decision->rule || !rule_restricts(ret_decision->rule, op)))
            *ret_decision = (struct path_decision){
                .access = ret_decision->access, .rule = listed, .reason = DECIDED_BY_RULE};
    }
    if (project)
        tighten(ret_decision, project, op);
    if (sealed)
        *ret_decision = (struct path_decision){
            .access = rule_access(sealed, op), .rule = sealed, .reason = DECIDED_BY_RULE};
}

void decide_answer(const struct policy *policy, const struct tree_answer *answer,
                   struct path_decision ret_decisions[PATH_OP_COUNT])
{
    struct path_decision *read = &ret_decisions[PATH_READ];
    struct path_decision *write = &ret_decisions[PATH_WRITE];

    decide_op(policy, answer, PATH_READ, read);
    decide_op(policy, answer, PATH_WRITE, write);
    if (read->access >= ACCESS_ASK && read->access > write->access) {
        *write = *read;
        write->reason = DECIDED_BY_READ;
    }
    if (answer->only_dir.rule && write->access < ACCESS_ASK &&
        !is_reopened(policy, answer, &answer->only_dir, PATH_WRITE))
        write->only_dir = answer->only_dir.rule;
}

void decide_no_dir(struct path_decision *write)
{
    if (write->only_dir)
        *write = (struct path_decision){
            .access = ACCESS_DENY, .rule = write->only_dir, .reason = DECIDED_BY_RULE};
}

bool decide_restricts(const struct path_decision *decision, enum path_op op)
{
    return decision->rule && (decision->rule->only_dir || rule_restricts(decision->rule, op));
}

int decide_path(const struct policy *policy, const char *path,
                struct path_decision ret_decisions[PATH_OP_COUNT])
{
    struct tree_answer answer;
    int r = pathtree_ask(&policy->tree, path, &answer);

    if (r == 0)
        decide_answer(policy, &answer, ret_decisions);
    return r;
}

int decide_in(const struct policy *policy, const struct tree_dir *dir, const char *name,
              struct path_decision ret_decisions[PATH_OP_COUNT])
{
    struct tree_answer answer;
    int r = pathtree_ask_in(&policy->tree, dir, name, &answer);

    if (r == 0)
        decide_answer(policy, &answer, ret_decisions);
    return r;
}

bool decide_refuses(const struct path_decision *decision, enum path_op op)
{
    return decision->access >= ACCESS_ASK &&
           decide_restricts(decision, decision->reason == DECIDED_BY_READ ? PATH_READ : op);
}

int decide_through(const struct policy *policy, const char *link, const char *rest,
                   struct path_decision *write)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char path[8 * LIMIT_PATH_BYTES];
    size_t start = strlen(link);
    size_t end = start;
    const char *name;
    size_t length;
    int r;

    if (start >= sizeof(path))
        return -ENAMETOOLONG;
    memcpy(path, link, start);
    while ((name = path_next(&rest, &length))) {
        if (length == 2 && memcmp(name, "..", 2) == 0) {
            if (end == start)
                return 0;
            while (path[--end] != '/')
                ;
            continue;
        }
        if (end + 1 + length >= sizeof(path))
            return -ENAMETOOLONG;
        path[end++] = '/';
        memcpy(path + end, name, length);
        end += length;
    }
    path[end] = '\0';
    r = decide_path(policy, path, decisions);
    /* With nothing behind it the link itself stands at the name. */
    if (r == 0 && end == start)
        decide_no_dir(&decisions[PATH_WRITE]);
    if (r == 0 && decide_refuses(&decisions[PATH_WRITE], PATH_WRITE) &&
        decisions[PATH_WRITE].access > write->access)
        *write = decisions[PATH_WRITE];
    return r;
}

int decide_limits(const struct policy *policy, const char *path,
                  const struct path_rule *ret_rules[CLASS_COUNT], size_t *ret_count)
{
    struct tree_answer answer;
    int r = pathtree_ask(&policy->tree, path, &answer);

    *ret_count = 0;
    for (unsigned class = 0; r == 0 && class < CLASS_COUNT; class ++) {
        const struct path_rule *rule = answer.best[class][PATH_READ].rule;

        if (rule && (rule->suffixes || rule->max_file_bytes))
            ret_rules[(*ret_count)++] = rule;
    }
    return r;
}

static const struct item *find_socket(const struct policy *policy, const char *path)
{
    vec_each (&policy->items, item) {
        if (item->list == LIST_NETWORK_UNIX_SOCKETS && path_is_below(path, item->value))
            return item;
    }
    return NULL;
}

int decide_socket(const struct policy *policy, const char *path, struct path_decision *ret_decision)
{
    const struct item *item = find_socket(policy, path);
    struct path_decision decisions[PATH_OP_COUNT];
    const struct tree_match *listed;
    struct tree_answer answer;
    int r = pathtree_ask(&policy->tree, path, &answer);

    if (r < 0)
        return r;
    listed = &answer.best[CLASS_LISTED][PATH_WRITE];
    decide_answer(policy, &answer, decisions);
    *ret_decision = decisions[PATH_WRITE];
    if (!item || ret_decision->access < ACCESS_ASK)
        return 0;
    if (decide_restricts(ret_decision, PATH_WRITE) &&
        (ret_decision->rule != listed->rule || item->layer->authority < AUTHORITY_USER ||
         path_depth(item->value) < listed->depth))
        return 0;
    *ret_decision =
        (struct path_decision){.access = ACCESS_ALLOW, .reason = DECIDED_BY_SOCKET, .socket = item};
    return 0;
}
