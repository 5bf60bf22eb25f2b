/* SPDX-License-Identifier: Apache-2.0 */
/* A policy made from text, for tests: no file is read and nothing is built in. */
#ifndef TESTS_LIB_POLICY_H
#define TESTS_LIB_POLICY_H

#include "config/config.h"
#include "policy/build.h"

/* The home is /home/u, the workspace and the base of relative paths /w. */
struct test_policy {
    struct policy policy;
    struct bawn_report *report;
    const char *base;
};

#define TEST_HOME      "/home/u"
#define TEST_WORKSPACE "/w"

void test_policy_init(struct test_policy *test);
void test_policy_done(struct test_policy *test);

/* The two built-in lists, short: ~/.ssh, **.key are secrets, .git/hooks at any depth protected. */
void test_policy_lists(struct test_policy *test);

/* Reads a document into a layer of its own. file must outlive the policy. */
int test_policy_load(struct test_policy *test, enum layer_id id, enum authority authority,
                     enum config_format format, const char *file, const char *text, size_t length);

/* Makes the rules ready to be asked; complaints go to the report. */
int test_policy_finish(struct test_policy *test);

/*
 * All complaints, one line each, the hint on a line of its own:
 *     FILE:LINE:COLUMN severity code: text
 *       hint
 */
char *test_policy_complaints(const struct test_policy *test);

/*
 * All that is in the policy, in the order it was added, one line each:
 *     sandbox.reads = static
 *     path rw /x                   a literal path with a mode
 *     deny wild /w/x               a pattern, with "wild" when it has wildcards
 *     allow host example.org:443 opaque
 *     sandbox.process.env.set KEY: VALUE
 *     tool_rules.shell ask: git push
 */
char *test_policy_text(const struct test_policy *test);

/*
 * One document, read as the user's and alone: the complaints about it. The
 * policy it becomes goes to *ret_text, which may be NULL. Free both.
 */
char *test_document(enum config_format format, const char *file, const char *text, size_t length,
                    char **ret_text);

/* Cases for libcheck: a document and its complaints; a document, what it becomes, its complaints.
 */
#define TEST_COMPLAINS(name, format, file, text, expected)                                         \
    START_TEST(name)                                                                               \
    {                                                                                              \
        char *complaints = test_document((format), (file), (text), sizeof(text) - 1, NULL);        \
                                                                                                   \
        ck_assert_str_eq(complaints, (expected));                                                  \
        free(complaints);                                                                          \
    }                                                                                              \
    END_TEST

#define TEST_BECOMES(name, format, file, text, expected, expected_complaints)                      \
    START_TEST(name)                                                                               \
    {                                                                                              \
        char *policy = NULL;                                                                       \
        char *complaints = test_document((format), (file), (text), sizeof(text) - 1, &policy);     \
                                                                                                   \
        ck_assert_str_eq(complaints, (expected_complaints));                                       \
        ck_assert_str_eq(policy, (expected));                                                      \
        free(complaints);                                                                          \
        free(policy);                                                                              \
    }                                                                                              \
    END_TEST

/* "allow", "ask", "deny"... for an operation on a resolved path. */
const char *test_policy_access(const struct test_policy *test, enum path_op op, const char *path);
/* The same for HOST:PORT. */
const char *test_policy_connect(const struct test_policy *test, const char *target);

#endif
