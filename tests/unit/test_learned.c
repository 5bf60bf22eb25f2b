/* SPDX-License-Identifier: Apache-2.0 */
/* What a command used, folded into few paths. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "policy/learned.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As the real one: not the home, not what is above it. */
static bool may_fold(void *context, const char *dir)
{
    (void)context;
    return path_depth(dir) >= 2 && strcmp(dir, "/home/ada") != 0;
}

/* "w:" before a path: it was written. */
static void use(struct learned_paths *learned, const char *path, bool is_dir)
{
    bool writes = strncmp(path, "w:", 2) == 0;

    ck_assert_int_eq(learned_add(learned, path + (writes ? 2 : 0), writes, is_dir, "cat", 1), 0);
}

/* One line for each that is left: w: where it may be written, / at the end of a directory. */
static char *fold(struct learned_paths *learned)
{
    struct strbuf out = {0};

    ck_assert_int_eq(learned_fold(learned, may_fold, NULL), 0);
    vec_each (&learned->all, path)
        strbuf_addf(&out, "%s%s%s\n", path->writes ? "w:" : "", path->path,
                    path->is_dir ? "/" : "");
    return strbuf_take(&out);
}

static void folds(const char *const *paths, size_t count, const char *expected)
{
    struct learned_paths learned = {0};
    autofree char *folded = NULL;

    for (size_t i = 0; i < count; i++)
        use(&learned, paths[i], false);
    folded = fold(&learned);
    ck_assert_str_eq(folded, expected);
    learned_done(&learned);
}

#define FOLDS(expected, ...)                                                                       \
    do {                                                                                           \
        static const char *const paths[] = {__VA_ARGS__};                                          \
                                                                                                   \
        folds(paths, COUNT(paths), expected);                                                      \
    } while (0)

START_TEST(three_files_stay_and_four_become_their_directory)
{
    FOLDS("/srv/x/a\n/srv/x/b\n/srv/x/c\n", "/srv/x/a", "/srv/x/b", "/srv/x/c");
    FOLDS("/srv/x/\n", "/srv/x/a", "/srv/x/b", "/srv/x/c", "/srv/x/d");
    /* The same one again is one. */
    FOLDS("/srv/x/a\n/srv/x/b\n/srv/x/c\n", "/srv/x/a", "/srv/x/b", "/srv/x/c", "/srv/x/c");
}
END_TEST

START_TEST(four_directories_become_the_one_around_them)
{
    FOLDS("/srv/x/\n", "/srv/x/1/a", "/srv/x/1/b", "/srv/x/1/c", "/srv/x/1/d", "/srv/x/2/a",
          "/srv/x/2/b", "/srv/x/2/c", "/srv/x/2/d", "/srv/x/3", "/srv/x/4");
    FOLDS("/srv/x/1/\n/srv/x/2\n/srv/x/3\n", "/srv/x/1/a", "/srv/x/1/b", "/srv/x/1/c", "/srv/x/1/d",
          "/srv/x/2", "/srv/x/3");
}
END_TEST

START_TEST(a_home_and_a_top_directory_are_never_folded_into)
{
    FOLDS("/home/ada/a\n/home/ada/b\n/home/ada/c\n/home/ada/d\n/home/ada/e\n", "/home/ada/a",
          "/home/ada/b", "/home/ada/c", "/home/ada/d", "/home/ada/e");
    FOLDS("/srv/a\n/srv/b\n/srv/c\n/srv/d\n", "/srv/a", "/srv/b", "/srv/c", "/srv/d");
}
END_TEST

START_TEST(names_that_begin_alike_are_not_below_each_other)
{
    FOLDS("/srv/x/\n/srv/x-1/a\n/srv/x.c/a\n", "/srv/x/a", "/srv/x.c/a", "/srv/x/b", "/srv/x-1/a",
          "/srv/x/c", "/srv/x/d");
}
END_TEST

START_TEST(what_is_written_does_not_make_the_rest_writable)
{
    FOLDS("/srv/x/\nw:/srv/x/out\n", "/srv/x/a", "/srv/x/b", "/srv/x/c", "/srv/x/d",
          "w:/srv/x/out");
    FOLDS("w:/srv/x/\n", "w:/srv/x/a", "w:/srv/x/b", "w:/srv/x/c", "w:/srv/x/d", "/srv/x/in");
    /* To write is to read. */
    FOLDS("w:/srv/x/a\n", "w:/srv/x/a", "/srv/x/a");
}
END_TEST

START_TEST(a_directory_that_was_listed_takes_what_is_below_along)
{
    struct learned_paths learned = {0};
    autofree char *folded = NULL;

    use(&learned, "/srv/x/deep/a", false);
    use(&learned, "/srv/x", true);
    use(&learned, "w:/srv/x/out", false);
    folded = fold(&learned);
    ck_assert_str_eq(folded, "/srv/x/\nw:/srv/x/out\n");
    ck_assert_uint_eq(learned.all.items[0].uses, 2);
    ck_assert_uint_eq(learned.all.items[0].paths, 2);
    learned_done(&learned);
}
END_TEST

START_TEST(evidence_is_added_up)
{
    struct learned_paths learned = {0};
    autofree char *folded = NULL;

    ck_assert_int_eq(learned_add(&learned, "/srv/x/b", false, false, "make", 3), 0);
    ck_assert_int_eq(learned_add(&learned, "/srv/x/b", false, false, "cc", 2), 0);
    use(&learned, "/srv/x/c", false);
    use(&learned, "/srv/x/d", false);
    use(&learned, "/srv/x/e", false);
    folded = fold(&learned);
    ck_assert_str_eq(folded, "/srv/x/\n");
    ck_assert_uint_eq(learned.all.items[0].uses, 8);
    ck_assert_uint_eq(learned.all.items[0].paths, 4);
    ck_assert_str_eq(learned.all.items[0].first, "/srv/x/b");
    ck_assert_str_eq(learned.all.items[0].program, "make");
    learned_done(&learned);
}
END_TEST

START_TEST(many_scattered_files_become_few_lines)
{
    struct learned_paths learned = {0};
    autofree char *folded = NULL;
    char path[64];

    for (int i = 0; i < 200; i++) {
        (void)snprintf(path, sizeof(path), "/srv/x/%d/y/%d", i % 100, i / 100);
        use(&learned, path, false);
    }
    folded = fold(&learned);
    ck_assert_str_eq(folded, "/srv/x/\n");
    learned_done(&learned);
}
END_TEST

START_TEST(what_cannot_be_folded_is_bounded_and_counted)
{
    struct learned_paths learned = {0};
    autofree char *folded = NULL;
    char path[64];

    for (unsigned i = 0; i < LEARNED_PATHS + 100; i++) {
        (void)snprintf(path, sizeof(path), "/home/ada/%05u", i);
        use(&learned, path, false);
    }
    ck_assert_uint_eq(learned.all.count, LEARNED_PATHS);
    ck_assert_uint_eq(learned.left_out, 100);
    /* The most used stay. */
    use(&learned, "/home/ada/04000", false);
    folded = fold(&learned);
    ck_assert_uint_eq(learned.all.count, LEARNED_MOST);
    ck_assert_uint_eq(learned.left_out, 100 + LEARNED_PATHS - LEARNED_MOST);
    ck_assert_ptr_nonnull(strstr(folded, "/home/ada/04000\n"));
    learned_done(&learned);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("learned");
    TCase *group = tcase_create("learned");
    const TTest *const cases[] = {
        three_files_stay_and_four_become_their_directory,
        four_directories_become_the_one_around_them,
        a_home_and_a_top_directory_are_never_folded_into,
        names_that_begin_alike_are_not_below_each_other,
        what_is_written_does_not_make_the_rest_writable,
        a_directory_that_was_listed_takes_what_is_below_along,
        evidence_is_added_up,
        many_scattered_files_become_few_lines,
        what_cannot_be_folded_is_bounded_and_counted,
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        tcase_add_test(group, cases[i]);
    suite_add_tcase(suite, group);
    return test_run(suite, "learned");
}
