/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/guard.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/scratch.h"
#include "policy/build.h"
#include "policy/fold.h"
#include "policy/reach.h"
#include "wire/rules.h"

#include <stdlib.h>
#include <string.h>

static const char *fold_path(struct arena *arena, const char *path)
{
    char *folded = arena_strdup(arena, path);

    if (folded)
        folded[fold_name(path, strlen(path), folded)] = '\0';
    return folded;
}

int guard_init(struct guard *guard, const struct image *image, struct bawn_error *err)
{
    struct policy *policy = &guard->policy;
    int r;

    *guard = (struct guard){.image = image};
    r = rules_unpack(image, policy, err);
    if (r == 0)
        r = rules_unpack_sockets(image, policy, err);
    if (r < 0)
        return r;
    guard->compared = arena_alloc(&policy->arena, policy->rules.count * sizeof(char *));
    for (size_t i = 0; guard->compared && i < policy->rules.count; i++) {
        const struct path_rule *rule = policy->rules.items[i];

        guard->compared[i] = rule->path;
        if (rule->kind == RULE_PROTECTED)
            guard->compared[i] = fold_path(&policy->arena, rule->path);
        if (!guard->compared[i])
            return error_memory(err);
    }
    guard->dirs = calloc(1, sizeof(*guard->dirs));
    return guard->compared && guard->dirs ? 0 : error_memory(err);
}

void guard_done(struct guard *guard)
{
    if (guard->dirs)
        decide_dirs_done(guard->dirs);
    free(guard->dirs);
    policy_done(&guard->policy);
}

const char *guard_outside(const struct guard *guard, const char *path,
                          char buffer[static GUARD_PATH_BYTES])
{
    return path_moved(path, image_string(guard->image, guard->image->workspace_at),
                      guard->policy.workspace, buffer, GUARD_PATH_BYTES);
}

static int decide(const struct guard *guard, const char *path,
                  struct path_decision ret_decisions[PATH_OP_COUNT])
{
    scratch char buffer[GUARD_PATH_BYTES];

    return decide_near(&guard->policy, guard->dirs, guard_outside(guard, path, buffer),
                       ret_decisions);
}

enum guard_answer guard_ask(const struct guard *guard, const char *path, enum path_op op)
{
    struct path_decision decisions[PATH_OP_COUNT];
    const struct path_decision *decision = &decisions[op];

    if (decide(guard, path, decisions) < 0)
        return GUARD_REFUSE;
    if (decision->access < ACCESS_ASK)
        return decision->only_dir ? GUARD_ONLY_DIR : GUARD_ALLOW;
    return decide_refuses(decision, op) ? GUARD_REFUSE : GUARD_UNGRANTED;
}

bool guard_asks(const struct guard *guard, const char *path, enum path_op op,
                struct path_decision *ret_decision)
{
    struct path_decision decisions[PATH_OP_COUNT];

    if (decide(guard, path, decisions) < 0)
        return false;
    *ret_decision = decisions[op];
    return ret_decision->access == ACCESS_ASK;
}

bool guard_is_private(const struct guard *guard, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    return decide(guard, path, decisions) == 0 && decisions[PATH_READ].access == ACCESS_PRIVATE;
}

void guard_judge_link(const struct guard *guard, const char *link, const char *rest,
                      struct path_decision *bar)
{
    scratch char buffer[GUARD_PATH_BYTES];

    if (decide_through(&guard->policy, guard_outside(guard, link, buffer), rest, bar) < 0)
        bar->access = ACCESS_DENY;
}

void guard_explain(const struct guard *guard, const char *path, bool no_dir,
                   struct path_decision *ret_decision)
{
    struct path_decision decisions[PATH_OP_COUNT];
    scratch char buffer[GUARD_PATH_BYTES];

    *ret_decision = (struct path_decision){.access = ACCESS_DENY, .reason = DECIDED_BY_DEFAULT};
    if (decide_path(&guard->policy, guard_outside(guard, path, buffer), decisions) < 0)
        return;
    if (no_dir)
        decide_no_dir(&decisions[PATH_WRITE]);
    *ret_decision = decisions[decisions[PATH_READ].access >= ACCESS_ASK ? PATH_READ : PATH_WRITE];
}

enum { SHORT_NAME = 8, SHORT_SUFFIX = 3 };

/* Eight bytes at most with a ~ and what tells it from others, and a suffix of three at most. */
static bool is_short(const char *name, size_t length)
{
    const char *dot = memchr(name, '.', length);
    size_t base = dot ? (size_t)(dot - name) : length;
    const char *mark = memchr(name, '~', base);

    return base <= SHORT_NAME && length - base <= SHORT_SUFFIX + 1 && mark && mark > name &&
           mark + 1 < name + base &&
           (!dot || !memchr(dot + 1, '.', (size_t)(name + length - dot - 1)));
}

bool guard_may_be_short(const struct guard *guard, const char *path)
{
    scratch char buffer[GUARD_PATH_BYTES];
    const char *rest = strchr(path, '~') ? guard_outside(guard, path, buffer) : "";
    const char *name;
    size_t length;

    if (path_is_below(rest, guard->policy.workspace))
        rest += strlen(guard->policy.workspace);
    while ((name = path_next(&rest, &length)))
        if (is_short(name, length))
            return true;
    return false;
}

/* Steps that put what is there in its place once more, held. */
static bool is_same_again(const struct image_mount *mount)
{
    return mount->step == STEP_SEAL || mount->step == STEP_SEAL_ALL || mount->step == STEP_SHUT;
}

/* What a path lies in; STEP_COUNT: the root itself. The last mount over a place is the one that is
 * seen. Steps are named for where they are made; what comes after the workspace was moved is not
 * about it. */
static enum image_step step_of(const struct guard *guard, const char *path)
{
    scratch char buffer[GUARD_PATH_BYTES];
    const char *there = guard_outside(guard, path, buffer);
    const char *target = there + strspn(there, "/");
    enum image_step step = STEP_COUNT;

    image_each (guard->image, PART_MOUNTS, struct image_mount, mount) {
        if (mount->step == STEP_AGAIN && there == buffer)
            break;
        if (!is_same_again(mount) && image_covers(guard->image, mount, target))
            step = mount->step;
    }
    return step;
}

bool guard_is_host_tree(const struct guard *guard, const char *path)
{
    enum image_step step = step_of(guard, path);

    return step == STEP_BIND || step == STEP_OVERLAY;
}

bool guard_is_real(const struct guard *guard, const char *path)
{
    return step_of(guard, path) == STEP_BIND;
}

bool guard_is_kept(const struct guard *guard, const char *path)
{
    return step_of(guard, path) == STEP_KEPT;
}

bool guard_has_below(const struct guard *guard, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];
    scratch char buffer[GUARD_PATH_BYTES];
    char folded[GUARD_PATH_BYTES];
    bool is_layered;

    if (decide(guard, path, decisions) < 0)
        return true;
    /* There the built-in list does not bind: it is asked about when the changes are taken. */
    is_layered = decisions[PATH_WRITE].access == ACCESS_OVERLAY;
    path = guard_outside(guard, path, buffer);
    folded[fold_name(path, strlen(path), folded)] = '\0';
    for (size_t i = 0; i < guard->policy.rules.count; i++) {
        const struct path_rule *rule = guard->policy.rules.items[i];

        if (rule->write >= ACCESS_ASK && !rule->read_only &&
            !(is_layered && rule->kind == RULE_PROTECTED) &&
            reach_is_below(rule, guard->compared[i], rule->kind == RULE_PROTECTED ? folded : path))
            return true;
    }
    return false;
}

/* Whether it is the command's own, to be read and written as it likes: what a rule is about there,
 * such as an entry of a list or a copy, makes no difference to it. */
static bool is_own(const struct path_decision decisions[PATH_OP_COUNT])
{
    const struct path_decision *read = &decisions[PATH_READ];
    const struct path_decision *write = &decisions[PATH_WRITE];

    return write->access == ACCESS_PRIVATE && !write->only_dir && write->rule == read->rule &&
           (read->access == ACCESS_PRIVATE || rule_is_copy(read->rule));
}

/* Whether grants let it be read and written, be it in an overlay. */
static bool is_granted(const struct path_decision decisions[PATH_OP_COUNT])
{
    return decisions[PATH_READ].access == ACCESS_ALLOW &&
           (decisions[PATH_WRITE].access == ACCESS_ALLOW ||
            decisions[PATH_WRITE].access == ACCESS_OVERLAY) &&
           !decisions[PATH_WRITE].only_dir;
}

/*
 * SECURITY: where the same rules are met below both names, but other ones have
 * matched the names themselves, it counts what came of those: an entry of the
 * built-in lists that the user re-opened, or that does not bind in a private home.
 * A rule that is met further down is a pattern, which only ever refuses, and more
 * specific than all that matched the names: it refuses below both.
 */
bool guard_is_same_below(const struct guard *guard, const char *a, const char *b)
{
    struct path_decision decisions[2][PATH_OP_COUNT];
    char buffers[2][GUARD_PATH_BYTES];
    struct tree_answer answers[2];
    enum tree_likeness likeness;

    if (pathtree_compare_below(&guard->policy.tree, guard_outside(guard, a, buffers[0]),
                               guard_outside(guard, b, buffers[1]), answers, &likeness) < 0)
        return false;
    if (likeness != TREE_SAME_BELOW)
        return likeness == TREE_SAME;
    for (int i = 0; i < 2; i++)
        decide_answer(&guard->policy, &answers[i], decisions[i]);
    return (is_own(decisions[0]) && is_own(decisions[1])) ||
           (is_granted(decisions[0]) && is_granted(decisions[1]));
}
