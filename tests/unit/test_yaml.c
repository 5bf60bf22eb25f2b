/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of YAML policies: what is refused, where, and what a plain word is. */
#include "base/cleanup.h"
#include "base/limits.h"
#include "base/strbuf.h"
#include "config/packed.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPLAINS(name, text, expected) TEST_COMPLAINS(name, FORMAT_BAWN, "p.yaml", text, expected)
#define BECOMES(name, text, expected, expected_complaints)                                         \
    TEST_BECOMES(name, FORMAT_BAWN, "p.yaml", text, expected, expected_complaints)

/* The same for text that is made. */
static void complains(const char *text, const char *expected)
{
    autofree char *complaints = test_document(FORMAT_BAWN, "p.yaml", text, strlen(text), NULL);

    ck_assert_str_eq(complaints, expected);
}

COMPLAINS(duplicate_key_is_refused_at_the_second_one,
          "sandbox:\n"
          "  reads: strict\n"
          "  reads: static\n",
          "p.yaml:3:3 error config.duplicate_key: the key 'reads' is here twice\n")

COMPLAINS(duplicate_key_is_found_in_any_map,
          "sandbox:\n"
          "  paths:\n"
          "    a: {root: /x, mode: ro}\n"
          "    \"a\": {root: /y, mode: ro}\n",
          "p.yaml:4:5 error config.duplicate_key: the key 'a' is here twice\n")

BECOMES(same_key_in_two_maps_is_no_duplicate,
        "sandbox:\n"
        "  paths:\n"
        "    a: {root: /x, mode: ro}\n"
        "    b: {root: /y, mode: rw}\n",
        "path ro /x\n"
        "path rw /y\n",
        "")

COMPLAINS(tab_as_indentation_is_refused,
          "sandbox:\n"
          "\treads: strict\n",
          "p.yaml:2:1 error config.syntax: not YAML: found character that cannot start any token, "
          "while scanning for the next token\n")

COMPLAINS(truncated_file_is_refused, "sandbox: {paths: {work: {root: ., mode",
          "p.yaml:2:1 error config.syntax: not YAML: did not find expected ',' or '}', while "
          "parsing a flow mapping\n")

COMPLAINS(unclosed_quote_is_refused, "sandbox: {reads: \"strict}\n",
          "p.yaml:2:1 error config.syntax: not YAML: found unexpected end of stream, while "
          "scanning a quoted scalar\n")

COMPLAINS(anchor_on_a_scalar_is_refused,
          "sandbox:\n"
          "  reads: &r strict\n",
          "p.yaml:2:10 error config.alias: a policy has no anchors\n")

COMPLAINS(anchor_on_a_map_is_refused,
          "sandbox: &s\n"
          "  reads: strict\n",
          "p.yaml:1:10 error config.alias: a policy has no anchors or aliases\n")

COMPLAINS(anchor_on_a_key_is_refused,
          "&k sandbox:\n"
          "  reads: strict\n",
          "p.yaml:1:1 error config.alias: a policy has no anchors\n")

COMPLAINS(alias_is_refused,
          "a: [1]\n"
          "b: *x\n",
          "p.yaml:2:4 error config.alias: a policy has no anchors or aliases\n")

COMPLAINS(merge_key_is_an_unknown_key,
          "sandbox:\n"
          "  <<: {reads: strict}\n",
          "p.yaml:2:3 error config.unknown_key: unknown key sandbox.<<\n"
          "  the keys here are: paths, deny, ask, protect, confirm, network, ask_timeout, reads, "
          "require_os_sandbox, limits, process, devices, workspace_mount, home, repository, late, "
          "overlay_all, "
          "reopen\n")

COMPLAINS(tag_on_a_scalar_is_refused,
          "sandbox:\n"
          "  reads: !!str strict\n",
          "p.yaml:2:10 error config.tag: a policy has no tags (tag:yaml.org,2002:str)\n")

COMPLAINS(tag_on_a_map_is_refused,
          "sandbox: !!set\n"
          "  reads: strict\n",
          "p.yaml:1:10 error config.tag: a policy has no tags (tag:yaml.org,2002:set)\n")

COMPLAINS(tag_on_a_list_is_refused,
          "sandbox:\n"
          "  deny: !mine [a]\n",
          "p.yaml:2:9 error config.tag: a policy has no tags (!mine)\n")

COMPLAINS(tag_of_a_language_is_refused, "sandbox: !!python/object:os.system x\n",
          "p.yaml:1:10 error config.tag: a policy has no tags "
          "(tag:yaml.org,2002:python/object:os.system)\n")

COMPLAINS(two_documents_are_refused,
          "sandbox: {}\n"
          "---\n"
          "sandbox: {}\n",
          "p.yaml:2:1 error config.documents: a policy is one document\n")

BECOMES(document_marks_are_fine,
        "---\n"
        "sandbox: {reads: strict}\n"
        "...\n",
        "sandbox.reads = strict\n", "")

COMPLAINS(key_that_is_a_list_is_refused,
          "? [a, b]\n"
          ": c\n",
          "p.yaml:1:3 error config.key: a key must be a single word\n")

COMPLAINS(key_that_is_too_long_is_refused,
          "? "
          "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
          "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
          "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
          "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\n"
          ": c\n",
          "p.yaml:1:3 error config.key: a key has at most 255 bytes\n")

COMPLAINS(escaped_nul_is_refused, "sandbox: {deny: [\"a\\0b\"]}\n",
          "p.yaml:1:18 error config.nul: a NUL character in a value\n")

COMPLAINS(nul_byte_is_refused,
          "sandbox:\n"
          "  reads: str\000ict\n",
          "p.yaml:2:13 error config.syntax: not YAML: control characters are not allowed\n")

COMPLAINS(byte_that_is_not_utf8_is_refused,
          "sandbox:\n"
          "  deny: [\"\377\"]\n",
          "p.yaml:2:11 error config.syntax: not YAML: invalid leading UTF-8 octet\n")

COMPLAINS(truncated_utf8_is_refused, "sandbox: {deny: [a\303",
          "p.yaml:1:19 error config.syntax: not YAML: incomplete UTF-8 octet sequence\n")

COMPLAINS(control_character_is_refused,
          "sandbox:\n"
          "  reads: \033[31m\n",
          "p.yaml:2:10 error config.syntax: not YAML: control characters are not allowed\n")

COMPLAINS(byte_order_mark_is_skipped, "\357\273\277sandbx: {}\n",
          "p.yaml:1:1 error config.unknown_key: unknown key sandbx\n"
          "  did you mean 'sandbox'?\n")

START_TEST(nesting_at_the_limit_is_read_and_one_more_is_refused)
{
    autostrbuf struct strbuf deep = {0};

    strbuf_add(&deep, "x: ");
    for (int i = 0; i < LIMIT_CONFIG_DEPTH; i++)
        strbuf_add(&deep, "[");
    for (int i = 0; i < LIMIT_CONFIG_DEPTH; i++)
        strbuf_add(&deep, "]");
    complains(deep.text, "p.yaml:1:1 error config.unknown_key: unknown key x\n"
                         "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, "
                         "presets, tools\n");
    strbuf_done(&deep);
    strbuf_add(&deep, "x: ");
    for (int i = 0; i < LIMIT_CONFIG_DEPTH + 1; i++)
        strbuf_add(&deep, "[");
    complains(deep.text, "p.yaml:1:36 error config.too_deep: nested deeper than 32\n");
}
END_TEST

START_TEST(too_many_values_are_refused)
{
    autostrbuf struct strbuf many = {0};

    strbuf_add(&many, "sandbox: {deny: [");
    for (int i = 0; i < LIMIT_CONFIG_NODES; i++)
        strbuf_add(&many, "a,\n");
    strbuf_add(&many, "]}\n");
    complains(many.text,
              "p.yaml:399996:1 error config.too_large: more than 400000 values in one file\n");
}
END_TEST

START_TEST(complaints_end_after_a_hundred)
{
    autostrbuf struct strbuf many = {0};
    struct test_policy test;

    for (int i = 0; i < 2 * LIMIT_COMPLAINTS; i++)
        strbuf_addf(&many, "unknown%d: x\n", i);
    test_policy_init(&test);
    (void)test_policy_load(&test, LAYER_USER, AUTHORITY_USER, FORMAT_BAWN, "p.yaml", many.text,
                           many.length);
    ck_assert_uint_eq(bawn_report_count(test.report), LIMIT_COMPLAINTS + 1);
    ck_assert_str_eq(bawn_report_get(test.report, LIMIT_COMPLAINTS)->text,
                     "and more: only the first complaints are shown");
    ck_assert(report_has_errors(test.report));
    test_policy_done(&test);
}
END_TEST

BECOMES(empty_file_is_an_empty_policy, "", "", "")

BECOMES(comment_alone_is_an_empty_policy, "# nothing\n", "", "")

BECOMES(null_is_an_empty_policy, "~\n", "", "")

COMPLAINS(list_is_no_policy, "[sandbox]\n",
          "p.yaml:1:1 error config.bad_type: a policy: expected a map with the key 'sandbox', "
          "found a list\n")

COMPLAINS(word_is_no_policy, "sandbox\n",
          "p.yaml:1:1 error config.bad_type: a policy: expected a map with the key 'sandbox', "
          "found a string\n")

COMPLAINS(
    yes_is_not_true, "sandbox: {require_os_sandbox: yes}\n",
    "p.yaml:1:31 error config.bad_value: sandbox.require_os_sandbox: 'yes' is not true or false\n")

COMPLAINS(no_is_not_false,
          "sandbox:\n"
          "  process:\n"
          "    debug: no\n",
          "p.yaml:3:12 error config.bad_value: sandbox.process.debug: 'no' is not true or false\n")

COMPLAINS(
    on_and_off_are_words,
    "sandbox:\n"
    "  process: {debug: on, map_root: off}\n",
    "p.yaml:2:20 error config.bad_value: sandbox.process.debug: 'on' is not true or false\n"
    "p.yaml:2:34 error config.bad_value: sandbox.process.map_root: 'off' is not true or false\n")

COMPLAINS(
    capital_true_is_not_true, "sandbox: {require_os_sandbox: True}\n",
    "p.yaml:1:31 error config.bad_value: sandbox.require_os_sandbox: 'True' is not true or false\n")

BECOMES(quoted_true_sets_a_setting, "sandbox: {require_os_sandbox: \"true\"}\n",
        "sandbox.require_os_sandbox = true\n", "")

COMPLAINS(quoted_false_is_no_shorthand_for_the_network, "sandbox: {network: \"false\"}\n",
          "p.yaml:1:20 error config.bad_type: sandbox.network: expected true, false or a map, "
          "found a string\n")

COMPLAINS(hexadecimal_is_no_number, "sandbox: {limits: {pids: 0x10}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '0x10' is not a whole number, "
          "1 or more\n")

COMPLAINS(octal_is_no_number, "sandbox: {limits: {pids: 0o10}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '0o10' is not a whole number, "
          "1 or more\n")

COMPLAINS(negative_number_is_refused, "sandbox: {limits: {pids: -1}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '-1' is not a whole number, 1 "
          "or more\n")

COMPLAINS(exponent_is_refused, "sandbox: {limits: {pids: 1e3}}\n",
          "p.yaml:1:26 error config.bad_value: sandbox.limits.pids: '1e3' is not a whole number, 1 "
          "or more\n")

BECOMES(block_scalar_is_text,
        "sandbox:\n"
        "  process:\n"
        "    env:\n"
        "      set:\n"
        "        A: |\n"
        "          one\n"
        "          two\n",
        "sandbox.process.env.set A: one\n"
        "two\n"
        "\n",
        "")

BECOMES(folded_scalar_is_text,
        "tool_rules:\n"
        "  shell:\n"
        "    ask:\n"
        "      - >-\n"
        "        git\n"
        "        push\n",
        "tool_rules.shell ask: git push\n", "")

BECOMES(json_is_yaml, "{\"sandbox\": {\"reads\": \"static\", \"deny\": [\"a\"]}}",
        "sandbox.reads = static\n"
        "deny wild /w/**/a\n",
        "")

COMPLAINS(
    columns_count_characters_not_bytes, "{\"\303\251\303\251\": 1, x: 2}\n",
    "p.yaml:1:2 error config.unknown_key: unknown key \303\251\303\251\n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n"
    "p.yaml:1:11 error config.unknown_key: unknown key x\n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n")

COMPLAINS(
    complaint_shows_control_characters_escaped, "\"a\\e[31m\\u202e\": 1\n",
    "p.yaml:1:1 error config.unknown_key: unknown key a\\x1b[31m\\u{202e}\n"
    "  the keys here are: version, sandbox, tool_rules, profile, audit, lock, presets, tools\n")

/* Adds the cases of one group. */
static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
}

static void add_syntax(Suite *suite)
{
    const TTest *const cases[] = {
        duplicate_key_is_refused_at_the_second_one,
        duplicate_key_is_found_in_any_map,
        same_key_in_two_maps_is_no_duplicate,
        tab_as_indentation_is_refused,
        truncated_file_is_refused,
        unclosed_quote_is_refused,
        anchor_on_a_scalar_is_refused,
        anchor_on_a_map_is_refused,
        anchor_on_a_key_is_refused,
        alias_is_refused,
        merge_key_is_an_unknown_key,
        tag_on_a_scalar_is_refused,
        tag_on_a_map_is_refused,
        tag_on_a_list_is_refused,
        tag_of_a_language_is_refused,
        two_documents_are_refused,
        document_marks_are_fine,
        key_that_is_a_list_is_refused,
        key_that_is_too_long_is_refused,
        escaped_nul_is_refused,
        nul_byte_is_refused,
        byte_that_is_not_utf8_is_refused,
        truncated_utf8_is_refused,
        control_character_is_refused,
        byte_order_mark_is_skipped,
    };

    add_group(suite, "syntax", cases, COUNT(cases));
}

static void add_limits(Suite *suite)
{
    const TTest *const cases[] = {
        nesting_at_the_limit_is_read_and_one_more_is_refused,
        too_many_values_are_refused,
        complaints_end_after_a_hundred,
    };

    add_group(suite, "limits", cases, COUNT(cases));
}

static bool is_same(const struct node *one, const struct node *other)
{
    if (!one || !other)
        return one == other;
    return one->kind == other->kind && !one->text == !other->text &&
           (!one->text || strcmp(one->text, other->text) == 0) && !one->key == !other->key &&
           (!one->key || strcmp(one->key, other->key) == 0) &&
           one->origin.line == other->origin.line && one->origin.column == other->origin.column &&
           one->key_origin.line == other->key_origin.line &&
           one->key_origin.column == other->key_origin.column &&
           is_same(one->first, other->first) && is_same(one->next, other->next);
}

START_TEST(packed_document_is_the_same_and_a_part_of_it_is_none)
{
    static const char text[] =
        "a: [1, two, ~, true, '']\nb:\n  - {c: d, 'e f': \"g\\n\"}\n  - []\n";
    struct arena arena = {0};
    struct strbuf packed = {0};
    struct bawn_report *report = report_new();
    const struct node *root = node_from_yaml(&arena, "f", text, sizeof(text) - 1, report);

    ck_assert_ptr_nonnull(root);
    node_pack(root, &packed);
    ck_assert(is_same(root, node_unpack(&arena, "f", packed.text, packed.length)));
    for (size_t length = 0; length < packed.length; length++)
        ck_assert_ptr_null(node_unpack(&arena, "f", packed.text, length));
    strbuf_add_bytes(&packed, "", 1);
    ck_assert_ptr_null(node_unpack(&arena, "f", packed.text, packed.length));
    strbuf_done(&packed);
    arena_done(&arena);
    bawn_report_free(report);
}
END_TEST

static void add_words(Suite *suite)
{
    const TTest *const cases[] = {
        empty_file_is_an_empty_policy,
        comment_alone_is_an_empty_policy,
        null_is_an_empty_policy,
        list_is_no_policy,
        word_is_no_policy,
        yes_is_not_true,
        no_is_not_false,
        on_and_off_are_words,
        capital_true_is_not_true,
        quoted_true_sets_a_setting,
        quoted_false_is_no_shorthand_for_the_network,
        hexadecimal_is_no_number,
        octal_is_no_number,
        negative_number_is_refused,
        exponent_is_refused,
        block_scalar_is_text,
        folded_scalar_is_text,
        json_is_yaml,
        columns_count_characters_not_bytes,
        complaint_shows_control_characters_escaped,
        packed_document_is_the_same_and_a_part_of_it_is_none,
    };

    add_group(suite, "words", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("yaml");

    add_syntax(suite);
    add_limits(suite);
    add_words(suite);
    return test_run(suite, "yaml");
}
