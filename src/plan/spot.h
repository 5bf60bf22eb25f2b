/* SPDX-License-Identifier: Apache-2.0 */
/* A literal path that rules are about: what is seen there, and who sees to it. */
#ifndef PLAN_SPOT_H
#define PLAN_SPOT_H

#include "base/path.h"
#include "plan/plan.h"

enum view {
    VIEW_HIDDEN,
    VIEW_ASK,   /* hidden: nobody can be asked */
    VIEW_ASKED, /* shown, but each open of it is asked about */
    VIEW_RO,
    VIEW_RW,
    VIEW_OVERLAY,
    VIEW_PRIVATE,
    VIEW_SEALED, /* in a private tree, and read-only */
    VIEW_COPY,   /* a file of the sandbox's own that begins as the host's */
};

struct spot {
    const struct path_rule *rule; /* the first rule with this path */
    size_t number;                /* in the order of the policy */
    enum view view;
    const struct path_rule *winner; /* of the decision for reads; NULL: a default */
    const struct path_rule *write_winner;
    bool write_asks;
    bool has_step;
};

static inline bool view_is_visible(enum view view)
{
    return view == VIEW_RO || view == VIEW_RW || view == VIEW_OVERLAY || view == VIEW_ASKED;
}

/* A fresh procfs is private, but the kernel fills it with the same names as the host's. */
static inline bool view_in_own_proc(const char *path, enum view around)
{
    return around == VIEW_PRIVATE && path_is_below(path, "/proc");
}

/* Whether the files of a tree belong to the command when it is another to the host than its caller;
 * and those at a path, as far as mounts are planned by now. */
bool plan_maps_owner(const struct plan *plan, const struct mount_step *step);
bool plan_shows_as_owned(const struct plan *plan, const char *path);

/* Each adds who holds a rule to the plan: 0 or -ENOMEM. */
int enforce_literal(struct plan *plan, const struct path_rule *rule, const struct spot *spot,
                    enum view around, enum look look);
int enforce_pattern(struct plan *plan, const struct path_rule *rule);
int enforce_only_dir(struct plan *plan, const struct path_rule *rule);

/* Who keeps apart what is written to a path, given what is there; 0: nobody, and note, which may be
 * NULL, says why. */
unsigned overlay_by(const struct plan *plan, enum look look, const char **note);

/* Whether the launcher has to watch for a hidden path, for it may appear or be replaced in a tree
 * that is shown. */
bool watch_is_needed(const struct plan *plan, const struct spot *spot, enum view around);
/* The same of a pattern, after all mounts are planned. */
bool watch_is_needed_for(struct plan *plan, const struct path_rule *rule);
/* Whether a pattern may hide what an earlier command left in the kept home: nobody looks for that.
 */
bool watch_cannot_know(struct plan *plan, const struct path_rule *rule);
/* Whether rules ask about reads, and opens can be held for that. */
bool watch_asks(const struct plan *plan);
/* Whether every open is held because of it (sandbox.late); and the same of a pattern. */
bool watch_is_held(const struct plan *plan, const struct spot *spot, enum view around);
bool watch_is_held_for(struct plan *plan, const struct path_rule *rule);
/* Each adds what is to be watched: 0 or -ENOMEM. */
int watch_literal(struct plan *plan, const struct spot *spot);
int watch_pattern(struct plan *plan, const struct path_rule *rule);
/* Whether it is among what only root makes, and bawn itself lists: its mode holds. */
bool watch_is_left_to_root(const struct plan *plan, const struct path_rule *rule, const char *path);

/* One line for all that allowing containers costs. */
int enforce_given_up(struct plan *plan);
/* One line for the trees whose sockets are to be out of reach. */
int enforce_shut(struct plan *plan);

#endif
