/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/policy.h"
#include "config/packed.h"

#include "base/strbuf.h"
#include "policy/decide.h"
#include "policy/decide_net.h"

#include <stdlib.h>
#include <string.h>

static const struct place places[] = {
    {.name = "HOME", .path = TEST_HOME},
    {.name = "WORKSPACE", .path = TEST_WORKSPACE},
    {.name = "XDG_CONFIG_HOME", .path = TEST_HOME "/.config"},
    {.name = "XDG_CACHE_HOME", .path = TEST_HOME "/.cache"},
    {.name = NULL},
};

void test_policy_init(struct test_policy *test)
{
    *test = (struct test_policy){.base = TEST_WORKSPACE, .report = report_new()};
    test->policy.home = TEST_HOME;
    test->policy.workspace = TEST_WORKSPACE;
    test->policy.places = places;
    if (!test->report)
        abort();
}

void test_policy_done(struct test_policy *test)
{
    policy_done(&test->policy);
    bawn_report_free(test->report);
    test->report = NULL;
}

static struct config_source make_source(struct test_policy *test, const struct layer *layer,
                                        const char *file)
{
    return (struct config_source){.policy = &test->policy,
                                  .layer = layer,
                                  .file = file,
                                  .base = test->base,
                                  .report = test->report};
}

static int read_list(const struct config_source *source, enum rule_kind kind, const char *text)
{
    struct arena arena = {0};
    struct strbuf packed = {0};
    const struct node *root =
        node_from_yaml(&arena, source->file, text, strlen(text), source->report);
    int r;

    if (!root)
        abort();
    node_pack(root, &packed);
    r = config_read_list(source, kind, packed.text, packed.length);
    strbuf_done(&packed);
    arena_done(&arena);
    return r;
}

/* Read once: a search for faults loads them a million times. */
static struct test_policy *read_lists(void)
{
    static const char secrets[] = "secrets:\n"
                                  "  - {path: ~/.ssh, why: keys}\n"
                                  "  - {path: '/**/*.key', why: keys}\n";
    static const char protects[] = "protected:\n"
                                   "  - {path: '/**/.git/hooks', why: runs}\n";
    static struct test_policy lists;
    const struct layer *layer;
    struct config_source source;

    if (lists.report)
        return &lists;
    test_policy_init(&lists);
    layer = policy_add_layer(&lists.policy, LAYER_BUILTIN, AUTHORITY_BUILTIN, "built-in lists",
                             NULL, NULL);
    source = make_source(&lists, layer, "lists.yaml");
    if (!layer || read_list(&source, RULE_SECRET, secrets) < 0 ||
        read_list(&source, RULE_PROTECTED, protects) < 0)
        abort();
    return &lists;
}

void test_policy_lists(struct test_policy *test)
{
    const struct test_policy *lists = read_lists();
    const struct layer *layer = policy_add_layer(&test->policy, LAYER_BUILTIN, AUTHORITY_BUILTIN,
                                                 "built-in lists", NULL, NULL);

    if (!layer)
        abort();
    vec_each (&lists->policy.rules, rule) {
        struct path_rule copy = **rule;

        copy.layer = layer;
        if (policy_add_rule(&test->policy, &copy, test->report) < 0)
            abort();
    }
}

int test_policy_load(struct test_policy *test, enum layer_id id, enum authority authority,
                     enum config_format format, const char *file, const char *text, size_t length)
{
    struct config_document document = {.file = file};
    const struct layer *layer =
        policy_add_layer(&test->policy, id, authority, layer_word(id), file, NULL);
    struct config_source source = make_source(test, layer, file);
    int r;

    if (!layer)
        abort();
    r = config_parse(&document, format, text, length, test->report);
    if (r == 0)
        r = config_load(&source, &document);
    config_document_done(&document);
    return r;
}

int test_policy_finish(struct test_policy *test)
{
    struct bawn_error err = {0};
    int r = policy_finish(&test->policy, test->report, &err);

    if (r < 0)
        report_add(test->report, BAWN_ERROR, err.code, (struct origin){0}, "%s", err.message);
    return r;
}

char *test_policy_complaints(const struct test_policy *test)
{
    static const char *const severities[] = {"note", "warning", "error"};
    struct strbuf out = {0};

    for (size_t i = 0; i < bawn_report_count(test->report); i++) {
        const struct bawn_complaint *complaint = bawn_report_get(test->report, i);

        /* What this version does not carry out is no fault of the text. */
        if (strcmp(complaint->code, "policy.not_yet") == 0)
            continue;
        if (complaint->file)
            strbuf_addf(&out, "%s:%u:%u ", complaint->file, complaint->line, complaint->column);
        strbuf_addf(&out, "%s %s: %s\n", severities[complaint->severity], complaint->code,
                    complaint->text);
        if (*complaint->hint)
            strbuf_addf(&out, "  %s\n", complaint->hint);
    }
    return strbuf_take(&out);
}

static void add_rule(struct strbuf *out, const struct path_rule *rule)
{
    static const char *const kinds[] = {[RULE_PATH] = "path ",
                                        [RULE_PATTERN] = "",
                                        [RULE_SECRET] = "secret ",
                                        [RULE_PROTECTED] = "protected ",
                                        [RULE_SEALED] = "sealed "};

    strbuf_addf(out, "%s%s%s %s", kinds[rule->kind], rule_mode(rule), rule->wild ? " wild" : "",
                rule->path);
    if (rule->suffixes)
        strbuf_add(out, " suffixes");
    for (const char *const *suffix = rule->suffixes; suffix && *suffix; suffix++)
        strbuf_addf(out, " %s", *suffix);
    if (rule->max_file_bytes)
        strbuf_addf(out, " max %llu", (unsigned long long)rule->max_file_bytes);
    strbuf_add(out, "\n");
}

static void add_item(struct strbuf *out, const struct item *item)
{
    if (item->list == LIST_TOOL_RULES)
        strbuf_addf(out, "tool_rules.%s %s\n", item->key, access_word(item->access));
    else if (item->list == LIST_COMMAND_RULES)
        strbuf_addf(out, "tool_rules.%s %s: %s\n", item->key, access_word(item->access),
                    item->value);
    else if (item->key)
        strbuf_addf(out, "%s %s: %s\n", list_table[item->list].key, item->key, item->value);
    else
        strbuf_addf(out, "%s %s\n", list_table[item->list].key, item->value);
}

char *test_policy_text(const struct test_policy *test)
{
    const struct policy *policy = &test->policy;
    struct strbuf out = {0};

    for (unsigned id = 0; id < SETTING_COUNT; id++)
        if (policy->settings[id].is_set)
            strbuf_addf(&out, "%s = %s\n", setting_table[id].key, policy->settings[id].text);
    vec_each (&policy->rules, rule)
        add_rule(&out, *rule);
    vec_each (&policy->net_rules, rule) {
        strbuf_addf(&out, "%s host ", net_verdict_word(*rule));
        net_rule_words(*rule, &out);
        strbuf_add(&out, "\n");
    }
    vec_each (&policy->items, item)
        add_item(&out, item);
    return strbuf_take(&out);
}

char *test_document(enum config_format format, const char *file, const char *text, size_t length,
                    char **ret_text)
{
    struct test_policy test;
    char *complaints;

    test_policy_init(&test);
    (void)test_policy_load(&test, LAYER_USER, AUTHORITY_USER, format, file, text, length);
    (void)test_policy_finish(&test);
    complaints = test_policy_complaints(&test);
    if (ret_text)
        *ret_text = test_policy_text(&test);
    test_policy_done(&test);
    return complaints;
}

const char *test_policy_access(const struct test_policy *test, enum path_op op, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];

    if (decide_path(&test->policy, path, decisions) < 0)
        abort();
    return access_word(decisions[op].access);
}

const char *test_policy_connect(const struct test_policy *test, const char *target)
{
    struct net_decision decision;
    struct host host;
    const char *wrong = host_parse_target(target, &host);

    if (wrong)
        return wrong;
    decide_net(&test->policy, &host, &decision);
    return access_word(decision.access);
}
