/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds each path rule, given what it meets on this host. */
#include "base/path.h"
#include "plan/spot.h"
#include "policy/build.h"

#include <errno.h>
#include <string.h>

static const char *rule_words(struct plan *plan, const struct path_rule *rule)
{
    if (rule->kind == RULE_PATH && rule->name)
        return arena_join(&plan->arena, "paths.", rule->name, ": ", rule_mode(rule), " ",
                          rule->path, (char *)NULL);
    if (rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED)
        return arena_join(&plan->arena, rule->kind == RULE_SECRET ? "secret " : "protected ",
                          rule->spelled, (char *)NULL);
    return arena_join(&plan->arena, rule_mode(rule), " ", rule->path, (char *)NULL);
}

/* Whether a rule is about something that is not there to be mounted over: it has to be refused when
 * it is made, or covered when it appears. */
static bool is_late(const struct spot *spot, enum view around, enum look look)
{
    bool mountable = look == LOOK_DIRECTORY || look == LOOK_OTHER;

    if (spot->view == around)
        return false;
    if (around == VIEW_PRIVATE)
        return !view_in_own_proc(spot->rule->path, around) && spot->view != VIEW_PRIVATE &&
               spot->view != VIEW_COPY && !mountable;
    /* A mount on a symbolic link would cover what it leads to; the link itself could be replaced.
     */
    return view_is_visible(around) && !mountable && spot->view != VIEW_PRIVATE &&
           (spot->view == VIEW_HIDDEN || spot->view == VIEW_ASK || around != VIEW_RO);
}

/* KERNEL: each process has a directory of its own in /proc, and no mount can be on those to come;
 * where a part of /proc is covered, no container gets one of its own. */
static bool is_out_of_hand(const struct plan *plan, const char *path, const char **note)
{
    static const char *const own[] = {"self", "thread-self", "net", "mounts"};
    const char *name = path + strlen("/proc");
    size_t length;
    bool is_own;

    name = path_next(&name, &length);
    is_own = name && strspn(name, "0123456789*?[]") > 0;
    for (size_t i = 0; name && i < sizeof(own) / sizeof(own[0]); i++)
        is_own |= strlen(own[i]) == length && strncmp(own[i], name, length) == 0;
    if (is_own)
        *note = "each process has its own, and nothing can be mounted there";
    else if (name && policy_number(plan->policy, SETTING_PROCESS_CONTAINERS))
        *note = "containers need a /proc of which nothing is covered";
    return is_own || (name && policy_number(plan->policy, SETTING_PROCESS_CONTAINERS));
}

/* What happens to a missing path when somebody outside makes it. */
static const char *absent_note(const struct plan *plan, const struct spot *spot, enum view around)
{
    if (watch_is_held(plan, spot, around))
        return "does not exist now; if it is made outside, it cannot be opened";
    if (watch_is_needed(plan, spot, around))
        return "does not exist now; if it is made outside, it is masked a moment later";
    if ((spot->view != VIEW_HIDDEN && spot->view != VIEW_ASK) || !view_is_visible(around))
        return "does not exist now";
    return watch_is_left_to_root(plan, spot->winner, spot->rule->path)
               ? "does not exist now; if root makes it, its mode holds"
               : "does not exist now; if it is made outside, it can be read";
}

unsigned overlay_by(const struct plan *plan, enum look look, const char **note)
{
    const struct feature_fact *fact = &plan->facts->features[FEATURE_OVERLAY];
    const char *why = NULL;

    if (look == LOOK_LINK)
        why = "it is a link, and an overlay is of a directory: name what it leads to";
    else if (look != LOOK_DIRECTORY)
        why = "an overlay is of a directory: name that, or use mode copy or ro";
    else if (!fact->available)
        why = "no overlayfs here: use mode rw, or private for an empty directory";
    if (note && why)
        *note = why;
    return why ? 0 : plan_held_by(plan, GUARANTEE_OVERLAY);
}

/* Who holds a literal rule, given what it meets on this host. */
static unsigned literal_by(const struct plan *plan, const struct spot *spot, enum view around,
                           enum look look, const char **note)
{
    bool hides = spot->view == VIEW_HIDDEN || spot->view == VIEW_ASK;
    unsigned own = plan_held_by(plan, GUARANTEE_PRIVATE);
    unsigned absent = plan_held_by(plan, GUARANTEE_ABSENT);

    if (plan->backend == BACKEND_COUNT)
        return 0;
    if (look == LOOK_ABSENT)
        *note = absent_note(plan, spot, around);
    if (spot->write_asks && spot->view == VIEW_RW)
        return plan_held_by(plan, GUARANTEE_ASK);
    if (spot->view == VIEW_ASKED) {
        *note = "opening and running it is asked about; it is there to be seen";
        return plan_held_by(plan, GUARANTEE_ASK);
    }
    /* Refused by the same walls as a denial. */
    if (spot->view == VIEW_ASK)
        *note = "opens cannot be held here, so nobody is asked: it is refused";
    else if (spot->write_asks)
        *note = "nobody is asked here: it is refused";
    /* In an overlay a file is laid over with it. */
    if (spot->view == VIEW_OVERLAY && look != LOOK_ABSENT)
        return overlay_by(plan, around == VIEW_OVERLAY ? LOOK_DIRECTORY : look, note);
    if (spot->view == VIEW_COPY && look == LOOK_DIRECTORY) {
        *note = "a directory is not copied: use mode ro, rw or private";
        return 0;
    }
    if (view_in_own_proc(spot->rule->path, around) && is_out_of_hand(plan, spot->rule->path, note))
        return 0;
    /* A policy file that a private tree covers is not there to be changed. */
    if (around == VIEW_PRIVATE && spot->write_winner && spot->write_winner->kind == RULE_SEALED)
        return own;
    /* Where something is made in a private tree that may be written, nobody has to refuse it. */
    if (around == VIEW_PRIVATE && spot->view == VIEW_RW && !absent)
        return own;
    if (spot->view == VIEW_PRIVATE || spot->view == VIEW_SEALED || around == VIEW_PRIVATE)
        return own && is_late(spot, around, look) ? absent : own;
    if (is_late(spot, around, look))
        return absent;
    if (spot->view != around && view_is_visible(around))
        return plan_held_by(plan, GUARANTEE_INSIDE);
    /* Granted, or hidden by absence. */
    return plan_held_by(plan, hides ? GUARANTEE_READ : GUARANTEE_WRITE);
}

/* What later starts trust. */
static bool is_vital(const struct path_rule *rule)
{
    return rule->kind == RULE_SEALED && rule->layer->authority == AUTHORITY_ORG;
}

/* Counts a rule that allowing containers gives up: one of the profile, the lists or a preset. For a
 * rule that somebody wrote, run refuses instead. Each run tells what a preset protects in the trees
 * that it grants, because the preset names these. */
static bool is_given_up(struct plan *plan, const struct path_rule *rule, const char *what)
{
    if (!plan_held_by(plan, GUARANTEE_ID) || !plan_has(plan, FEATURE_NOTIFY) ||
        plan_notifies(plan) || rule->layer->id != LAYER_BUILTIN || is_vital(rule))
        return false;
    if (rule->layer->authority == AUTHORITY_BUILTIN || rule->kind == RULE_PATH)
        plan->given_up++;
    else if (plan->given_up_by_preset++ == 0)
        plan->first_given_up = what;
    return true;
}

int enforce_literal(struct plan *plan, const struct path_rule *rule, const struct spot *spot,
                    enum view around, enum look look)
{
    const char *what = rule_words(plan, rule);
    const char *note = NULL;
    unsigned by;

    if (!what)
        return -ENOMEM;
    if (rule->suffixes || rule->max_file_bytes) {
        int r = plan_enforce(plan, arena_printf(&plan->arena, "%s: suffixes and size", what),
                             rule->origin, BY_APPLICATION, "the tools check them, not the kernel");

        if (r < 0)
            return r;
    }
    by = literal_by(plan, spot, around, look, &note);
    if (by && watch_is_needed(plan, spot, around))
        by |= plan_held_by(plan, GUARANTEE_LATE);
    if (by && watch_is_held(plan, spot, around))
        by |= BY_SUPERVISOR;
    if (by == 0 && is_given_up(plan, rule, what))
        return 0;
    if (spot->winner != rule && spot->write_winner != rule) {
        /* What that one needs is said of it. */
        if (by == 0)
            return 0;
        note = "another rule decides here";
    }
    if (plan_enforce(plan, what, rule->origin, by, note) < 0)
        return -ENOMEM;
    plan->rules.items[plan->rules.count - 1].is_vital = is_vital(rule);
    return 0;
}

int enforce_pattern(struct plan *plan, const struct path_rule *rule)
{
    const char *what = rule_words(plan, rule);
    const char *note = NULL;
    unsigned by = plan_held_by(plan, GUARANTEE_PATTERN);
    bool is_held = watch_is_held_for(plan, rule);

    if (strncmp(rule->path, "/proc/", 6) == 0 && is_out_of_hand(plan, rule->path, &note))
        by = 0;
    /* Only what patterns hide is looked for: no mount holds one against writing. */
    if (!(by & BY_SUPERVISOR) && (!plan_has(plan, FEATURE_NOTIFY) || rule->read < ACCESS_ASK))
        by = 0;
    if (!is_held && watch_cannot_know(plan, rule)) {
        by = 0;
        note = "what an earlier command left in the kept home is not looked for: name paths "
               "there, not patterns, or use sandbox.home: private";
    }
    if (by == 0 && is_given_up(plan, rule, what))
        return 0;
    if ((by & BY_MOUNT) && watch_is_needed_for(plan, rule))
        by |= plan_held_by(plan, GUARANTEE_LATE);
    if (plan->asks_reads && rule->read == ACCESS_ASK) {
        by = plan_held_by(plan, GUARANTEE_ASK);
        note = "opening or running one is asked about, and making or changing one";
    } else if (by && is_held)
        note = "matches at the start are masked; making one is refused inside, and one that is "
               "made outside cannot be opened";
    else if (by & BY_WATCH)
        note = "matches at the start are masked; making one is refused inside, and one that is "
               "made outside is masked a moment later";
    else if (by & BY_MOUNT)
        note = by & BY_SUPERVISOR ? "matches at the start are masked; making one is refused inside"
                                  : "matches at the start are masked; with containers allowed, the "
                                    "command can make later ones";
    return what ? plan_enforce(plan, what, rule->origin, by, note) : -ENOMEM;
}

int enforce_only_dir(struct plan *plan, const struct path_rule *rule)
{
    const char *what = rule_words(plan, rule);
    unsigned by = plan_held_by(plan, GUARANTEE_ABSENT);

    if (by == 0 && is_given_up(plan, rule, what))
        return 0;
    return what ? plan_enforce(plan, what, rule->origin, by,
                               "the command can make only a directory there")
                : -ENOMEM;
}

int enforce_given_up(struct plan *plan)
{
    const struct setting *setting = &plan->policy->settings[SETTING_PROCESS_CONTAINERS];
    static const char note[] = "with containers allowed, the command can make and change them";
    int r = 0;

    if (plan->given_up > 0) {
        const char *what = arena_printf(
            &plan->arena, "%zu protected names that do not exist now or lie further down",
            plan->given_up);

        r = what ? plan_enforce(plan, what, setting->origin, 0, note) : -ENOMEM;
        if (r == 0)
            plan->rules.items[plan->rules.count - 1].is_accepted = true;
    }
    if (r == 0 && plan->given_up_by_preset > 0) {
        const char *what =
            arena_printf(&plan->arena, "%s%s, as containers are allowed", plan->first_given_up,
                         plan->given_up_by_preset > 1 ? " and what else presets protect" : "");

        r = what ? plan_enforce(plan, what, setting->origin, 0, NULL) : -ENOMEM;
        if (r == 0)
            plan->rules.items[plan->rules.count - 1].is_told = true;
    }
    return r;
}

int enforce_shut(struct plan *plan)
{
    const struct feature_fact *overlay = &plan->facts->features[FEATURE_OVERLAY];

    if (plan->shut == 0)
        return 0;
    return plan_enforce(
        plan, "sockets in the system's read-only trees cannot be connected to", (struct origin){0},
        overlay->available ? plan_held_by(plan, GUARANTEE_SERVICE) : 0,
        overlay->available ? NULL
                           : arena_printf(&plan->arena, "no overlayfs here (%s: %s)", overlay->step,
                                          strerror(overlay->errnum)));
}
