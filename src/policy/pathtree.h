/* SPDX-License-Identifier: Apache-2.0 */
/* All path rules in one tree of components, so that asking costs the same with ten rules or ten
 * thousand. */
#ifndef POLICY_PATHTREE_H
#define POLICY_PATHTREE_H

#include "base/arena.h"
#include "base/map.h"

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>

struct path_rule;

/*
 * How it works. A rule's path is a walk from the root of the tree, one edge per
 * component. An edge is a literal name, a "*SUFFIX", a general glob, or "**",
 * whose node stays active once it was reached. Edges of built-in protected
 * paths take upper case for lower: on a file system that does, .GIT is .git, and
 * nothing else is likely to be called so anywhere. Literal and suffix edges are
 * found by hash; general globs of one node are tried in turn. A question walks
 * down the tree with the set of nodes that match so far and collects, per
 * class of speaker and operation, the rule whose match is deepest: that is
 * the most specific one. Two matches at the same depth are a tie.
 *
 * Building is for one thread; asking is for any number of them.
 */
enum rule_class {
    CLASS_PROFILE,
    CLASS_PROJECT,
    CLASS_APPROVED,
    CLASS_USER,
    CLASS_ORG,
    CLASS_LISTED, /* built-in secrets and protected paths */
    CLASS_SEALED, /* policy files: nothing re-opens them, however specific */
    CLASS_COUNT,
};

enum path_op { PATH_READ, PATH_WRITE, PATH_OP_COUNT };

struct tree_match {
    const struct path_rule *rule; /* NULL: no rule of this class says anything of this operation */
    size_t depth;                 /* components that the rule matched */
};

struct tree_answer {
    struct tree_match best[CLASS_COUNT][PATH_OP_COUNT];
    struct tree_match only_dir; /* a rule that this very path be a directory, if it is made */
    bool is_skeleton;           /* a rule grants something below this very path */
};

struct tree_node;

struct pathtree {
    struct tree_node *root;
    struct map edges;
    size_t node_count;
    size_t star_count;
};

void pathtree_done(struct pathtree *tree);

/* Makes room for so many rules, each of them and its path with so many bytes of the arena's
 * besides. False when out of memory. */
bool pathtree_reserve(struct pathtree *tree, struct arena *arena, size_t rules, size_t rule_bytes);

/* Adds a rule under its path. The rule is borrowed; nodes live in the arena. -EINVAL with the
 * reason when the path is a pattern that cannot be read. */
int pathtree_add(struct pathtree *tree, struct arena *arena, const struct path_rule *rule,
                 struct bawn_error *err);

/* path is normalized. -ENOMEM is the only failure. */
int pathtree_ask(const struct pathtree *tree, const char *path, struct tree_answer *ret_answer);

/* A directory as the tree sees it, kept for questions about names in it. Zeroed at first. */
struct tree_dir {
    struct tree_answer answer;
    const struct tree_node **nodes; /* those that the path reached, then the ** nodes; owned */
    size_t reached, count;
    size_t depth;
};

/* path is normalized. -ENOMEM is the only failure. tree_dir_done also after it. */
int pathtree_enter(const struct pathtree *tree, const char *path, struct tree_dir *ret_dir);
void tree_dir_done(struct tree_dir *dir);
/* As pathtree_ask for the name in the directory. */
int pathtree_ask_in(const struct pathtree *tree, const struct tree_dir *dir, const char *text,
                    struct tree_answer *ret_answer);

/*
 * How far the rules can tell two paths apart, and what is below one from the
 * same below the other. Both are normalized; what is there is not looked at.
 * -ENOMEM is the only failure. ret_answers are those for the two.
 */
enum tree_likeness {
    TREE_DIFFERENT,  /* rules that are more specific may hold below one, and not below the other */
    TREE_SAME_BELOW, /* the same rules are met below both: the same nodes are active */
    TREE_SAME, /* they cannot: the same rules have matched as well, in the same order of depths */
};
int pathtree_compare_below(const struct pathtree *tree, const char *a, const char *b,
                           struct tree_answer ret_answers[2], enum tree_likeness *ret_likeness);

/* What is wrong with a pattern, or NULL. */
const char *pathtree_check(const char *pattern);

#endif
