/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/rules.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "config/node.h"
#include "policy/glob.h"
#include "policy/netrule.h"

#include <stdio.h>
#include <string.h>

enum { RULES_MOST = 10000 };

struct rule {
    struct rule *next;
    unsigned ops;        /* bits; 0: any */
    const char *path;    /* a pattern, or NULL */
    const char *program; /* the same */
    struct net_rule *host;
    struct netindex index; /* of that one */
    enum rules_answer answer;
    struct bawn_answer given;
    unsigned line;
};

struct rules {
    struct arena arena;
    struct rule *first;
    size_t count;
    enum rules_answer otherwise;
};

struct reader {
    struct rules *rules;
    struct bawn_report *report;
};

static const char *const op_words[] = {"read", "write", "exec", "connect", "bind", NULL};
static const char *const answer_words[] = {"allow", "deny", "ask", NULL};
static const char *const default_words[] = {"deny", "ask", NULL};
enum { SCOPE_ONCE, SCOPE_FILE, SCOPE_DIR, SCOPE_HOST };
static const char *const scope_words[] = {"once", "file", "dir", "host", NULL};
/* Behind the first: enum bawn_scope. */
static const char *const persist_words[] = {"session", "user", "project", "local", "org", NULL};

static size_t count_words(const char *const *words)
{
    size_t count = 0;

    while (words[count])
        count++;
    return count;
}

static void complain(const struct reader *reader, struct origin origin, const char *code,
                     const char *what, const char *hint)
{
    report_add(reader->report, BAWN_ERROR, code, origin, "%s", what);
    if (hint)
        report_hint(reader->report, "%s", hint);
}

/* The text of a scalar; complains and returns NULL when it is none. */
static const char *text_of(const struct reader *reader, const struct node *node)
{
    char what[320];

    if (node->kind == NODE_STRING || node->kind == NODE_NUMBER)
        return node->text;
    (void)snprintf(what, sizeof(what), "%.255s: expected a string, found %s",
                   node->key ? node->key : "entry", node_kind_word(node->kind));
    complain(reader, node->origin, "config.bad_type", what, NULL);
    return NULL;
}

/* The number of a word, or -1 and a complaint. */
static int word_of(const struct reader *reader, const struct node *node, const char *const *words)
{
    const char *text = text_of(reader, node);
    const char *nearest;
    char shown[128];

    if (!text)
        return -1;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    text_escape(shown, sizeof(shown), text, strlen(text), TEXT_ONE_LINE);
    report_add(reader->report, BAWN_ERROR, "config.bad_value", node->origin,
               "'%s' is none of the words here", shown);
    nearest = text_nearest(text, words, count_words(words));
    if (nearest) {
        report_hint(reader->report, "did you mean '%s'?", nearest);
        return -1;
    }
    *shown = '\0';
    for (size_t i = 0; words[i]; i++) {
        size_t used = strlen(shown);

        (void)snprintf(shown + used, sizeof(shown) - used, "%s%s", i ? ", " : "", words[i]);
    }
    report_hint(reader->report, "the words here are: %s", shown);
    return -1;
}

static void unknown_key(const struct reader *reader, const struct node *node,
                        const char *const *known)
{
    const char *nearest = text_nearest(node->key, known, count_words(known));
    char shown[128];

    text_escape(shown, sizeof(shown), node->key, strlen(node->key), TEXT_ONE_LINE);
    report_add(reader->report, BAWN_ERROR, "config.unknown_key", node->key_origin, "unknown key %s",
               shown);
    if (nearest)
        report_hint(reader->report, "did you mean '%s'?", nearest);
}

static void read_ops(const struct reader *reader, const struct node *node, struct rule *rule)
{
    bool is_list = node->kind == NODE_LIST;

    for (const struct node *one = is_list ? node->first : node; one;
         one = is_list ? one->next : NULL) {
        int op = word_of(reader, one, op_words);

        if (op >= 0)
            rule->ops |= 1U << op;
    }
    if (is_list && !node->first)
        complain(reader, node->origin, "config.bad_value", "op: no operation is listed", NULL);
}

static const char *read_pattern(const struct reader *reader, const struct node *node)
{
    const char *text = text_of(reader, node);
    const char *wrong = NULL;

    if (!text)
        return NULL;
    if (*text != '/')
        wrong = "a pattern here begins with /";
    for (const char *at = text; !wrong && *at == '/';) {
        size_t length = strcspn(++at, "/");
        char out[LIMIT_PATH_BYTES];
        enum glob_kind kind;
        size_t used;

        if (length >= sizeof(out))
            wrong = "it is too long";
        else if ((length == 0 && (*at || at - text > 1)) || (length == 1 && *at == '.') ||
                 (length == 2 && strncmp(at, "..", 2) == 0))
            wrong = "no path has an empty component, . or .. in it";
        else if (length > 0)
            wrong = glob_classify(at, length, out, &used, &kind);
        at += length;
    }
    if (!wrong)
        return text;
    report_add(reader->report, BAWN_ERROR, "config.bad_path", node->origin, "%s: %s", node->key,
               wrong);
    return NULL;
}

static void read_host(const struct reader *reader, const struct node *node, struct rule *rule)
{
    const char *text = text_of(reader, node);
    const char *wrong;

    if (!text)
        return;
    rule->host = arena_new(&reader->rules->arena, struct net_rule);
    wrong = rule->host ? host_parse_rule(text, &rule->host->host) : "out of memory";
    if (!wrong && !netindex_add(&rule->index, rule->host))
        wrong = "out of memory";
    if (wrong)
        report_add(reader->report, BAWN_ERROR, "config.bad_host", node->origin, "host: %s", wrong);
}

/* For how much and how long, and whether that goes with what the rule is about. */
static void read_lasting(const struct reader *reader, const struct node *map, struct rule *rule)
{
    const struct node *scope_node = node_get(map, "scope");
    const struct node *persist_node = node_get(map, "persist");
    int scope = scope_node ? word_of(reader, scope_node, scope_words) : -1;
    int persist = persist_node ? word_of(reader, persist_node, persist_words) : -1;

    if (rule->answer == RULES_ASK && (scope_node || persist_node))
        complain(reader, (scope_node ? scope_node : persist_node)->key_origin, "config.bad_value",
                 "a question that is left to others gets no scope", "take it out");
    if (!scope_node && persist >= 0)
        scope = rule->host ? SCOPE_HOST : SCOPE_FILE;
    if (scope == SCOPE_ONCE && persist_node)
        complain(reader, persist_node->key_origin, "config.bad_value",
                 "what holds once is kept nowhere", "take out 'persist', or give another scope");
    if (scope_node && ((scope == SCOPE_HOST && rule->path) ||
                       (scope > SCOPE_ONCE && scope < SCOPE_HOST && rule->host)))
        complain(reader, scope_node->origin, "config.bad_value",
                 "the scope does not go with what the rule is about",
                 "file and dir are for paths, host is for hosts");
    rule->given.is_allowed = rule->answer == RULES_ALLOW;
    rule->given.scope = scope <= SCOPE_ONCE  ? BAWN_ANSWER_ONCE
                        : scope == SCOPE_DIR ? BAWN_ANSWER_SESSION_TREE
                                             : BAWN_ANSWER_SESSION;
    if (persist > 0) {
        rule->given.flags = BAWN_ANSWER_SAVE;
        rule->given.saved_in = (enum bawn_scope)(persist - 1);
    }
}

static void read_members(const struct reader *reader, const struct node *map, struct rule *rule)
{
    static const char *const keys[] = {"op",     "path",  "host",    "program",
                                       "answer", "scope", "persist", NULL};
    int answer = -1;

    for (const struct node *node = map->first; node; node = node->next) {
        if (strcmp(node->key, "op") == 0)
            read_ops(reader, node, rule);
        else if (strcmp(node->key, "path") == 0)
            rule->path = read_pattern(reader, node);
        else if (strcmp(node->key, "program") == 0)
            rule->program = read_pattern(reader, node);
        else if (strcmp(node->key, "host") == 0)
            read_host(reader, node, rule);
        else if (strcmp(node->key, "answer") == 0)
            answer = word_of(reader, node, answer_words);
        else if (strcmp(node->key, "scope") != 0 && strcmp(node->key, "persist") != 0)
            unknown_key(reader, node, keys);
    }
    if (!node_get(map, "answer"))
        complain(reader, map->origin, "config.missing", "a rule needs an answer",
                 "add 'answer: allow', 'answer: deny' or 'answer: ask'");
    rule->answer = answer < 0 ? RULES_DENY : (enum rules_answer)answer;
}

static void read_rule(const struct reader *reader, const struct node *map, struct rule *rule)
{
    if (map->kind != NODE_MAP) {
        complain(reader, map->origin, "config.bad_type", "a rule is a map",
                 "for example {op: read, path: /srv/**, answer: allow}");
        return;
    }
    read_members(reader, map, rule);
    if (node_get(map, "path") && node_get(map, "host"))
        complain(reader, map->origin, "config.bad_value",
                 "a rule is about a path or about a host, not both", "make two of it");
    if (rule->answer == RULES_ALLOW && !node_get(map, "path") && !node_get(map, "host"))
        complain(reader, map->origin, "config.missing", "what does it allow?",
                 "add a 'path' or a 'host'; path: /** is every path");
    read_lasting(reader, map, rule);
}

static void read_rules(const struct reader *reader, const struct node *list)
{
    struct rules *rules = reader->rules;
    struct rule **tail = &rules->first;

    if (list->kind != NODE_LIST && list->kind != NODE_NULL) {
        complain(reader, list->origin, "config.bad_type", "rules: expected a list", NULL);
        return;
    }
    for (const struct node *node = list->first; node; node = node->next) {
        struct rule *rule = arena_new(&rules->arena, struct rule);

        if (!rule || ++rules->count > RULES_MOST) {
            complain(reader, node->origin, "config.too_large", "too many rules", NULL);
            return;
        }
        *rule = (struct rule){.line = node->origin.line};
        *tail = rule;
        tail = &rule->next;
        read_rule(reader, node, rule);
    }
}

static void read_document(const struct reader *reader, const struct node *root)
{
    static const char *const keys[] = {"default", "rules", NULL};

    reader->rules->otherwise = RULES_DENY;
    if (root->kind != NODE_MAP) {
        complain(reader, root->origin, "config.bad_type",
                 "a file of rules is a map with 'rules' in it", NULL);
        return;
    }
    for (const struct node *node = root->first; node; node = node->next) {
        if (strcmp(node->key, "default") == 0) {
            if (word_of(reader, node, default_words) == 1)
                reader->rules->otherwise = RULES_ASK;
        } else if (strcmp(node->key, "rules") == 0) {
            read_rules(reader, node);
        } else {
            unknown_key(reader, node, keys);
        }
    }
    if (!node_get(root, "rules"))
        complain(reader, root->origin, "config.missing", "there is no list 'rules'",
                 "write 'rules: []' to answer by the default alone");
}

struct rules *rules_load(const char *file, const char *text, size_t length,
                         struct bawn_report *report)
{
    struct rules *rules = calloc(1, sizeof(*rules));
    const struct reader reader = {.rules = rules, .report = report};
    const struct node *root;

    if (!rules)
        return NULL;
    root = node_from_yaml(&rules->arena, file, text, length, report);
    if (root)
        read_document(&reader, root);
    if (root && !report_has_errors(report))
        return rules;
    rules_free(rules);
    return NULL;
}

void rules_free(struct rules *rules)
{
    if (!rules)
        return;
    for (struct rule *rule = rules->first; rule; rule = rule->next)
        netindex_done(&rule->index);
    arena_done(&rules->arena);
    free(rules);
}

size_t rules_count(const struct rules *rules)
{
    return rules->count;
}

static bool is_plain(const char *path)
{
    if (*path != '/')
        return false;
    /* The root itself. */
    if (!path[1])
        return true;
    while (*path == '/') {
        size_t length = strcspn(++path, "/");

        if (length == 0 || (length == 1 && *path == '.') ||
            (length == 2 && strncmp(path, "..", 2) == 0))
            return false;
        path += length;
    }
    return true;
}

/* One component, without wildcards for several. */
static bool match_one(const char *pattern, size_t length, const char *name, size_t name_length)
{
    char text[LIMIT_PATH_BYTES];
    enum glob_kind kind;
    size_t used = 0;

    if (length >= sizeof(text) || glob_classify(pattern, length, text, &used, &kind))
        return false;
    if (kind == GLOB_LITERAL)
        return used == name_length && memcmp(text, name, used) == 0;
    return glob_match(pattern, length, name, name_length);
}

bool rules_match_path(const char *pattern, const char *path)
{
    const char *again_pattern = NULL, *again_path = NULL;

    if (!is_plain(path))
        return false;
    /* Both are at a slash, or at their end. With ** the last one alone is tried further: what an
     * earlier one could take, it can take too. */
    for (;;) {
        size_t length = *pattern ? strcspn(pattern + 1, "/") : 0;
        size_t name_length = *path ? strcspn(path + 1, "/") : 0;

        if (*pattern && length == 2 && strncmp(pattern + 1, "**", 2) == 0) {
            again_pattern = pattern += 3;
            again_path = path;
        } else if (*pattern && *path && match_one(pattern + 1, length, path + 1, name_length)) {
            pattern += 1 + length;
            path += 1 + name_length;
        } else if (!*pattern && !*path) {
            return true;
        } else if (again_pattern && *again_path) {
            again_path += 1 + strcspn(again_path + 1, "/");
            pattern = again_pattern;
            path = again_path;
        } else {
            return false;
        }
    }
}

static void on_host(void *context, const struct net_rule *rule, unsigned specificity)
{
    (void)rule;
    (void)specificity;
    *(bool *)context = true;
}

static bool match_host(const struct rule *rule, const char *target)
{
    struct host host;
    bool is_found = false;

    if (host_parse_target(target, &host))
        return false;
    netindex_ask(&rule->index, &host, on_host, &is_found);
    return is_found;
}

static bool match(const struct rule *rule, const struct bawn_notice *notice)
{
    bool has_op = rule->ops == 0;

    for (unsigned i = 0; op_words[i] && !has_op; i++)
        has_op = (rule->ops & 1U << i) && strcmp(op_words[i], notice->op) == 0;
    return has_op && (!rule->path || rules_match_path(rule->path, notice->path)) &&
           (!rule->host || match_host(rule, notice->path)) &&
           (!rule->program || rules_match_path(rule->program, notice->exe));
}

void rules_ask(const struct rules *rules, const struct bawn_notice *notice,
               struct rules_verdict *ret_verdict)
{
    const struct rule *rule = rules->first;

    while (rule && !match(rule, notice))
        rule = rule->next;
    *ret_verdict = (struct rules_verdict){.answer = rules->otherwise};
    if (rule)
        *ret_verdict = (struct rules_verdict){
            .answer = rule->answer, .given = rule->given, .line = rule->line};
}
