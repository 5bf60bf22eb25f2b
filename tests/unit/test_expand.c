/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and patterns as users write them, made absolute. */
#include "base/cleanup.h"
#include "base/limits.h"
#include "config/expand.h"
#include "lib/policy.h"
#include "lib/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const char *base;
    const char *text;
    const char *path;  /* NULL: refused */
    const char *wrong; /* NULL: accepted */
    bool wild;
};

static void check_row(const struct row *row, bool is_pattern)
{
    struct test_policy test;
    const char *wrong = "unset";
    const char *path;
    bool wild = false;

    test_policy_init(&test);
    path = is_pattern ? expand_pattern(&test.policy, row->base, row->text, &wild, &wrong)
                      : expand_path(&test.policy, row->base, row->text, &wrong);
    if (row->wrong) {
        ck_assert_msg(!path, "%s is %s", row->text, path);
        ck_assert_str_eq(wrong, row->wrong);
    } else {
        ck_assert_msg(path, "%s: %s", row->text, wrong);
        ck_assert_str_eq(path, row->path);
        ck_assert_msg(wild == row->wild, "%s", row->text);
    }
    test_policy_done(&test);
}

static void check_paths(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], false);
}

static void check_patterns(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], true);
}

START_TEST(a_whole_name_stands_for_the_workspace)
{
    static const struct row rows[] = {
        {"/w", "~/p/$WORKSPACE_DASHED", "/home/u/p/-w", NULL, false},
        {"/w", "~/$WORKSPACE_DASHED/x", "/home/u/-w/x", NULL, false},
        {"/w", "~/x$WORKSPACE_DASHED", "/home/u/x$WORKSPACE_DASHED", NULL, false},
        {"/w", "$WORKSPACE_DASHED/x", NULL,
         "no such variable: HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used", false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_starts_at_the_root_or_at_the_base)
{
    static const struct row rows[] = {
        {"/w", "/x", "/x", NULL, false}, {"/w", "x/y", "/w/x/y", NULL, false},
        {"/w", ".", "/w", NULL, false},  {"/w", "./x", "/w/x", NULL, false},
        {"/", "x", "/x", NULL, false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_starts_at_a_place)
{
    static const struct row rows[] = {
        {"/w", "~", "/home/u", NULL, false},
        {"/w", "~/x", "/home/u/x", NULL, false},
        {"/w", "$HOME", "/home/u", NULL, false},
        {"/w", "${HOME}/x", "/home/u/x", NULL, false},
        {"/w", "$WORKSPACE/x", "/w/x", NULL, false},
        {"/w", "$XDG_CONFIG_HOME/a", "/home/u/.config/a", NULL, false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_loses_slashes_and_dots)
{
    static const struct row rows[] = {
        {"/w", "//a///b/./c//", "/a/b/c", NULL, false},
        {"/w", "/", "/", NULL, false},
        {"/w", "/.", "/", NULL, false},
        {"/w", "~//x/", "/home/u/x", NULL, false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_keeps_every_other_byte)
{
    static const struct row rows[] = {
        {"/w", "/a*b[c]?\\d", "/a*b[c]?\\d", NULL, false},
        {"/w", "/a b\tc", "/a b\tc", NULL, false},
        {"/w", "...", "/w/...", NULL, false},
        {"/w", "..x", "/w/..x", NULL, false},
        {"/w", "/a/..b", "/a/..b", NULL, false},
        {"/w", "/\303\251", "/\303\251", NULL, false},
        {"/a*", "x", "/a*/x", NULL, false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(dotdot_goes_up_in_front_only)
{
    static const struct row rows[] = {
        {"/w/a", "..", "/w", NULL, false},
        {"/w/a", "../b", "/w/b", NULL, false},
        {"/w/a", "../../b", "/b", NULL, false},
        {"/w", "../../../b", "/b", NULL, false},
        {"/w", "a/..", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "/..", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "/a/../b", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "~/..", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "./../x", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "../a/../b", NULL, "'..' can only stand in front of a relative path", false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_that_makes_no_sense_is_refused)
{
    static const struct row rows[] = {
        {"/w", "", NULL, "an empty path", false},
        {"/w", "~bob", NULL, "~ stands for your own home only: write ~/...", false},
        {"/w", "$", NULL,
         "no such variable: HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used", false},
        {"/w", "$NOPE/x", NULL,
         "no such variable: HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used", false},
        {"/w", "${HOME", NULL, "a ${ without its }", false},
        {"/w", "$HOMEx", NULL,
         "no such variable: HOME, WORKSPACE, XDG_CONFIG_HOME and the like can be used", false},
        {"/w", "${HOME}x", NULL, "behind a variable there can only be a /", false},
        {"/w", "$HOME.x", NULL, "behind a variable there can only be a /", false},
    };

    check_paths(rows, COUNT(rows));
}
END_TEST

START_TEST(path_has_a_greatest_length)
{
    char longest[LIMIT_PATH_BYTES];
    char too_long[LIMIT_PATH_BYTES + 1];
    struct row row = {"/", longest, longest, NULL, false};

    memset(longest, 'a', sizeof(longest));
    longest[0] = '/';
    longest[sizeof(longest) - 1] = '\0';
    check_row(&row, false);
    check_row(&row, true);
    memset(too_long, 'a', sizeof(too_long));
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    row = (struct row){"/", too_long, NULL, "longer than a path can be", false};
    check_row(&row, false);
    check_row(&row, true);
}
END_TEST

START_TEST(pattern_without_a_slash_matches_at_any_depth)
{
    static const struct row rows[] = {
        {"/w", ".env", "/w/**/.env", NULL, true}, {"/w", "*.key", "/w/**/*.key", NULL, true},
        {"/w", "dir/", "/w/**/dir", NULL, true},  {"/w", "..data", "/w/**/..data", NULL, true},
        {"/w", "...", "/w/**/...", NULL, true},   {"/", "x", "/**/x", NULL, true},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

START_TEST(pattern_with_a_slash_inside_is_anchored)
{
    static const struct row rows[] = {
        {"/w", "a/b", "/w/a/b", NULL, false},
        {"/w", "./a", "/w/a", NULL, false},
        {"/w", "a/*.c", "/w/a/*.c", NULL, true},
        {"/w", "**/a", "/w/**/a", NULL, true},
        {"/w", "/a", "/a", NULL, false},
        {"/w", "~/a", "/home/u/a", NULL, false},
        {"/w", "$WORKSPACE/a", "/w/a", NULL, false},
        {"/w", "../a", "/a", NULL, false},
        {"/w", "..", "/", NULL, false},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

START_TEST(pattern_without_wildcards_is_a_literal_path)
{
    static const struct row rows[] = {
        {"/w", "/a/b", "/a/b", NULL, false},     {"/w", "/a\\*b", "/a*b", NULL, false},
        {"/w", "/a\\\\b", "/a\\b", NULL, false}, {"/w", "/a\\[b", "/a[b", NULL, false},
        {"/w", "~", "/home/u", NULL, false},     {"/w", ".", "/w", NULL, false},
        {"/w", "/", "/", NULL, false},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

START_TEST(pattern_loses_its_tail)
{
    static const struct row rows[] = {
        {"/w", "/a/**", "/a", NULL, false},    {"/w", "/a/**/", "/a", NULL, false},
        {"/w", "/a/**/**", "/a", NULL, false}, {"/w", "/a/", "/a", NULL, false},
        {"/w", "a/**", "/w/a", NULL, false},   {"/w", "**", "/w", NULL, false},
        {"/w", "/**", "/", NULL, false},       {"/w", "/a/*", "/a/*", NULL, true},
        {"/w", "/a*/**", "/a*", NULL, true},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

START_TEST(directory_with_a_star_in_its_name_is_no_wildcard)
{
    static const struct row rows[] = {
        {"/w/a*[b]", "x/y", "/w/a*[b]/x/y", NULL, false},
        {"/w/a*", "x", "/w/a\\*/**/x", NULL, true},
        {"/w/a*", ".", "/w/a*", NULL, false},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

START_TEST(pattern_that_makes_no_sense_is_refused)
{
    static const struct row rows[] = {
        {"/w", "", NULL, "an empty path", false},
        {"/w", "!a", NULL,
         "a pattern cannot be negated: give the path a mode of its own in sandbox.paths", false},
        {"/w", "a[b", NULL, "a [ without its ]", false},
        {"/w", "a\\", NULL, "a \\ at the end escapes nothing", false},
        {"/w", "/a/\\../b", NULL, "an escaped '.' or '..' names nothing", false},
        {"/w", "/a/\\./*", NULL, "an escaped '.' or '..' names nothing", false},
        {"/w", "a/../*", NULL, "'..' can only stand in front of a relative path", false},
        {"/w", "~bob/*", NULL, "~ stands for your own home only: write ~/...", false},
    };

    check_patterns(rows, COUNT(rows));
}
END_TEST

/* Adds the cases of one group. */
static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
}

static void add_path(Suite *suite)
{
    const TTest *const cases[] = {
        a_whole_name_stands_for_the_workspace,
        path_starts_at_the_root_or_at_the_base,
        path_starts_at_a_place,
        path_loses_slashes_and_dots,
        path_keeps_every_other_byte,
        dotdot_goes_up_in_front_only,
        path_that_makes_no_sense_is_refused,
        path_has_a_greatest_length,
    };

    add_group(suite, "path", cases, COUNT(cases));
}

static void add_pattern(Suite *suite)
{
    const TTest *const cases[] = {
        pattern_without_a_slash_matches_at_any_depth,     pattern_with_a_slash_inside_is_anchored,
        pattern_without_wildcards_is_a_literal_path,      pattern_loses_its_tail,
        directory_with_a_star_in_its_name_is_no_wildcard, pattern_that_makes_no_sense_is_refused,
    };

    add_group(suite, "pattern", cases, COUNT(cases));
}

int main(void)
{
    Suite *suite = suite_create("expand");

    add_path(suite);
    add_pattern(suite);
    return test_run(suite, "expand");
}
