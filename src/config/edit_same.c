/* SPDX-License-Identifier: Apache-2.0 */
#include "config/edit_same.h"

#include "base/vec.h"

#include <string.h>

/* One value with the keys above it, "sandbox.deny[]"; or that an entry of a list begins. */
struct fact {
    const char *key;
    enum node_kind kind;
    const char *text; /* "" of an entry that begins */
};

struct facts {
    struct arena arena;
    VEC(struct fact) all;
    bool failed;
};

static void add_fact(struct facts *facts, const char *key, const struct node *node)
{
    struct fact fact = {.key = key, .kind = node->kind, .text = node->text ? node->text : ""};

    if (!key || !vec_push(&facts->all, fact))
        facts->failed = true;
}

/* SECURITY: "a.b" as one key is not b below a, and "a[]" is no list: what makes a way of keys is
 * escaped in each of them. */
static const char *key_below(struct facts *facts, const char *above, const char *key)
{
    autostrbuf struct strbuf out = {0};

    strbuf_addf(&out, "%s%s", above, *above ? "." : "");
    for (; *key; key++) {
        if (strchr(".[\\", *key))
            strbuf_add(&out, "\\");
        strbuf_add_bytes(&out, key, 1);
    }
    return out.failed ? NULL : arena_strdup(&facts->arena, out.text ? out.text : "");
}

static void collect(struct facts *facts, const char *key, const struct node *node)
{
    if (node->kind == NODE_NULL || facts->failed)
        return;
    if (node->kind != NODE_LIST && node->kind != NODE_MAP) {
        add_fact(facts, key, node);
        return;
    }
    for (const struct node *child = node->first; child; child = child->next) {
        const char *below = node->kind == NODE_LIST ? arena_printf(&facts->arena, "%s[]", key)
                                                    : key_below(facts, key, child->key);

        if (node->kind == NODE_LIST && (child->kind == NODE_LIST || child->kind == NODE_MAP))
            add_fact(facts, below, child);
        if (!below)
            facts->failed = true;
        else
            collect(facts, below, child);
    }
}

static bool is_equal(const struct fact *a, const struct fact *b)
{
    return a->kind == b->kind && strcmp(a->key, b->key) == 0 && strcmp(a->text, b->text) == 0;
}

/* A value of one path: the text of rule.key.NAME.WORD. */
static bool is_of_path(const struct fact *fact, const struct edit_rule *rule, const char *word)
{
    size_t length = strlen(rule->key);
    const char *at;

    if (strncmp(fact->key, rule->key, length) != 0 || fact->key[length] != '.')
        return false;
    at = fact->key + length + 1;
    while (*at && *at != '.')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at == '.' && strcmp(at + 1, word) == 0;
}

static bool is_value(const struct fact *fact, const struct edit_rule *rule)
{
    return strcmp(fact->text, rule->value) == 0 ||
           (rule->is_same && rule->is_same(rule->context, fact->text));
}

/* The facts from one on are the rule; returns how many they are, 0: they are not. */
static size_t match_rule(const struct facts *facts, size_t at, const struct edit_rule *rule)
{
    const struct fact *fact = facts->all.items + at;
    size_t left = facts->all.count - at;
    size_t length = strlen(rule->key);

    if (!rule->mode)
        return left > 0 && strncmp(fact->key, rule->key, length) == 0 &&
                       strcmp(fact->key + length, "[]") == 0 && is_value(fact, rule)
                   ? 1
                   : 0;
    for (size_t i = 0; left >= 2 && i < 2; i++) {
        const struct fact *root = fact + i;
        const struct fact *mode = fact + 1 - i;

        if (is_of_path(root, rule, "root") && is_of_path(mode, rule, "mode") &&
            is_value(root, rule) && strcmp(mode->text, rule->mode) == 0)
            return 2;
    }
    return 0;
}

static bool differs_by_rule(const struct facts *less, const struct facts *more,
                            const struct edit_rule *rule, bool is_mode)
{
    size_t at = 0;
    size_t added;

    while (at < less->all.count && at < more->all.count &&
           is_equal(&less->all.items[at], &more->all.items[at]))
        at++;
    if (is_mode) {
        if (at >= more->all.count || at >= less->all.count ||
            !is_of_path(&more->all.items[at], rule, "mode") ||
            strcmp(more->all.items[at].text, rule->mode) != 0 ||
            strcmp(more->all.items[at].key, less->all.items[at].key) != 0)
            return false;
        at++;
        added = 0;
    } else {
        added = match_rule(more, at, rule);
        if (added == 0)
            return false;
    }
    if (more->all.count != less->all.count + added)
        return false;
    for (; at < less->all.count; at++)
        if (!is_equal(&less->all.items[at], &more->all.items[at + added]))
            return false;
    return true;
}

enum edit_difference edit_differs(const struct node *less, const struct node *more,
                                  const struct edit_rule *rule, bool is_mode)
{
    struct facts before = {0};
    struct facts after = {0};
    enum edit_difference result = EDIT_NO_MEMORY;

    collect(&before, "", less);
    collect(&after, "", more);
    if (!before.failed && !after.failed)
        result =
            differs_by_rule(&before, &after, rule, is_mode) ? EDIT_DIFFERS_BY_RULE : EDIT_DIFFERS;
    arena_done(&before.arena);
    arena_done(&after.arena);
    vec_done(&before.all);
    vec_done(&after.all);
    return result;
}
