/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names the watcher outside has to watch while a command runs.
 *
 * How it works: a mount covers what is there at the start. When somebody outside
 * later makes a hidden name, or replaces what was covered, the tree around shows it
 * until the watcher has seen and masked it. Names that are made inside need no
 * watcher: the supervisor refuses to make them.
 */
#include "base/path.h"
#include "base/scratch.h"
#include "plan/spot.h"
#include "policy/build.h"
#include "policy/glob.h"

#include <errno.h>
#include <string.h>

/* Containers have mounts of their own, in which nobody outside can mask anything. */
static bool can_watch(const struct plan *plan)
{
    return plan_held_by(plan, GUARANTEE_LATE) &&
           !policy_number(plan->policy, SETTING_PROCESS_CONTAINERS);
}

/* Directories that root alone fills, and in which it gives what is secret a mode. */
static bool is_roots(const struct policy *policy, const char *path)
{
    static const char *const places[] = {"/boot", "/dev", "/etc", "/lib", "/proc",
                                         "/root", "/run", "/sys", "/usr", "/var"};

    if (policy_is_in_home(policy, path) || path_is_below(path, policy->workspace))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (path_is_below(path, places[i]))
            return true;
    }
    return false;
}

/* Root's command owns what root owns in trees that are shown as its own: there no mode counts. */
bool watch_is_left_to_root(const struct plan *plan, const struct path_rule *rule, const char *path)
{
    return rule && rule->layer && rule->layer->authority == AUTHORITY_BUILTIN &&
           is_roots(plan->policy, path) &&
           !(plan->facts->uid == 0 && plan_shows_as_owned(plan, path));
}

/* The tree that shows a path, as far as mounts are planned by now; NULL: none that can be watched.
 * KERNEL: what changes below an overlay is not told to who watches the overlay. */
static const struct mount_step *tree_of(const struct plan *plan, const char *path)
{
    const struct mount_step *tree = NULL;

    vec_each (&plan->mounts, step) {
        if (!path_is_below(path, step->target))
            continue;
        if (step->kind == MOUNT_BIND)
            tree = step;
        else if (step->kind == MOUNT_SHUT || strcmp(path, step->target) != 0)
            tree = NULL;
    }
    return tree;
}

/* Whether a hidden path may appear, or be replaced, in a tree of the host's. */
static bool may_appear(const struct plan *plan, const struct spot *spot, enum view around)
{
    return can_watch(plan) && view_is_visible(around) &&
           (spot->view == VIEW_HIDDEN || spot->view == VIEW_ASK) &&
           !watch_is_left_to_root(plan, spot->winner, spot->rule->path);
}

bool watch_is_needed(const struct plan *plan, const struct spot *spot, enum view around)
{
    return may_appear(plan, spot, around) && tree_of(plan, spot->rule->path);
}

bool watch_asks(const struct plan *plan)
{
    if (!plan_held_by(plan, GUARANTEE_ASK) || !can_watch(plan))
        return false;
    vec_each (&plan->policy->rules, rule) {
        if ((*rule)->read == ACCESS_ASK)
            return true;
    }
    return policy_number(plan->policy, SETTING_READS) == READS_DYNAMIC;
}

/* Whether opens are held instead, where that is needed. In an overlay nobody is told of what
 * appears: there they are held unless somebody says otherwise. */
static bool holds(const struct plan *plan, bool in_overlay)
{
    const struct policy *policy = plan->policy;

    return (policy_number(policy, SETTING_LATE) == LATE_HELD ||
            (in_overlay && !policy->settings[SETTING_LATE].is_set)) &&
           plan_notifies(plan) && can_watch(plan);
}

bool watch_is_held(const struct plan *plan, const struct spot *spot, enum view around)
{
    return holds(plan, around == VIEW_OVERLAY) && may_appear(plan, spot, around);
}

static int add(struct plan *plan, const char *path, const char *tree, bool is_deep)
{
    struct watch_step watch = {.path = path, .tree = tree, .is_deep = is_deep};

    vec_each (&plan->watches, other) {
        if (other->is_deep == is_deep && strcmp(other->path, path) == 0)
            return 0;
    }
    return path && vec_push(&plan->watches, watch) ? 0 : -ENOMEM;
}

int watch_literal(struct plan *plan, const struct spot *spot)
{
    return add(plan, spot->rule->path, tree_of(plan, spot->rule->path)->target, false);
}

/* A directory that all matches of a pattern are in. */
static const char *start_of(struct plan *plan, const char *pattern)
{
    char *start = arena_strdup(&plan->arena, "/");
    scratch char text[LIMIT_PATH_BYTES];
    enum glob_kind kind;
    size_t length;
    const char *name;

    while (start && (name = path_next(&pattern, &length)) && length < sizeof(text)) {
        size_t text_length;

        if (glob_classify(name, length, text, &text_length, &kind) || kind != GLOB_LITERAL)
            break;
        start = arena_printf(&plan->arena, "%s%s%s", start[1] ? start : "", "/", text);
    }
    return start;
}

/* What of a tree a pattern is about: the tree, a part of it, or NULL. */
static const char *part_of(const struct plan *plan, const struct mount_step *step,
                           const struct path_rule *rule, const char *start)
{
    const char *part = path_is_below(start, step->target)   ? start
                       : path_is_below(step->target, start) ? step->target
                                                            : NULL;

    if (step->kind != MOUNT_BIND || !part)
        return NULL;
    /* What the system is made of is root's alone. */
    if (step->read_only && step->rule &&
        (watch_is_left_to_root(plan, rule, part) ||
         watch_is_left_to_root(plan, step->rule, step->target)))
        return NULL;
    return tree_of(plan, part) == step ? part : NULL;
}

static bool hides(const struct path_rule *rule)
{
    return rule->read == ACCESS_DENY || rule->read == ACCESS_ASK;
}

/* Adds what a pattern needs, or only counts it. */
static int count_parts(struct plan *plan, const struct path_rule *rule, bool adds)
{
    const char *start = start_of(plan, rule->path);
    int count = 0;
    int r = start ? 0 : -ENOMEM;

    vec_each (&plan->mounts, step) {
        const char *part = r == 0 ? part_of(plan, step, rule, start) : NULL;

        count += part ? 1 : 0;
        if (part && adds)
            r = add(plan, part, step->target, true);
    }
    return r < 0 ? r : count;
}

bool watch_is_needed_for(struct plan *plan, const struct path_rule *rule)
{
    return can_watch(plan) && hides(rule) && !(plan->asks_reads && rule->read == ACCESS_ASK) &&
           rule->wild && count_parts(plan, rule, false) > 0;
}

int watch_pattern(struct plan *plan, const struct path_rule *rule)
{
    int r = count_parts(plan, rule, true);

    return r < 0 ? r : 0;
}

/* Whether a pattern is about a tree of that kind, in which nobody can be told of what appears. */
static bool meets(struct plan *plan, const struct path_rule *rule, enum mount_kind kind)
{
    const char *start = start_of(plan, rule->path);

    vec_each (&plan->mounts, step) {
        if (start && step->kind == kind &&
            (path_is_below(start, step->target) || path_is_below(step->target, start)) &&
            !watch_is_left_to_root(plan, rule, step->target))
            return true;
    }
    return !start;
}

bool watch_is_held_for(struct plan *plan, const struct path_rule *rule)
{
    if (!hides(rule) || !rule->wild)
        return false;
    return (holds(plan, true) && meets(plan, rule, MOUNT_OVERLAY)) ||
           (holds(plan, false) &&
            (count_parts(plan, rule, false) > 0 || meets(plan, rule, MOUNT_KEPT)));
}

bool watch_cannot_know(struct plan *plan, const struct path_rule *rule)
{
    const char *start = hides(rule) ? start_of(plan, rule->path) : NULL;
    const struct mount_step *nearest = NULL;

    if (!start)
        return false;
    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_KEPT && path_is_below(step->target, start))
            return true;
        if (path_is_below(start, step->target))
            nearest = step;
    }
    return nearest && nearest->kind == MOUNT_KEPT;
}
