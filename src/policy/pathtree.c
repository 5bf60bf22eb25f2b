/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/pathtree.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/scratch.h"
#include "policy/fold.h"
#include "policy/glob.h"
#include "policy/model.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tree_glob {
    struct tree_glob *next;
    struct tree_node *node;
    const char *pattern;
    size_t length;
};

/* Edges by the bytes of a name, and those that take upper case for lower: of protected paths. */
enum tree_case { CASE_EXACT, CASE_FOLDED, CASE_COUNT };

enum { SUFFIX_BITS = 64 };

struct tree_edges {
    struct tree_glob *globs;
    bool has_names;    /* a literal or a suffix edge */
    uint64_t suffixes; /* a bit for each length of a suffix edge below 64; "*" is of length 0 */
    size_t suffix_longest;
};

struct tree_node {
    uint64_t id;            /* scope of the edges in the map */
    size_t star_id;         /* dense number of a ** node */
    struct tree_node *star; /* the ** edge */
    struct tree_edges edges[CASE_COUNT];
    bool grants_below;
    const struct path_rule *only_dir;
    const struct path_rule *best[CLASS_COUNT][PATH_OP_COUNT];
};

/* Edges of one node are kept apart by kind: "x" and "*x" are different edges. */
static uint64_t edge_scope(const struct tree_node *node, enum tree_case letters,
                           enum glob_kind kind)
{
    return (node->id * CASE_COUNT + (uint64_t)letters) * 4 + (uint64_t)kind;
}

static enum access rule_access(const struct path_rule *rule, enum path_op op)
{
    return op == PATH_READ ? rule->read : rule->write;
}

static enum rule_class rule_class(const struct path_rule *rule)
{
    static const enum rule_class classes[AUTHORITY_COUNT] = {
        [AUTHORITY_BUILTIN] = CLASS_PROFILE,   [AUTHORITY_PROJECT] = CLASS_PROJECT,
        [AUTHORITY_APPROVED] = CLASS_APPROVED, [AUTHORITY_USER] = CLASS_USER,
        [AUTHORITY_ORG] = CLASS_ORG,
    };

    if (rule->kind == RULE_SEALED)
        return CLASS_SEALED;
    if (rule->kind == RULE_SECRET || rule->kind == RULE_PROTECTED)
        return CLASS_LISTED;
    return classes[rule->layer->authority];
}

/* Of two rules of one class that match at the same depth, the one that counts for an operation. */
static const struct path_rule *prefer(const struct path_rule *a, const struct path_rule *b,
                                      enum path_op op)
{
    if (rule_class(a) < CLASS_LISTED && a->layer->order != b->layer->order)
        return a->layer->order > b->layer->order ? a : b;
    /* Of equal rules, the one that is no repeat of another. */
    if (rule_access(a, op) == rule_access(b, op))
        return a->is_repeat && !b->is_repeat ? b : a;
    return rule_access(b, op) > rule_access(a, op) ? b : a;
}

void pathtree_done(struct pathtree *tree)
{
    map_done(&tree->edges);
    memset(tree, 0, sizeof(*tree));
}

/* Of the built-in lists' rules most add a node and an edge, and some two. */
bool pathtree_reserve(struct pathtree *tree, struct arena *arena, size_t rules, size_t rule_bytes)
{
    size_t nodes = rules + rules / 4;

    return map_reserve(&tree->edges, nodes) &&
           arena_reserve(arena, nodes * sizeof(struct tree_node) + rules * rule_bytes);
}

static struct tree_node *node_new(struct pathtree *tree, struct arena *arena)
{
    struct tree_node *node = arena_new(arena, struct tree_node);

    if (node)
        node->id = ++tree->node_count;
    return node;
}

static struct tree_node *node_star(struct pathtree *tree, struct arena *arena,
                                   struct tree_node *node)
{
    if (!node->star) {
        node->star = node_new(tree, arena);
        if (node->star)
            node->star->star_id = tree->star_count++;
    }
    return node->star;
}

static struct tree_node *node_glob(struct pathtree *tree, struct arena *arena,
                                   struct tree_node *node, enum tree_case letters,
                                   const char *pattern, size_t length)
{
    uint64_t scope = edge_scope(node, letters, GLOB_GENERAL);
    struct tree_glob *glob = map_get(&tree->edges, scope, pattern, length);

    if (glob)
        return glob->node;
    glob = arena_new(arena, struct tree_glob);
    if (!glob)
        return NULL;
    glob->pattern = arena_strndup(arena, pattern, length);
    glob->length = length;
    glob->node = node_new(tree, arena);
    if (!glob->pattern || !glob->node || !map_put(&tree->edges, scope, glob->pattern, length, glob))
        return NULL;
    glob->next = node->edges[letters].globs;
    node->edges[letters].globs = glob;
    return glob->node;
}

/* What a component of a rule is in the tree. */
struct component {
    enum tree_case letters;
    enum glob_kind kind;
    const char *text;
    size_t length;
};

static struct tree_node *node_named(struct pathtree *tree, struct arena *arena,
                                    struct tree_node *node, const struct component *component)
{
    struct tree_edges *edges = &node->edges[component->letters];
    uint64_t scope = edge_scope(node, component->letters, component->kind);
    const char *name = component->text;
    size_t length = component->length;
    struct tree_node *child = map_get(&tree->edges, scope, name, length);
    const char *key;

    if (child)
        return child;
    key = arena_strndup(arena, name, length);
    child = node_new(tree, arena);
    if (!key || !child || !map_put(&tree->edges, scope, key, length, child))
        return NULL;
    edges->has_names = true;
    if (component->kind == GLOB_SUFFIX) {
        if (length < SUFFIX_BITS)
            edges->suffixes |= 1ULL << length;
        if (length > edges->suffix_longest)
            edges->suffix_longest = length;
    }
    return child;
}

static struct tree_node *node_child(struct pathtree *tree, struct arena *arena,
                                    struct tree_node *node, const struct path_rule *rule,
                                    const char *name, size_t length)
{
    struct component component = {.text = name, .length = length};
    scratch char folded[LIMIT_PATH_BYTES];
    scratch char text[LIMIT_PATH_BYTES];

    if (rule->kind == RULE_PROTECTED && length < sizeof(folded)) {
        component.letters = CASE_FOLDED;
        component.length = length = fold_name(name, length, folded);
        component.text = name = folded;
    }
    if (rule->wild) {
        (void)glob_classify(name, length, text, &component.length, &component.kind);
        component.text = text;
    }
    if (component.kind == GLOB_ANY_DEPTH)
        return node_star(tree, arena, node);
    if (component.kind == GLOB_GENERAL)
        return node_glob(tree, arena, node, component.letters, component.text, component.length);
    return node_named(tree, arena, node, &component);
}

const char *pathtree_check(const char *pattern)
{
    scratch char text[LIMIT_PATH_BYTES];
    const char *component;
    size_t length;

    if (strlen(pattern) >= LIMIT_PATH_BYTES)
        return "longer than a path can be";
    while ((component = path_next(&pattern, &length))) {
        enum glob_kind kind;
        size_t text_length;
        const char *wrong = glob_classify(component, length, text, &text_length, &kind);

        if (wrong)
            return wrong;
    }
    return NULL;
}

static void node_offer(struct tree_node *node, const struct path_rule *rule)
{
    enum rule_class class = rule_class(rule);

    if (rule->only_dir)
        node->only_dir = rule;
    for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
        const struct path_rule **best = &node->best[class][op];

        if (rule_access(rule, op) != ACCESS_UNSET)
            *best = *best ? prefer(*best, rule, op) : rule;
    }
}

int pathtree_add(struct pathtree *tree, struct arena *arena, const struct path_rule *rule,
                 struct bawn_error *err)
{
    bool grants = rule->read != ACCESS_UNSET && rule->read < ACCESS_ASK &&
                  rule->layer->authority != AUTHORITY_PROJECT;
    const char *cursor = rule->path;
    const char *wrong = rule->wild ? pathtree_check(rule->path) : NULL;
    struct tree_node *node;
    const char *component;
    size_t length;

    if (wrong)
        return error_set(err, EINVAL, "policy.bad_pattern", "pattern '%s': %s", rule->path, wrong);
    if (!tree->root)
        tree->root = node_new(tree, arena);
    node = tree->root;
    while (node && (component = path_next(&cursor, &length))) {
        node->grants_below = node->grants_below || grants;
        node = node_child(tree, arena, node, rule, component, length);
    }
    if (!node)
        return error_memory(err);
    node_offer(node, rule);
    return 0;
}

/* The nodes that match the path so far. ** nodes, once reached, stay to the end. */
struct walk {
    const struct pathtree *tree;
    struct tree_answer *answer;
    size_t depth;
    VEC(const struct tree_node *) now;   /* reached by the last component */
    VEC(const struct tree_node *) stars; /* ** nodes reached so far */
    uint64_t *star_seen;                 /* one bit each */
    uint64_t few_stars[16];
    uint64_t *many_stars; /* owned; NULL while there are few */
    bool failed;
};

static void walk_offer(struct walk *walk, const struct tree_node *node)
{
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
            struct tree_match *best = &walk->answer->best[class][op];
            const struct path_rule *rule = node->best[class][op];

            if (!rule)
                continue;
            if (best->rule && best->depth == walk->depth)
                rule = prefer(best->rule, rule, op);
            *best = (struct tree_match){.rule = rule, .depth = walk->depth};
        }
    }
}

/* A node matches the path up to here. So does what is behind its ** edge: ** may be nothing. */
static void walk_reach(struct walk *walk, const struct tree_node *node)
{
    if (!node)
        return;
    walk_offer(walk, node);
    if (!vec_push(&walk->now, node))
        walk->failed = true;
    for (node = node->star; node; node = node->star) {
        uint64_t *word = &walk->star_seen[node->star_id / 64];
        uint64_t bit = 1ULL << (node->star_id % 64);

        walk_offer(walk, node);
        if (*word & bit)
            continue;
        *word |= bit;
        if (!vec_push(&walk->stars, node))
            walk->failed = true;
    }
}

static void walk_edges(struct walk *walk, const struct tree_node *node, enum tree_case letters,
                       const char *name, size_t length)
{
    const struct map *map = &walk->tree->edges;
    const struct tree_edges *edges = &node->edges[letters];
    uint64_t suffixes = edge_scope(node, letters, GLOB_SUFFIX);
    size_t longest = edges->suffix_longest < length ? edges->suffix_longest : length;

    if (edges->has_names)
        walk_reach(walk, map_get(map, edge_scope(node, letters, GLOB_LITERAL), name, length));
    for (size_t size = 0; size <= longest; size++)
        if (size >= SUFFIX_BITS || edges->suffixes >> size & 1)
            walk_reach(walk, map_get(map, suffixes, name + length - size, size));
    for (const struct tree_glob *glob = edges->globs; glob; glob = glob->next)
        if (glob_match(glob->pattern, glob->length, name, length))
            walk_reach(walk, glob->node);
}

/* A name by its bytes and, where it is another then, folded. */
struct name {
    const char *text[CASE_COUNT];
    size_t length[CASE_COUNT];
    char folded[LIMIT_PATH_BYTES];
};

static void name_init(struct name *name, const char *text, size_t length)
{
    name->text[CASE_EXACT] = name->text[CASE_FOLDED] = text;
    name->length[CASE_EXACT] = name->length[CASE_FOLDED] = length;
    if (length < sizeof(name->folded) && fold_changes(text, length)) {
        name->length[CASE_FOLDED] = fold_name(text, length, name->folded);
        name->text[CASE_FOLDED] = name->folded;
    }
}

static void walk_node(struct walk *walk, const struct tree_node *node, const struct name *name)
{
    for (enum tree_case letters = 0; letters < CASE_COUNT; letters++)
        walk_edges(walk, node, letters, name->text[letters], name->length[letters]);
}

static void walk_star(struct walk *walk, const struct tree_node *node, const struct name *name)
{
    walk_offer(walk, node);
    walk_node(walk, node, name);
}

static void walk_component(struct walk *walk, const char *text, size_t length)
{
    size_t stars = walk->stars.count;
    size_t now = walk->now.count;
    scratch struct name name;

    name_init(&name, text, length);
    walk->depth++;
    /* What this component reaches is appended behind what the one before reached. */
    for (size_t i = 0; i < now; i++)
        walk_node(walk, walk->now.items[i], &name);
    for (size_t i = 0; i < stars; i++)
        walk_star(walk, walk->stars.items[i], &name);
    walk->now.count -= now;
    memmove(walk->now.items, walk->now.items + now, walk->now.count * sizeof(*walk->now.items));
}

/* walk_done also after a failure. */
static int walk_begin(struct walk *walk, const struct pathtree *tree,
                      struct tree_answer *ret_answer)
{
    *walk = (struct walk){.tree = tree, .answer = ret_answer};
    walk->star_seen = walk->few_stars;
    if (tree->star_count > 64 * (sizeof(walk->few_stars) / sizeof(walk->few_stars[0]))) {
        walk->many_stars = calloc(tree->star_count / 64 + 1, sizeof(*walk->many_stars));
        if (!walk->many_stars)
            return -ENOMEM;
        walk->star_seen = walk->many_stars;
    }
    return 0;
}

/* What is said of the very path that was walked. */
static int walk_end(const struct walk *walk)
{
    struct tree_answer *answer = walk->answer;

    answer->is_skeleton = false;
    answer->only_dir = (struct tree_match){0};
    vec_each (&walk->now, node) {
        answer->is_skeleton |= (*node)->grants_below;
        if ((*node)->only_dir && !answer->only_dir.rule)
            answer->only_dir = (struct tree_match){.rule = (*node)->only_dir, .depth = walk->depth};
    }
    return walk->failed ? -ENOMEM : 0;
}

/* walk_done also after a failure. */
static int walk_path(struct walk *walk, const struct pathtree *tree, const char *path,
                     struct tree_answer *ret_answer)
{
    const char *component;
    size_t length;
    int r = walk_begin(walk, tree, ret_answer);

    memset(ret_answer, 0, sizeof(*ret_answer));
    if (r < 0 || !tree->root)
        return r;
    walk_reach(walk, tree->root);
    while ((component = path_next(&path, &length)) && !walk->failed)
        walk_component(walk, component, length);
    return walk_end(walk);
}

static void walk_done(struct walk *walk)
{
    vec_done(&walk->now);
    vec_done(&walk->stars);
    free(walk->many_stars);
}

int pathtree_ask(const struct pathtree *tree, const char *path, struct tree_answer *ret_answer)
{
    struct walk walk;
    int r = walk_path(&walk, tree, path, ret_answer);

    walk_done(&walk);
    return r;
}

int pathtree_enter(const struct pathtree *tree, const char *path, struct tree_dir *ret_dir)
{
    struct walk walk;
    int r = walk_path(&walk, tree, path, &ret_dir->answer);
    size_t now = walk.now.count;
    size_t stars = walk.stars.count;

    ret_dir->nodes = r < 0 ? NULL : calloc(now + stars + 1, sizeof(const struct tree_node *));
    if (r == 0 && !ret_dir->nodes)
        r = -ENOMEM;
    if (r == 0 && now)
        memcpy(ret_dir->nodes, walk.now.items, now * sizeof(*walk.now.items));
    if (r == 0 && stars)
        memcpy(ret_dir->nodes + now, walk.stars.items, stars * sizeof(*walk.stars.items));
    ret_dir->reached = now;
    ret_dir->count = now + stars;
    ret_dir->depth = walk.depth;
    walk_done(&walk);
    return r;
}

void tree_dir_done(struct tree_dir *dir)
{
    free(dir->nodes);
    *dir = (struct tree_dir){0};
}

int pathtree_ask_in(const struct pathtree *tree, const struct tree_dir *dir, const char *text,
                    struct tree_answer *ret_answer)
{
    struct walk walk;
    scratch struct name name;
    int r = walk_begin(&walk, tree, ret_answer);

    *ret_answer = dir->answer;
    walk.depth = dir->depth + 1;
    for (size_t i = dir->reached; r == 0 && i < dir->count; i++) {
        size_t star = dir->nodes[i]->star_id;

        walk.star_seen[star / 64] |= 1ULL << (star % 64);
    }
    name_init(&name, text, strlen(text));
    for (size_t i = 0; r == 0 && i < dir->reached; i++)
        walk_node(&walk, dir->nodes[i], &name);
    for (size_t i = dir->reached; r == 0 && i < dir->count; i++)
        walk_star(&walk, dir->nodes[i], &name);
    if (r == 0)
        r = walk_end(&walk);
    walk_done(&walk);
    return r;
}

/* The next node that has a rule for this very name, or from which one goes on below it. The ** edge
 * does not count: what is behind it is among the stars. */
static const struct tree_node *next_open(const struct walk *walk, size_t *index)
{
    while (*index < walk->now.count) {
        const struct tree_node *node = walk->now.items[(*index)++];

        if (node->only_dir)
            return node;
        for (enum tree_case letters = 0; letters < CASE_COUNT; letters++)
            if (node->edges[letters].has_names || node->edges[letters].globs)
                return node;
    }
    return NULL;
}

/* In order, too: which of two equal rules is named depends on it. */
static bool has_same_nodes(const struct walk *a, const struct walk *b)
{
    const struct tree_node *node;
    size_t a_next = 0;
    size_t b_next = 0;

    do {
        node = next_open(a, &a_next);
        if (node != next_open(b, &b_next))
            return false;
    } while (node);
    return a->stars.count == b->stars.count &&
           (a->stars.count == 0 ||
            memcmp(a->stars.items, b->stars.items, a->stars.count * sizeof(*a->stars.items)) == 0);
}

static int depth_order(const struct tree_match *a, const struct tree_match *b)
{
    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* Whether the same rules match, in the same order of depth. A rule also holds below its path, until
 * a more specific one matches. A decision compares depths, so their order counts; the depths
 * themselves may differ where a ** has moved all of them. */
static bool has_same_matches(const struct tree_answer *a, const struct tree_answer *b,
                             enum path_op op)
{
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        if (a->best[i][op].rule != b->best[i][op].rule)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (depth_order(&a->best[i][op], &a->best[k][op]) !=
                depth_order(&b->best[i][op], &b->best[k][op]))
                return false;
    }
    return true;
}

int pathtree_compare_below(const struct pathtree *tree, const char *a, const char *b,
                           struct tree_answer ret_answers[2], enum tree_likeness *ret_likeness)
{
    struct walk walks[2] = {0};
    int r = walk_path(&walks[0], tree, a, &ret_answers[0]);

    if (r == 0)
        r = walk_path(&walks[1], tree, b, &ret_answers[1]);
    *ret_likeness = TREE_DIFFERENT;
    if (r == 0 && has_same_nodes(&walks[0], &walks[1]))
        *ret_likeness = has_same_matches(&ret_answers[0], &ret_answers[1], PATH_READ) &&
                                has_same_matches(&ret_answers[0], &ret_answers[1], PATH_WRITE)
                            ? TREE_SAME
                            : TREE_SAME_BELOW;
    walk_done(&walks[0]);
    walk_done(&walks[1]);
    return r;
}
