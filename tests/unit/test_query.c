/* SPDX-License-Identifier: Apache-2.0 */
/* The query API: texts that are an interface, codes, and many threads on one policy. */
#include "api/api.h"
#include "base/cleanup.h"
#include "lib/load.h"

#include <pthread.h>
#include <string.h>

static const char two_trees[] = "sandbox:\n"
                                "  paths:\n"
                                "    docs: {root: /srv/docs, mode: ro, suffixes: [.md], "
                                "max_file_bytes: 10}\n"
                                "    work: {root: /srv/work, mode: rw}\n"
                                "  deny: [/srv/work/private]\n"
                                "  ask: [/srv/asked]\n"
                                "  network: {mode: proxy, allow: [a.example], deny: [b.example]}\n";

struct golden {
    enum bawn_operation operation;
    const char *what;
    int verdict;
    const char *code;
    const char *text;
};

static const struct golden goldens[] = {
    {BAWN_READ, "/srv/docs/a.md", BAWN_ALLOW, "read.allowed", ""},
    {BAWN_READ, "/etc/x", BAWN_DENY, "read.outside",
     "Cannot read '/etc/x': path is outside sandbox.\nReadable paths: /srv/docs, /srv/work"},
    {BAWN_WRITE, "/srv/docs/a.md", BAWN_DENY, "write.read_only",
     "Cannot write to '/srv/docs/a.md': path is read-only.\nWritable paths: /srv/work"},
    {BAWN_WRITE, "/etc/x", BAWN_DENY, "write.outside",
     "Cannot write to '/etc/x': path is outside sandbox.\nWritable paths: /srv/work"},
    {BAWN_EXEC, "/bin/no", BAWN_DENY, "exec.outside",
     "Cannot execute '/bin/no': path is outside sandbox.\nReadable paths: /srv/docs, /srv/work"},
    {BAWN_READ, "/srv/work/private/x", BAWN_DENY, "read.denied",
     "Cannot read '/srv/work/private/x': path is denied by policy.\n"
     "Readable paths: /srv/docs, /srv/work"},
    {BAWN_READ, "/srv/asked", BAWN_ASK, "read.ask",
     "Cannot read '/srv/asked' without approval.\nReadable paths: /srv/docs, /srv/work"},
    {BAWN_READ, "/srv/none/../x", BAWN_DENY, "path.dotdot",
     "Cannot read '/srv/none/../x': path cannot be resolved ('..' behind '/srv/none', which does "
     "not exist inside the sandbox).\nReadable paths: /srv/docs, /srv/work"},
    {BAWN_READ, "/etc/a\033[2Jb\n", BAWN_DENY, "read.outside",
     "Cannot read '/etc/a\\x1b[2Jb\\n': path is outside sandbox.\n"
     "Readable paths: /srv/docs, /srv/work"},
    {BAWN_CONNECT, "a.example:443", BAWN_ALLOW, "network.allowed", ""},
    {BAWN_CONNECT, "b.example:443", BAWN_DENY, "network.denied",
     "Cannot connect to 'b.example:443': host is denied by policy.\nAllowed hosts: a.example"},
    {BAWN_CONNECT, "c.example:443", BAWN_DENY, "network.unlisted",
     "Cannot connect to 'c.example:443': host is not allowed.\nAllowed hosts: a.example"},
    {BAWN_CONNECT, "10.1.2.3:443", BAWN_DENY, "network.special_address",
     "Cannot connect to '10.1.2.3:443': private addresses must be listed by address.\n"
     "Allowed hosts: a.example"},
};

START_TEST(refusals_have_their_exact_texts)
{
    const struct golden *golden = &goldens[_i];
    struct bawn_policy *policy = load_text(two_trees);
    struct bawn_decision *decision = NULL;
    struct bawn_error err = {0};

    ck_assert_int_eq(bawn_decide(policy, golden->operation, golden->what, &decision, &err),
                     golden->verdict);
    ck_assert_int_eq((int)bawn_decision_verdict(decision), golden->verdict);
    ck_assert_str_eq(bawn_decision_code(decision), golden->code);
    ck_assert_str_eq(bawn_decision_text(decision), golden->text);
    bawn_decision_free(decision);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(no_network_says_so_for_every_host)
{
    struct bawn_policy *policy = load_text("sandbox: {}\n");
    struct bawn_decision *decision = NULL;

    ck_assert_int_eq(bawn_decide(policy, BAWN_CONNECT, "a.example:1", &decision, NULL), BAWN_DENY);
    ck_assert_str_eq(bawn_decision_code(decision), "network.disabled");
    ck_assert_str_eq(bawn_decision_text(decision), "Network access is disabled for this worker");
    bawn_decision_free(decision);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(what_cannot_be_reached_is_not_resolved)
{
    struct bawn_policy *policy = load_text(
        "sandbox: {paths: {a: {root: /srv/a, mode: ro}, b: {root: /srv/b, mode: ask}}}\n");
    struct bawn_error err = {0};
    char *path = NULL;

    ck_assert_int_eq(bawn_reach(policy, "/srv/a/x/../y", &path, &err), -EACCES);
    ck_assert_int_eq(bawn_reach(policy, "/srv/a/./y", &path, &err), 0);
    ck_assert_str_eq(path, "/srv/a/y");
    free(path);
    path = NULL;
    ck_assert_int_eq(bawn_reach(policy, "/srv/c", &path, &err), -EACCES);
    ck_assert_str_eq(err.code, "read.outside");
    ck_assert_ptr_nonnull(strstr(err.message, "Cannot read '/srv/c': path is outside sandbox."));
    ck_assert_int_eq(bawn_reach(policy, "/srv/b/x", &path, &err), -EACCES);
    ck_assert_ptr_null(path);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(nothing_writable_is_none)
{
    struct bawn_policy *policy =
        load_text("sandbox: {paths: {a: {root: /srv/a, mode: ro}}, deny: []}\n");
    struct bawn_decision *decision = NULL;

    ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, "/srv/a/x", &decision, NULL), BAWN_DENY);
    ck_assert_str_eq(bawn_decision_text(decision),
                     "Cannot write to '/srv/a/x': path is read-only.\nWritable paths: none");
    bawn_decision_free(decision);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(suffix_and_size_have_their_exact_texts)
{
    struct bawn_policy *policy = load_text(two_trees);
    struct bawn_decision *decision = NULL;

    ck_assert_int_eq(bawn_check_suffix(policy, "/srv/docs/a.md", NULL, NULL), BAWN_ALLOW);
    ck_assert_int_eq(bawn_check_suffix(policy, "/srv/work/a.txt", NULL, NULL), BAWN_ALLOW);
    ck_assert_int_eq(bawn_check_suffix(policy, "/srv/docs/a.txt", &decision, NULL), BAWN_DENY);
    ck_assert_str_eq(bawn_decision_code(decision), "suffix.not_allowed");
    ck_assert_str_eq(bawn_decision_text(decision), "Cannot access '/srv/docs/a.txt': suffix not "
                                                   "allowed.\nAllowed suffixes: .md");
    bawn_decision_free(decision);
    ck_assert_int_eq(bawn_check_size(policy, "/srv/docs/a.md", 10, NULL, NULL), BAWN_ALLOW);
    ck_assert_int_eq(bawn_check_size(policy, "/srv/docs/a.md", 11, &decision, NULL), BAWN_DENY);
    ck_assert_str_eq(bawn_decision_code(decision), "size.too_large");
    ck_assert_str_eq(bawn_decision_text(decision),
                     "Cannot read '/srv/docs/a.md': file too large (11 bytes).\n"
                     "Maximum allowed: 10 bytes");
    bawn_decision_free(decision);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(decision_names_rule_file_line_and_column)
{
    struct bawn_policy *policy = load_text(two_trees);
    struct bawn_decision *decision = NULL;

    ck_assert_int_eq(bawn_decide(policy, BAWN_WRITE, "/srv/work/./a//b", &decision, NULL),
                     BAWN_ALLOW);
    ck_assert_str_eq(bawn_decision_rule(decision), "paths.work");
    ck_assert_str_eq(bawn_decision_file(decision), "policy.yaml");
    ck_assert_uint_eq(bawn_decision_line(decision), 4);
    ck_assert_uint_eq(bawn_decision_column(decision), 5);
    ck_assert_str_eq(bawn_decision_target(decision), "/srv/work/a/b");
    bawn_decision_free(decision);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(senseless_questions_are_errors_never_a_yes)
{
    static const char *const targets[] = {
        "",        "a",        "a:0",           "a:70000",       "a:b",
        "*.x:1",   "127.1:80", "0x7f000001:80", "2130706433:80", "a..b:1",
        "[::1:80", "a b:1",    "http://a:1",    "10.0.0.0/8:1",  "a\n:1"};
    struct bawn_policy *policy = load_text(two_trees);
    struct bawn_error err;

    ck_assert_int_lt(bawn_decide(policy, BAWN_READ, "", NULL, &err), 0);
    ck_assert_str_eq(err.code, "path.empty");
    ck_assert_int_lt(bawn_decide(policy, (enum bawn_operation)42, "/srv/docs/a.md", NULL, &err), 0);
    ck_assert_str_eq(err.code, "query.bad_operation");
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        ck_assert_msg(bawn_decide(policy, BAWN_CONNECT, targets[i], NULL, &err) < 0, "%s",
                      targets[i]);
        ck_assert_str_eq(err.code, "network.bad_target");
    }
    bawn_policy_free(policy);
}
END_TEST

static void *ask_many(void *context)
{
    const struct bawn_policy *policy = context;
    uintptr_t wrong = 0;

    for (int i = 0; i < 20000; i++) {
        struct bawn_decision *decision = NULL;

        wrong += bawn_decide(policy, BAWN_READ, "/srv/docs/a", NULL, NULL) != BAWN_ALLOW;
        wrong += bawn_decide(policy, BAWN_WRITE, "/srv/docs/a", &decision, NULL) != BAWN_DENY;
        wrong += strcmp(bawn_decision_code(decision), "write.read_only") != 0;
        bawn_decision_free(decision);
        wrong += bawn_decide(policy, BAWN_CONNECT, "b.example:1", NULL, NULL) != BAWN_DENY;
    }
    return (void *)wrong;
}

START_TEST(several_threads_ask_one_policy)
{
    struct bawn_policy *policy = load_text(two_trees);
    pthread_t threads[4];
    void *wrong;

    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_many, policy), 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    bawn_policy_free(policy);
}
END_TEST

START_TEST(failed_load_gives_every_complaint_and_no_policy)
{
    static const char text[] = "sandbox:\n  reeds: strict\n  limits: {pids: many}\n";
    struct bawn_policy *policy = NULL;
    struct bawn_report *report = NULL;
    struct bawn_load *load = NULL;
    struct bawn_error err = {0};

    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    bawn_load_isolated(load, true);
    ck_assert_int_eq(bawn_load_text(load, "p.yaml", text, strlen(text), "bawn", &err), 0);
    ck_assert_int_lt(bawn_policy_load(load, &policy, &report, &err), 0);
    ck_assert_ptr_null(policy);
    ck_assert_str_eq(err.message, "p.yaml:2:3: unknown key sandbox.reeds");
    ck_assert_str_eq(err.hint, "did you mean 'reads'?");
    ck_assert_uint_eq(bawn_report_count(report), 2);
    ck_assert_str_eq(bawn_report_get(report, 1)->text,
                     "sandbox.limits.pids: 'many' is not a whole number, 1 or more");
    ck_assert_ptr_null(bawn_report_get(report, 2));
    bawn_report_free(report);
    bawn_load_free(load);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("query");
    TCase *all = tcase_create("query");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, refusals_have_their_exact_texts, 0,
                        sizeof(goldens) / sizeof(goldens[0]));
    tcase_add_test(all, no_network_says_so_for_every_host);
    tcase_add_test(all, nothing_writable_is_none);
    tcase_add_test(all, what_cannot_be_reached_is_not_resolved);
    tcase_add_test(all, suffix_and_size_have_their_exact_texts);
    tcase_add_test(all, decision_names_rule_file_line_and_column);
    tcase_add_test(all, senseless_questions_are_errors_never_a_yes);
    tcase_add_test(all, several_threads_ask_one_policy);
    tcase_add_test(all, failed_load_gives_every_complaint_and_no_policy);
    suite_add_tcase(suite, all);
    return test_run(suite, "query");
}
