/* SPDX-License-Identifier: Apache-2.0 */
/* Rules put into the text of a policy and taken out again: every other byte stays. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "config/diff.h"
#include "config/edit.h"
#include "lib/test.h"

#include <errno.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const char *before;
    struct edit_rule rule;
    const char *after; /* NULL: nothing changes */
};

#define LIST(list, entry)                                                                          \
    {                                                                                              \
        .key = "sandbox." list, .value = (entry)                                                   \
    }
#define PATH(root, word)                                                                           \
    {                                                                                              \
        .key = EDIT_PATHS, .value = (root), .mode = (word)                                         \
    }

static int try(const char *text, const struct edit_rule *rule, bool removes, struct strbuf *out,
               struct bawn_report *report)
{
    struct edit_text old = {"p.yaml", text, strlen(text)};

    return removes ? edit_remove(&old, rule, out, report) : edit_add(&old, rule, out, report);
}

static void check_rows(const struct row *rows, size_t count, bool removes)
{
    for (size_t i = 0; i < count; i++) {
        struct bawn_report *report = report_new();
        autostrbuf struct strbuf out = {0};
        int r = try(rows[i].before, &rows[i].rule, removes, &out, report);
        autofree char *complaints = bawn_report_print(report, BAWN_FORMAT_TEXT);

        ck_assert_msg(r >= 0, "row %zu: %s", i, complaints);
        ck_assert_msg(r == (rows[i].after ? 1 : 0), "row %zu: %d", i, r);
        if (rows[i].after)
            ck_assert_str_eq(out.text ? out.text : "", rows[i].after);
        bawn_report_free(report);
    }
}

#define ADDS(name, ...)                                                                            \
    START_TEST(name)                                                                               \
    {                                                                                              \
        static const struct row rows[] = {__VA_ARGS__};                                            \
                                                                                                   \
        check_rows(rows, COUNT(rows), false);                                                      \
    }                                                                                              \
    END_TEST
#define REMOVES(name, ...)                                                                         \
    START_TEST(name)                                                                               \
    {                                                                                              \
        static const struct row rows[] = {__VA_ARGS__};                                            \
                                                                                                   \
        check_rows(rows, COUNT(rows), true);                                                       \
    }                                                                                              \
    END_TEST

/* clang-format off */
ADDS(an_empty_file_gets_the_sections_too,
     {"", LIST("deny", "*.pem"), "sandbox:\n  deny:\n    - \"*.pem\"\n"},
     {"# mine\n", LIST("network.allow", "a.example:443"),
      "# mine\nsandbox:\n  network:\n    allow:\n      - a.example:443\n"},
     {"", PATH("/srv/data", "ro"), "sandbox:\n  paths:\n    data: {root: /srv/data, mode: ro}\n"},
     {"---\n", LIST("deny", "a"), "---\nsandbox:\n  deny:\n    - a\n"})

ADDS(a_list_in_lines_gets_a_line_behind_its_last,
     {"sandbox:\n  deny:\n    - a # why\n    # not yet: b\n  ask: [x]\n", LIST("deny", "c"),
      "sandbox:\n  deny:\n    - a # why\n    - c\n    # not yet: b\n  ask: [x]\n"},
     {"sandbox:\n  deny:\n  - 'a'\n", LIST("deny", "c"), "sandbox:\n  deny:\n  - 'a'\n  - c\n"},
     {"sandbox:\n    deny:\n        -   a\n", LIST("deny", "c"),
      "sandbox:\n    deny:\n        -   a\n        -   c\n"},
     {"sandbox:\n  network:\n    allow:\n      - host: a\n        opaque: true # ssh\n    mode: proxy\n",
      LIST("network.allow", "b:22 opaque"),
      "sandbox:\n  network:\n    allow:\n      - host: a\n        opaque: true # ssh\n"
      "      - \"b:22 opaque\"\n    mode: proxy\n"})

ADDS(the_last_line_may_lack_its_newline,
     {"sandbox:\n  deny:\n    - a", LIST("deny", "b"), "sandbox:\n  deny:\n    - a\n    - b\n"},
     {"version: 1", LIST("deny", "b"), "version: 1\nsandbox:\n  deny:\n    - b\n"})

ADDS(lines_that_end_as_on_other_systems_go_on_so,
     {"sandbox:\r\n  deny:\r\n    - a\r\n", LIST("deny", "b"),
      "sandbox:\r\n  deny:\r\n    - a\r\n    - b\r\n"})

ADDS(a_list_in_brackets_grows_in_them,
     {"sandbox:\n  deny: [a, 'b']  # two\n", LIST("deny", "c"),
      "sandbox:\n  deny: [a, 'b', c]  # two\n"},
     {"sandbox: {deny: []}\n", LIST("deny", "c"), "sandbox: {deny: [c]}\n"},
     {"sandbox: {deny: [a,]}\n", LIST("deny", "c"), "sandbox: {deny: [a, c,]}\n"},
     {"sandbox: {}\n", LIST("network.deny", "a:80"), "sandbox: {network: {deny: [\"a:80\"]}}\n"},
     {"{}\n", PATH("/x", "rw"), "{sandbox: {paths: {x: {root: /x, mode: rw}}}}\n"},
     {"sandbox:\n  deny: [\n    a,  # one\n    b   # two\n  ]\n", LIST("deny", "c"),
      "sandbox:\n  deny: [\n    a,  # one\n    b, c   # two\n  ]\n"})

ADDS(a_missing_key_goes_to_the_end_of_its_section,
     {"# top\nsandbox:\n    reads: strict   # no more\n\n    # about nothing\nversion: 1\n",
      LIST("network.allow", "a"),
      "# top\nsandbox:\n    reads: strict   # no more\n    network:\n        allow:\n            - a\n"
      "\n    # about nothing\nversion: 1\n"},
     {"sandbox:\n  reads: strict\n...\n", LIST("deny", "a"),
      "sandbox:\n  reads: strict\n  deny:\n    - a\n...\n"},
     {"sandbox:\n  ask:\n  - x\n", LIST("deny", "a"), "sandbox:\n  ask:\n  - x\n  deny:\n  - a\n"})

ADDS(a_key_with_nothing_behind_it_is_filled,
     {"sandbox:\n  deny: # none yet\n  reads: strict\n", LIST("deny", "a"),
      "sandbox:\n  deny: # none yet\n    - a\n  reads: strict\n"},
     {"sandbox:\nversion: 1\n", PATH("/x", "ro"),
      "sandbox:\n  paths:\n    x: {root: /x, mode: ro}\nversion: 1\n"})

ADDS(a_path_is_written_as_the_last_one_is,
     {"sandbox:\n  paths:\n    work: {root: ., mode: rw}\n", PATH("~/data/x", "ro"),
      "sandbox:\n  paths:\n    work: {root: ., mode: rw}\n    x: {root: \"~/data/x\", mode: ro}\n"},
     {"sandbox:\n  paths:\n    work:\n       root: .\n       mode: rw # all\n", PATH("/d", "ro"),
      "sandbox:\n  paths:\n    work:\n       root: .\n       mode: rw # all\n    d:\n"
      "       root: /d\n       mode: ro\n"})

ADDS(a_name_that_is_taken_gets_a_number,
     {"sandbox:\n  paths:\n    x: {root: /a/x, mode: ro}\n", PATH("/b/x", "ro"),
      "sandbox:\n  paths:\n    x: {root: /a/x, mode: ro}\n    x-2: {root: /b/x, mode: ro}\n"},
     {"", PATH("/b/.1", "ro"), "sandbox:\n  paths:\n    path: {root: /b/.1, mode: ro}\n"},
     {"", PATH("/b/a b:c", "ro"), "sandbox:\n  paths:\n    a-b-c: {root: \"/b/a b:c\", mode: ro}\n"})

ADDS(what_is_there_already_changes_nothing,
     {"sandbox: {deny: [a, \"b\"]}\n", LIST("deny", "b"), NULL},
     {"sandbox:\n  deny:\n    - a\n", LIST("deny", "a"), NULL},
     {"sandbox: {paths: {q: {mode: ro, root: /x}}}\n", PATH("/x", "ro"), NULL},
     {"sandbox: {paths: {q: {mode: rw, root: /x}}}\n", PATH("/x", "ro"), NULL})

ADDS(a_wider_mode_takes_the_place_of_the_other,
     {"sandbox:\n  paths:\n    q:\n      mode: 'ro'   # for now\n      root: /x\n", PATH("/x", "rw"),
      "sandbox:\n  paths:\n    q:\n      mode: rw   # for now\n      root: /x\n"},
     {"sandbox: {paths: {q: {root: /x, mode: ask}}}\n", PATH("/x", "ro"),
      "sandbox: {paths: {q: {root: /x, mode: ro}}}\n"})

ADDS(characters_of_several_bytes_are_counted,
     {"# \xc3\xa4\xe2\x82\xac\nsandbox:\n  deny: ['\xf0\x9f\x92\xa9', b] # \xc3\xa4\n", LIST("deny", "\xc3\xa4"),
      "# \xc3\xa4\xe2\x82\xac\nsandbox:\n  deny: ['\xf0\x9f\x92\xa9', b, \"\xc3\xa4\"] # \xc3\xa4\n"},
     {"\xef\xbb\xbfsandbox: {deny: [b]}\n", LIST("deny", "a"), "\xef\xbb\xbfsandbox: {deny: [b, a]}\n"})

ADDS(a_text_of_several_lines_is_passed_over,
     {"sandbox:\n  deny:\n    - |-\n      a\n\n  ask: [x]\n", LIST("deny", "b"),
      "sandbox:\n  deny:\n    - |-\n      a\n\n    - b\n  ask: [x]\n"})

ADDS(words_that_are_no_strings_are_quoted,
     {"", LIST("deny", "true"), "sandbox:\n  deny:\n    - \"true\"\n"},
     {"", LIST("deny", "12"), "sandbox:\n  deny:\n    - \"12\"\n"},
     {"", LIST("deny", "a: b #c"), "sandbox:\n  deny:\n    - \"a: b #c\"\n"},
     {"", LIST("deny", "a\nb"), "sandbox:\n  deny:\n    - \"a\\nb\"\n"},
     {"", LIST("network.allow", "[::1]:80"),
      "sandbox:\n  network:\n    allow:\n      - \"[::1]:80\"\n"})

REMOVES(an_entry_goes_with_its_line,
     {"sandbox:\n  deny:\n    # first\n    - a # why\n    - b\n", LIST("deny", "a"),
      "sandbox:\n  deny:\n    # first\n    - b\n"},
     {"sandbox:\n  deny:\n    - a\n    # - b\n    - b # why\n  ask: [x]\n", LIST("deny", "b"),
      "sandbox:\n  deny:\n    - a\n    # - b\n  ask: [x]\n"},
     {"sandbox:\n  paths:\n    a: {root: /a, mode: ro}\n    b:\n      root: /b\n      mode: rw\n",
      PATH("/b", "rw"), "sandbox:\n  paths:\n    a: {root: /a, mode: ro}\n"})

REMOVES(the_only_entry_takes_its_section_along,
     {"version: 1\nsandbox:\n  deny:\n    - a\n", LIST("deny", "a"), "version: 1\n"},
     {"sandbox:\n  reads: strict\n  deny:\n    - a\n", LIST("deny", "a"),
      "sandbox:\n  reads: strict\n"},
     {"sandbox:\n  deny: # mine\n    - a\n", LIST("deny", "a"), "sandbox:\n  deny: # mine\n"},
     {"sandbox:\n  network:\n    allow:\n      - a\n", LIST("network.allow", "a"), ""})

REMOVES(an_entry_in_brackets_takes_a_comma_along,
     {"sandbox: {deny: [a, b, c]}\n", LIST("deny", "b"), "sandbox: {deny: [a, c]}\n"},
     {"sandbox: {deny: [a, b, c]}\n", LIST("deny", "a"), "sandbox: {deny: [b, c]}\n"},
     {"sandbox: {deny: [a, b, c]}\n", LIST("deny", "c"), "sandbox: {deny: [a, b]}\n"},
     {"sandbox: {deny: [a,]}\n", LIST("deny", "a"), "sandbox: {deny: []}\n"},
     {"sandbox: {paths: {q: {root: /x, mode: ro}, r: {root: /y, mode: ro}}}\n", PATH("/x", "ro"),
      "sandbox: {paths: {r: {root: /y, mode: ro}}}\n"})

REMOVES(what_is_not_there_changes_nothing,
     {"", LIST("deny", "a"), NULL},
     {"sandbox: true\n", LIST("deny", "a"), NULL},
     {"sandbox: {deny: [b]}\n", LIST("deny", "a"), NULL},
     {"sandbox: {paths: {q: {root: /x, mode: rw}}}\n", PATH("/x", "ro"), NULL})
/* clang-format on */

static const struct {
    const char *before;
    struct edit_rule rule;
    const char *complaint; /* its beginning */
} refused[] = {
    {"sandbox:\n  network: true\n", LIST("network.allow", "a"),
     "p.yaml:2:12: error: no rule can be put in here: expected a map, found true or false\n"
     "hint: edit the file by hand; the rule is sandbox: {network: {allow: [a]}}\n"},
    {"sandbox:\n  deny: a\n", LIST("deny", "b"),
     "p.yaml:2:9: error: no rule can be put in here: expected a list, found a string"},
    {"sandbox:\n  deny: null\n", LIST("deny", "b"),
     "p.yaml:2:9: error: no rule can be put in here: expected a list, found nothing"},
    {"[a]\n", LIST("deny", "b"),
     "p.yaml:1:1: error: no rule can be put in here: expected a map, found a list"},
    {"a: &x [1]\nb: *x\n", LIST("deny", "b"), "p.yaml:1:4: error: a policy has no anchors"},
    {"sandbox: {}\n---\nsandbox: {}\n", LIST("deny", "b"),
     "p.yaml:2:1: error: a policy is one document"},
    {"sandbox:\n\tdeny: [a]\n", LIST("deny", "b"), "p.yaml:2:1: error: not YAML"},
    {"---\n...\n", LIST("deny", "b"),
     "p.yaml:2:1: error: no rule can be put in here: the file is written in a way"},
    {"? sandbox\n: deny: [a]\n", LIST("ask", "b"),
     "p.yaml:2:3: error: no rule can be put in here: the section does not start a line"},
    {"sandbox: {deny: [a\n  #c\n  ]}\n", PATH("/x\xff", "ro"),
     "p.yaml:1:1: error: no rule can be put in here: the rule is not UTF-8"},
    /* One key with a dot is not two, and a file may end its lines with a carriage return alone. */
    {"sandbox:\n s:\rsandbox.paths:\n  ", PATH("/x", "ro"),
     "p.yaml:1:1: error: no rule can be put in here: the file is written in a way"},
    {"sandbox: {paths: {q: {root: /x, mode: deny}}}\n", PATH("/x", "rw"),
     "p.yaml:1:39: error: no rule can be put in here: the path has mode deny"},
    {"sandbox: {paths: {q: {root: /x, mode: ro, suffixes: [.md]}}}\n", PATH("/x", "rw"),
     "p.yaml:1:19: error: no rule can be put in here: the file says more of this path"},
    {"\xff\xfes\0a\0", LIST("deny", "b"),
     "p.yaml:1:1: error: no rule can be put in here: the file is not UTF-8"},
};

START_TEST(what_cannot_be_extended_safely_is_refused_with_its_place)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct bawn_report *report = report_new();
        autostrbuf struct strbuf out = {0};
        int r = try(refused[i].before, &refused[i].rule, false, &out, report);
        autofree char *text = bawn_report_print(report, BAWN_FORMAT_TEXT);

        ck_assert_msg(r == -EINVAL, "row %zu: %d %s", i, r, out.text ? out.text : "");
        ck_assert_msg(strncmp(text, refused[i].complaint, strlen(refused[i].complaint)) == 0,
                      "row %zu: %s", i, text);
        bawn_report_free(report);
    }
}
END_TEST

START_TEST(a_comment_between_entries_in_brackets_is_not_lost)
{
    struct edit_rule rule = LIST("deny", "b");
    struct bawn_report *report = report_new();
    autostrbuf struct strbuf out = {0};

    ck_assert_int_eq(try("sandbox: {deny: [\n  a, # about b:\n  b]}\n", &rule, true, &out, report),
                     -EINVAL);
    bawn_report_free(report);
}
END_TEST

/* What was put in can be taken out again, and the file is as it was. */
START_TEST(there_and_back_is_the_same_file)
{
    static const char *const files[] = {
        "",
        "# c\n",
        "version: 1\n",
        "sandbox:\n  reads: strict # c\n\n# end\n",
        "sandbox:\n  deny:\n  - q\n  paths:\n      a: {root: /a, mode: ro}\n",
        "sandbox: {deny: [q]}\n",
        "sandbox:\n  network:\n    allow: [z]\n    deny:\n      - y\n",
    };
    static const struct edit_rule rules[] = {LIST("deny", "*.pem"), LIST("network.allow", "b:1"),
                                             LIST("network.deny", "c"), PATH("/d/e", "rw")};

    for (size_t i = 0; i < COUNT(files); i++) {
        for (size_t k = 0; k < COUNT(rules); k++) {
            autostrbuf struct strbuf there = {0};
            autostrbuf struct strbuf back = {0};

            ck_assert_int_eq(try(files[i], &rules[k], false, &there, NULL), 1);
            if (strchr(there.text, '{') && strchr(there.text, '[') && i == 5)
                continue; /* an empty list in brackets stays */
            ck_assert_int_eq(try(there.text, &rules[k], true, &back, NULL), 1);
            ck_assert_str_eq(back.text ? back.text : "", files[i]);
        }
    }
}
END_TEST

static void check_diff(const char *old, const char *new, const char *expected)
{
    struct diff_text a = {"a", old, strlen(old)};
    struct diff_text b = {"b", new, strlen(new)};
    autostrbuf struct strbuf out = {0};

    diff_unified(&a, &b, &out);
    ck_assert_str_eq(out.text ? out.text : "", expected);
}

START_TEST(a_diff_has_three_lines_around_each_change)
{
    check_diff("a\n", "a\n", "");
    check_diff("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
    check_diff("x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
    check_diff("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n",
               "--- a\n+++ b\n@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5\n");
    check_diff("a", "a\nb\n",
               "--- a\n+++ b\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n");
    check_diff(
        "x\n1\n2\n3\n4\n5\n6\n7\ny\n", "1\n2\n3\n4\n5\n6\n7\nz\n",
        "--- a\n+++ b\n@@ -1,4 +1,3 @@\n-x\n 1\n 2\n 3\n@@ -6,4 +5,4 @@\n 5\n 6\n 7\n-y\n+z\n");
}
END_TEST

static void add_group(Suite *suite, const char *name, const TTest *const *cases, size_t count)
{
    TCase *group = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
}

int main(void)
{
    Suite *suite = suite_create("edit");
    const TTest *const cases[] = {
        an_empty_file_gets_the_sections_too,
        a_list_in_lines_gets_a_line_behind_its_last,
        the_last_line_may_lack_its_newline,
        lines_that_end_as_on_other_systems_go_on_so,
        a_list_in_brackets_grows_in_them,
        a_missing_key_goes_to_the_end_of_its_section,
        a_key_with_nothing_behind_it_is_filled,
        a_path_is_written_as_the_last_one_is,
        a_name_that_is_taken_gets_a_number,
        what_is_there_already_changes_nothing,
        a_wider_mode_takes_the_place_of_the_other,
        characters_of_several_bytes_are_counted,
        a_text_of_several_lines_is_passed_over,
        words_that_are_no_strings_are_quoted,
        an_entry_goes_with_its_line,
        the_only_entry_takes_its_section_along,
        an_entry_in_brackets_takes_a_comma_along,
        what_is_not_there_changes_nothing,
        what_cannot_be_extended_safely_is_refused_with_its_place,
        a_comment_between_entries_in_brackets_is_not_lost,
        there_and_back_is_the_same_file,
        a_diff_has_three_lines_around_each_change,
    };

    add_group(suite, "edit", cases, COUNT(cases));
    return test_run(suite, "edit");
}
