/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of an image say of a path inside: the policy's own code, asked on the rules alone.
 */
#ifndef SUPERVISE_GUARD_H
#define SUPERVISE_GUARD_H

#include "policy/decide_near.h"
#include "wire/image.h"

struct guard {
    const struct image *image;
    struct policy policy;
    const char **compared;    /* the path of each rule, folded where names are compared so */
    struct decide_dirs *dirs; /* they come in bunches; owned */
};

enum guard_answer {
    GUARD_ALLOW,
    GUARD_ONLY_DIR,  /* a directory may be made and changed there, and nothing else */
    GUARD_UNGRANTED, /* no rule says no, but none grants it: the mounts decide */
    GUARD_REFUSE,
};

/* Reads the image's rules. guard_done also after a failure. */
int guard_init(struct guard *guard, const struct image *image, struct bawn_error *err);
void guard_done(struct guard *guard);

/* A path inside as the rules have it: they speak of the host. What is returned may be path. */
enum { GUARD_PATH_BYTES = 3 * LIMIT_PATH_BYTES }; /* the workspace's own path is one part of it */
const char *guard_outside(const struct guard *guard, const char *path,
                          char buffer[static GUARD_PATH_BYTES]);

/* path is absolute, normalized and resolved. What cannot be found out is refused. */
enum guard_answer guard_ask(const struct guard *guard, const char *path, enum path_op op);

/* Whether the rules ask somebody about it. */
bool guard_asks(const struct guard *guard, const char *path, enum path_op op,
                struct path_decision *ret_decision);

/* Whether the path lies where all is the sandbox's own, and nothing of the host is there. */
bool guard_is_private(const struct guard *guard, const char *path);

/* What is said against writing through the symbolic link at a path, with this still to be walked
 * behind it: see decide_through. *bar becomes stricter. */
void guard_judge_link(const struct guard *guard, const char *link, const char *rest,
                      struct path_decision *bar);

/* The decision that something about the path is refused by: that on reading, or that on writing,
 * which may be no refusal. no_dir: it was about no directory. */
void guard_explain(const struct guard *guard, const char *path, bool no_dir,
                   struct path_decision *ret_decision);

/* Whether a name on the way may be the short name (GIT~1) that some file systems give to a name
 * that a rule is about. Only names in the workspace count, if the path is there. */
bool guard_may_be_short(const struct guard *guard, const char *path);

/* Whether what is written there is at once the host's. */
bool guard_is_real(const struct guard *guard, const char *path);
/* Whether a path lies in a tree of the host, be it through an overlay, rather than in a place of
 * the sandbox's own. */
bool guard_is_host_tree(const struct guard *guard, const char *path);

/* Whether it lies in the home that is kept, which other sandboxes may have too. */
bool guard_is_kept(const struct guard *guard, const char *path);

/*
 * Whether a rule against writing is about something below this very name. Such
 * a name may be a directory, whose content is decided path by path, but no
 * link: below a link lies what some other path holds.
 */
bool guard_has_below(const struct guard *guard, const char *path);

/*
 * Whether a thing may be known by the other of two paths: the rules say the same
 * of both, and of all that may lie below, now or later. Only the names count,
 * for what is there can be changed meanwhile, by another sandbox too.
 */
bool guard_is_same_below(const struct guard *guard, const char *a, const char *b);

#endif
