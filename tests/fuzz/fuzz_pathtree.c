/* SPDX-License-Identifier: Apache-2.0 */
/* The path tree against a list of rules that is tried from end to end. */
#include "base/path.h"
#include "fuzz/fuzz.h"
#include "lib/policy.h"
#include "policy/decide.h"
#include "policy/fold.h"
#include "policy/glob.h"

/*
 * Each line is a rule or a question:
 *     WHO MODE PATTERN     WHO: profile project approved user user2 org secret protected
 *                          MODE: ro rw overlay private ask deny protect confirm
 *                          a pattern that starts with = is a literal path
 *     PATH
 */
enum { RULES = 64, QUESTIONS = 32, DEPTH = 24 };

struct parts {
    const char *at[DEPTH];
    size_t length[DEPTH];
    size_t count;
};

/* False when there are more than the reference has time for. */
static bool split(const char *path, struct parts *ret_parts)
{
    ret_parts->count = 0;
    while (
        (ret_parts->at[ret_parts->count] = path_next(&path, &ret_parts->length[ret_parts->count])))
        if (++ret_parts->count == DEPTH)
            return false;
    return true;
}

static bool part_matches(const struct path_rule *rule, const char *pattern, size_t pattern_length,
                         const char *name, size_t name_length)
{
    char folded[2][4096];

    if (rule->kind == RULE_PROTECTED && pattern_length < 4096 && name_length < 4096) {
        pattern_length = fold_name(pattern, pattern_length, folded[0]);
        name_length = fold_name(name, name_length, folded[1]);
        pattern = folded[0];
        name = folded[1];
    }
    if (!rule->wild)
        return pattern_length == name_length && memcmp(pattern, name, name_length) == 0;
    return glob_match(pattern, pattern_length, name, name_length);
}

/* Whether the pattern matches exactly the first count parts of the path: every position of one
 * against every position of the other. */
static bool slow_match(const struct path_rule *rule, const struct parts *pattern,
                       const struct parts *path, size_t count)
{
    bool reach[DEPTH + 1][DEPTH + 1] = {{false}};

    reach[0][0] = true;
    for (size_t p = 0; p < pattern->count; p++) {
        bool any_depth = rule->wild && pattern->length[p] == 2 && !memcmp(pattern->at[p], "**", 2);

        for (size_t n = 0; n <= count; n++) {
            if (!reach[p][n])
                continue;
            for (size_t rest = n; any_depth && rest <= count; rest++)
                reach[p + 1][rest] = true;
            if (!any_depth && n < count &&
                part_matches(rule, pattern->at[p], pattern->length[p], path->at[n],
                             path->length[n]))
                reach[p + 1][n + 1] = true;
        }
    }
    return reach[pattern->count][count];
}

static enum rule_class class_of(const struct path_rule *rule)
{
    if (rule->kind != RULE_PATH && rule->kind != RULE_PATTERN)
        return CLASS_LISTED;
    switch (rule->layer->authority) {
    case AUTHORITY_PROJECT:
        return CLASS_PROJECT;
    case AUTHORITY_APPROVED:
        return CLASS_APPROVED;
    case AUTHORITY_USER:
        return CLASS_USER;
    case AUTHORITY_ORG:
        return CLASS_ORG;
    default:
        return CLASS_PROFILE;
    }
}

static enum access access_of(const struct path_rule *rule, enum path_op op)
{
    return op == PATH_READ ? rule->read : rule->write;
}

/* Whether a beats b at the same depth: the later layer, then the stricter. Lists know no layers. */
static bool beats(const struct path_rule *a, const struct path_rule *b, enum path_op op)
{
    if (class_of(a) != CLASS_LISTED && a->layer->order != b->layer->order)
        return a->layer->order > b->layer->order;
    return access_of(a, op) > access_of(b, op);
}

struct rules {
    struct path_rule items[RULES];
    struct parts parts[RULES];
    size_t count;
};

/* A rule grants something below a path when the path leads to it and ends before. */
static bool leads_to(const struct path_rule *rule, const struct parts *pattern,
                     const struct parts *path)
{
    struct parts shorter = *pattern;

    if (rule->read == ACCESS_UNSET || rule->read >= ACCESS_ASK ||
        rule->layer->authority == AUTHORITY_PROJECT)
        return false;
    for (shorter.count = 0; shorter.count < pattern->count; shorter.count++) {
        bool any_depth = rule->wild && shorter.count > 0 &&
                         pattern->length[shorter.count - 1] == 2 &&
                         !memcmp(pattern->at[shorter.count - 1], "**", 2);

        /* Behind ** everything could lead somewhere, so nothing is said. */
        if (!any_depth && slow_match(rule, &shorter, path, path->count))
            return true;
    }
    return false;
}

static void slow_ask(const struct rules *rules, const struct parts *path,
                     struct tree_answer *ret_answer)
{
    memset(ret_answer, 0, sizeof(*ret_answer));
    for (size_t i = 0; i < rules->count; i++) {
        const struct path_rule *rule = &rules->items[i];

        ret_answer->is_skeleton |= leads_to(rule, &rules->parts[i], path);
        for (size_t depth = 0; depth <= path->count; depth++) {
            if (!slow_match(rule, &rules->parts[i], path, depth))
                continue;
            for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
                struct tree_match *best = &ret_answer->best[class_of(rule)][op];

                if (access_of(rule, op) == ACCESS_UNSET)
                    continue;
                if (!best->rule || depth > best->depth ||
                    (depth == best->depth && beats(rule, best->rule, op)))
                    *best = (struct tree_match){.rule = rule, .depth = depth};
            }
        }
    }
}

static void check_question(const struct pathtree *tree, const struct rules *rules, const char *text)
{
    struct tree_answer expected;
    struct tree_answer answer;
    struct parts path;

    if (!fuzz_is_normal(text) || !split(text, &path))
        return;
    slow_ask(rules, &path, &expected);
    fuzz_require(pathtree_ask(tree, text, &answer) == 0);
    fuzz_require(answer.is_skeleton == expected.is_skeleton);
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
            const struct tree_match *a = &answer.best[class][op];
            const struct tree_match *b = &expected.best[class][op];

            fuzz_require(!a->rule == !b->rule);
            if (!a->rule)
                continue;
            /* Of equal rules either may be named. */
            fuzz_require(a->depth == b->depth);
            fuzz_require(access_of(a->rule, op) == access_of(b->rule, op));
            fuzz_require(class_of(a->rule) == class);
            if (class != CLASS_LISTED)
                fuzz_require(a->rule->layer == b->rule->layer);
        }
    }
}

/* Where the tree says that two paths are the same below, no path below tells them apart: the same
 * rules answer, and what a decision compares, the order of their depths, is the same. */
static void check_below(const struct pathtree *tree, const char *a, const char *b,
                        const char *below)
{
    struct tree_answer answers[2];
    char paths[2][4096];

    (void)snprintf(paths[0], sizeof(paths[0]), "%s%s", a, below);
    (void)snprintf(paths[1], sizeof(paths[1]), "%s%s", b, below);
    for (int i = 0; i < 2; i++)
        fuzz_require(pathtree_ask(tree, paths[i], &answers[i]) == 0);
    fuzz_require(answers[0].is_skeleton == answers[1].is_skeleton || !*below);
    for (unsigned i = 0; i < CLASS_COUNT * PATH_OP_COUNT; i++) {
        const struct tree_match *one = &answers[0].best[i / PATH_OP_COUNT][i % PATH_OP_COUNT];
        const struct tree_match *other = &answers[1].best[i / PATH_OP_COUNT][i % PATH_OP_COUNT];

        fuzz_require(one->rule == other->rule);
        for (unsigned class = 0; class < CLASS_COUNT; class ++) {
            size_t one_depth = answers[0].best[class][i % PATH_OP_COUNT].depth;
            size_t other_depth = answers[1].best[class][i % PATH_OP_COUNT].depth;

            fuzz_require((one->depth > one_depth) == (other->depth > other_depth));
            fuzz_require((one->depth < one_depth) == (other->depth < other_depth));
        }
    }
}

/* As the supervisor decides it: see guard_is_same_below. */
static void decide_both(const struct pathtree *tree, const char *a, const char *b,
                        const char *below, struct path_decision decisions[2][PATH_OP_COUNT])
{
    const struct policy policy = {.home = "/a", .workspace = "/b"};
    const char *const starts[] = {a, b};
    struct tree_answer answer;
    char path[4096];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s%s", starts[i], below);
        fuzz_require(pathtree_ask(tree, path, &answer) == 0);
        decide_answer(&policy, &answer, decisions[i]);
    }
}

static bool is_alike(const struct path_decision *a, const struct path_decision *b)
{
    return a->access == b->access && a->access < ACCESS_ASK &&
           (a->access == ACCESS_ALLOW || a->rule == b->rule);
}

/* Where other rules have matched the two names, and the same came of it: what is refused below one
 * is refused below the other. Patterns of policies only refuse. */
static void check_refused(const struct pathtree *tree, const struct rules *rules, const char *a,
                          const char *b, const char *below)
{
    struct path_decision decisions[2][PATH_OP_COUNT];

    for (size_t i = 0; i < rules->count; i++) {
        const struct path_rule *rule = &rules->items[i];

        if (rule->wild && ((rule->read && rule->read < ACCESS_ASK) || rule->write < ACCESS_ASK))
            return;
    }
    decide_both(tree, a, b, "", decisions);
    for (enum path_op op = 0; op < PATH_OP_COUNT; op++)
        if (!is_alike(&decisions[0][op], &decisions[1][op]))
            return;
    decide_both(tree, a, b, below, decisions);
    for (enum path_op op = 0; op < PATH_OP_COUNT; op++)
        fuzz_require((decisions[0][op].access >= ACCESS_ASK) ==
                     (decisions[1][op].access >= ACCESS_ASK));
}

static void check_pair(const struct pathtree *tree, const struct rules *rules, const char *a,
                       const char *b, const char *const *below, size_t count)
{
    enum tree_likeness likeness;
    struct tree_answer answers[2];

    if (!fuzz_is_normal(a) || !fuzz_is_normal(b) || strcmp(a, "/") == 0 || strcmp(b, "/") == 0 ||
        strlen(a) > 1000 || strlen(b) > 1000)
        return;
    fuzz_require(pathtree_compare_below(tree, a, a, answers, &likeness) == 0 &&
                 likeness == TREE_SAME);
    fuzz_require(pathtree_compare_below(tree, a, b, answers, &likeness) == 0);
    if (likeness == TREE_SAME)
        check_below(tree, a, b, "");
    for (size_t i = 0; likeness != TREE_DIFFERENT && i < count; i++) {
        if (!fuzz_is_normal(below[i]) || strcmp(below[i], "/") == 0 || strlen(below[i]) > 1000)
            continue;
        if (likeness == TREE_SAME)
            check_below(tree, a, b, below[i]);
        else
            check_refused(tree, rules, a, b, below[i]);
    }
}

static bool set_mode(struct path_rule *rule, const char *mode)
{
    if (strcmp(mode, "protect") == 0)
        rule->write = ACCESS_DENY;
    else if (strcmp(mode, "confirm") == 0)
        rule->write = ACCESS_ASK;
    else
        return rule_set_mode(rule, mode);
    return true;
}

static void add_rule(struct pathtree *tree, struct arena *arena, struct rules *rules,
                     const char *who, const char *mode, const char *pattern)
{
    static const struct {
        const char *who;
        struct layer layer;
        enum rule_kind kind;
    } speakers[] = {
        {"profile", {.authority = AUTHORITY_BUILTIN, .order = 0}, RULE_PATTERN},
        {"secret", {.authority = AUTHORITY_BUILTIN, .order = 1}, RULE_SECRET},
        {"protected", {.authority = AUTHORITY_BUILTIN, .order = 1}, RULE_PROTECTED},
        {"org", {.authority = AUTHORITY_ORG, .order = 2}, RULE_PATTERN},
        {"user", {.authority = AUTHORITY_USER, .order = 3}, RULE_PATTERN},
        {"project", {.authority = AUTHORITY_PROJECT, .order = 4}, RULE_PATTERN},
        {"approved", {.authority = AUTHORITY_APPROVED, .order = 5}, RULE_PATTERN},
        {"user2", {.authority = AUTHORITY_USER, .order = 6}, RULE_PATTERN},
    };
    struct path_rule *rule = &rules->items[rules->count];

    for (size_t i = 0; i < sizeof(speakers) / sizeof(speakers[0]); i++) {
        struct bawn_error err;

        if (strcmp(who, speakers[i].who) != 0 || rules->count == RULES)
            continue;
        *rule = (struct path_rule){.kind = speakers[i].kind,
                                   .path = pattern + (*pattern == '='),
                                   .layer = &speakers[i].layer,
                                   .wild = *pattern != '='};
        if (set_mode(rule, mode) && split(rule->path, &rules->parts[rules->count]) &&
            pathtree_add(tree, arena, rule, &err) == 0)
            rules->count++;
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    static struct rules rules;
    const char *questions[QUESTIONS];
    size_t question_count = 0;
    struct pathtree tree = {0};
    struct arena arena = {0};
    char *line;

    rules.count = 0;
    while ((line = fuzz_line(&lines))) {
        char *mode = fuzz_split(line);
        char *pattern = mode ? fuzz_split(mode) : NULL;

        if (pattern)
            add_rule(&tree, &arena, &rules, line, mode, pattern);
        else if (!mode && question_count < QUESTIONS)
            questions[question_count++] = line;
    }
    for (size_t i = 0; i < question_count; i++)
        check_question(&tree, &rules, questions[i]);
    for (size_t i = 1; i < question_count; i++)
        check_pair(&tree, &rules, questions[i - 1], questions[i], questions, question_count);
    pathtree_done(&tree);
    arena_done(&arena);
    fuzz_lines_end(&lines);
    return 0;
}
