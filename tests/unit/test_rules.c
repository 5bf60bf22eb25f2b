/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that answer in a person's place: which paths match, which rule counts, what is refused. */
#include "approvals/rules.h"
#include "lib/test.h"

#include <string.h>

static const struct {
    const char *pattern, *path;
    bool matches;
} paths[] = {
    {"/a", "/a", true},
    {"/a", "/a/b", false},
    {"/a", "/ab", false},
    {"/a/b", "/a", false},
    {"/", "/", true},
    {"/", "/a", false},
    {"/**", "/", true},
    {"/**", "/a", true},
    {"/**", "/a/b/c", true},
    {"/a/**", "/a", true},
    {"/a/**", "/a/b/c", true},
    {"/a/**", "/ab", false},
    {"/a/*", "/a/b", true},
    {"/a/*", "/a/b/c", false},
    {"/a/*", "/a", false},
    {"/**/b", "/b", true},
    {"/**/b", "/a/b", true},
    {"/**/b", "/a/b/c/b", true},
    {"/**/b", "/a/b/c", false},
    {"/a/**/z", "/a/z", true},
    {"/a/**/z", "/a/b/c/z", true},
    {"/a/**/m/**/z", "/a/m/z", true},
    {"/a/**/m/**/z", "/a/1/m/2/m/3/z", true},
    {"/a/**/m/**/z", "/a/1/2/z", false},
    {"/a/*.key", "/a/.key", true},
    {"/a/*.key", "/a/x.key", true},
    {"/a/*.key", "/a/x.keys", false},
    {"/a/[0-9]", "/a/5", true},
    {"/a/\\*", "/a/*", true},
    {"/a/\\*", "/a/b", false},
    /* What no path of a command's looks like matches nothing. */
    {"/**", "", false},
    {"/**", "a", false},
    {"/**", "/a/../b", false},
    {"/**", "/a/./b", false},
    {"/**", "/a//b", false},
    {"/**", "/a/", false},
    {"/**", "/..", false},
    {"/**", "a.example:443", false},
};

START_TEST(a_path_matches_a_pattern_as_a_whole)
{
    ck_assert_msg(rules_match_path(paths[_i].pattern, paths[_i].path) == paths[_i].matches,
                  "%s and %s", paths[_i].pattern, paths[_i].path);
}
END_TEST

static struct rules *load(const char *text)
{
    struct bawn_report *report = report_new();
    struct rules *rules = rules_load("r", text, strlen(text), report);

    bawn_report_free(report);
    return rules;
}

static struct rules_verdict ask(const char *text, const char *op, const char *path, const char *exe)
{
    const struct bawn_notice notice = {.op = op, .path = path, .exe = exe};
    struct rules *rules = load(text);
    struct rules_verdict verdict;

    ck_assert_ptr_nonnull(rules);
    rules_ask(rules, &notice, &verdict);
    rules_free(rules);
    return verdict;
}

START_TEST(the_first_rule_that_matches_counts_and_no_rule_is_a_no)
{
    static const char text[] = "rules:\n"
                               "- {path: /a/secret, answer: deny}\n"
                               "- {op: [read, exec], path: /a/**, answer: allow, scope: dir}\n"
                               "- {path: /b, program: /usr/bin/x, answer: ask}\n"
                               "- {path: /b, answer: allow, persist: project}\n";

    ck_assert_int_eq(ask(text, "read", "/a/secret", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "read", "/a/x", "").answer, RULES_ALLOW);
    ck_assert_int_eq(ask(text, "read", "/a/x", "").given.scope, BAWN_ANSWER_SESSION_TREE);
    ck_assert_uint_eq(ask(text, "read", "/a/x", "").line, 3);
    ck_assert_int_eq(ask(text, "write", "/a/x", "").answer, RULES_DENY);
    ck_assert_uint_eq(ask(text, "write", "/a/x", "").line, 0);
    ck_assert_int_eq(ask(text, "trace", "/a/x", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "read", "/b", "/usr/bin/x").answer, RULES_ASK);
    ck_assert_int_eq(ask(text, "read", "/b", "/usr/bin/y").given.scope, BAWN_ANSWER_SESSION);
    ck_assert_uint_eq(ask(text, "read", "/b", "").given.flags, BAWN_ANSWER_SAVE);
    ck_assert_int_eq(ask(text, "read", "/b", "").given.saved_in, BAWN_SCOPE_PROJECT);
    ck_assert_int_eq(ask("{default: ask, rules: []}", "read", "/a", "").answer, RULES_ASK);
    ck_assert_int_eq(ask("{default: deny, rules: }", "read", "/a", "").answer, RULES_DENY);
}
END_TEST

START_TEST(hosts_match_as_in_policies)
{
    static const char text[] = "rules:\n"
                               "- {host: '*.a.example:443', answer: allow}\n"
                               "- {host: 10.0.0.0/8, answer: allow, scope: host}\n";

    ck_assert_int_eq(ask(text, "connect", "x.a.example:443", "").answer, RULES_ALLOW);
    ck_assert_int_eq(ask(text, "connect", "X.A.example:443", "").answer, RULES_ALLOW);
    ck_assert_int_eq(ask(text, "connect", "x.a.example:80", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "connect", "a.example:443", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "connect", "x.a.example.evil:443", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "connect", "10.1.2.3:5", "").answer, RULES_ALLOW);
    ck_assert_int_eq(ask(text, "connect", "x.a.example", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "connect", "/run/x.a.example:443", "").answer, RULES_DENY);
    ck_assert_int_eq(ask(text, "connect", "", "").answer, RULES_DENY);
}
END_TEST

static const char *const refused[] = {
    "",
    "[]",
    "rules: {}",
    "rules: [{}]",
    "rules: [{answer: allow}]",
    "rules: [{answer: allow, op: read}]",
    "rules: [{answer: allow, path: a}]",
    "rules: [{answer: allow, path: /a/../b}]",
    "rules: [{answer: allow, path: /a//b}]",
    "rules: [{answer: allow, path: /a/}]",
    "rules: [{answer: allow, path: [/a]}]",
    "rules: [{answer: allow, path: /a, host: b}]",
    "rules: [{answer: allow, path: /a, host: b, persist: user}]",
    "rules: [{answer: allow, path: /a, answer: deny}]",
    "rules: [{answer: allow, path: /a, scope: host}]",
    "rules: [{answer: ask, path: /a, scope: file}]",
    "rules: [{answer: allow, path: /a, op: []}]",
    "rules: [{answer: allow, path: /a, persist: ever}]",
    "rules: [&a {answer: deny}, *a]",
    "{rules: [], more: 1}",
    "{rules: [], default: allow}",
};

START_TEST(what_makes_no_sense_is_refused)
{
    ck_assert_msg(!load(refused[_i]), "%s", refused[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rules");
    TCase *all = tcase_create("rules");

    tcase_add_loop_test(all, a_path_matches_a_pattern_as_a_whole, 0,
                        (int)(sizeof(paths) / sizeof(paths[0])));
    tcase_add_test(all, the_first_rule_that_matches_counts_and_no_rule_is_a_no);
    tcase_add_test(all, hosts_match_as_in_policies);
    tcase_add_loop_test(all, what_makes_no_sense_is_refused, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    suite_add_tcase(suite, all);
    return test_run(suite, "rules");
}
