/* SPDX-License-Identifier: Apache-2.0 */
/* Hunks split, edited, and put into a text. BAWN_TEST_CASES says how many random texts,
 * BAWN_TEST_SEED which is the first. */
#include "lib/test.h"
#include "lib/texts.h"

#include <errno.h>
#include <git2/global.h>
#include <string.h>

enum { CASES = 20000 };

static unsigned long number_of(const char *variable, unsigned long otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

static struct merge_text text_of(const char *text)
{
    return (struct merge_text){(char *)(uintptr_t)text, strlen(text)};
}

/* What the text becomes with what is taken. */
static void becomes(const struct hunks *hunks, const char *before, const char *wanted)
{
    const struct merge_text old = text_of(before);
    struct merge_text made = {0};

    ck_assert_int_eq(hunks_compose(hunks, &old, &made), 0);
    ck_assert_str_eq(made.bytes, wanted);
    ck_assert_uint_eq(made.length, strlen(wanted));
    free(made.bytes);
}

static void compare(const char *before, const char *after, struct hunks *hunks)
{
    const struct merge_text old = text_of(before), new = text_of(after);

    ck_assert(texts_compare(&old, &new, hunks));
}

static void is_text(const struct hunks *hunks, size_t index, const char *wanted)
{
    autostrbuf struct strbuf out = {0};

    hunk_add_text(&hunks->list.items[index], &out);
    ck_assert_str_eq(out.text, wanted);
}

#define TEN     "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
#define CHANGED "1\n2\nx\n4\n5\ny\n7\n9\n10\nz\n"

START_TEST(a_hunk_splits_where_both_have_lines)
{
    autohunks struct hunks hunks = {0};

    compare(TEN, CHANGED, &hunks);
    ck_assert_uint_eq(hunks.list.count, 1);
    ck_assert_uint_eq(hunk_parts(&hunks.list.items[0]), 4);
    hunks.list.items[0].use = HUNK_TAKEN;
    ck_assert_int_eq(hunks_split(&hunks, 0), 0);
    ck_assert_uint_eq(hunks.list.count, 4);
    is_text(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+x\n 4\n 5\n");
    is_text(&hunks, 1, "@@ -4,4 +4,4 @@\n 4\n 5\n-6\n+y\n 7\n");
    is_text(&hunks, 2, "@@ -7,4 +7,3 @@\n 7\n-8\n 9\n 10\n");
    is_text(&hunks, 3, "@@ -9,2 +8,3 @@\n 9\n 10\n+z\n");
    ck_assert_int_eq(hunks.list.items[0].use, HUNK_TAKEN);
    for (size_t i = 1; i < 4; i++) {
        ck_assert_int_eq(hunks.list.items[i].use, HUNK_TAKEN);
        hunks.list.items[i].use = HUNK_LEFT;
    }
    becomes(&hunks, TEN, "1\n2\nx\n4\n5\n6\n7\n8\n9\n10\n");
    hunks.list.items[0].use = HUNK_LEFT;
    hunks.list.items[2].use = hunks.list.items[3].use = HUNK_TAKEN;
    becomes(&hunks, TEN, "1\n2\n3\n4\n5\n6\n7\n9\n10\nz\n");
    hunks.list.items[0].use = hunks.list.items[1].use = HUNK_TAKEN;
    becomes(&hunks, TEN, CHANGED);
    ck_assert_uint_eq(hunk_parts(&hunks.list.items[1]), 1);
}
END_TEST

START_TEST(ends_without_newline_and_empty_texts_are_exact)
{
    static const char *const pairs[][2] = {
        {"", "a"},     {"", "a\n"},   {"a", ""},          {"a\n", ""},
        {"a", "a\n"},  {"a\n", "a"},  {"a\nb", "a\nb\n"}, {"a\r\nb", "a\r\nb\r\n"},
        {"a\nb", "b"}, {"a", "a\nb"}, {"\n", "\n\n"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        autohunks struct hunks hunks = {0};

        compare(pairs[i][0], pairs[i][1], &hunks);
        becomes(&hunks, pairs[i][0], pairs[i][0]);
        vec_each (&hunks.list, hunk)
            hunk->use = HUNK_TAKEN;
        becomes(&hunks, pairs[i][0], pairs[i][1]);
    }
}
END_TEST

START_TEST(a_line_without_end_is_marked)
{
    autohunks struct hunks hunks = {0};

    compare("a\nb", "a\nc", &hunks);
    is_text(&hunks, 0,
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of "
            "file\n");
}
END_TEST

static int edit(struct hunks *hunks, size_t index, const char *before, const char *edited)
{
    const struct merge_text old = text_of(before);
    int r = hunks_edit(hunks, index, &old, edited, strlen(edited));

    if (r == 1)
        hunks->list.items[index].use = HUNK_TAKEN;
    return r;
}

START_TEST(an_edited_hunk_is_taken_if_it_fits)
{
    static const struct {
        const char *edited;
        int r;
        const char *becomes;
    } cases[] = {
        {"# c\n@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+other\n 4\n 5\n# c\n", 1, "1\n2\nother\n4\n5\n"},
        {"@@ any @@\n 1\n-2\n 3\n 4\n 5\n", 1, "1\n3\n4\n5\n"},
        {" 1\n+a\n+b\n 2\n 3\n", 1, "1\na\nb\n2\n3\n4\n5\n"},
        /* Lines at its ends may be gone, and the newline at the end of it all. */
        {" 2\n-3\n+q", 1, "1\n2\nq\n4\n5\n"},
        {" 4\n 5\n+6\n", 1, "1\n2\n3\n4\n5\n6\n"},
        {" 4\n-5\n+5\n\\ No newline at end of file\n", 1, "1\n2\n3\n4\n5"},
        {" 1\n 2\n 3\n 4\n 5\n", 1, "1\n2\n3\n4\n5\n"},
        {"# nothing\n#\n", 0, "1\n2\n3\n4\n5\n"},
        {"", 0, "1\n2\n3\n4\n5\n"},
        {"@@ -1,5 +1,5 @@\n 1\n 3\n-2\n", -EINVAL, NULL},
        {"-x\n+y\n", -EINVAL, NULL},
        {"+y\n", -EINVAL, NULL},
        {" 1\nno sign\n", -EINVAL, NULL},
        {" 1\n\\ No newline at end of file\n 2\n", -EINVAL, NULL},
        {" 1\n-2\n+2\n\\ No newline at end of file\n 3\n", -EINVAL, NULL},
        {" 1\n 2\n 3\n 4\n 5\n 6\n", -EINVAL, NULL},
    };
    static const char before[] = "1\n2\n3\n4\n5\n";

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        autohunks struct hunks hunks = {0};

        compare(before, "1\n2\nx\n4\n5\n", &hunks);
        ck_assert_msg(edit(&hunks, 0, before, cases[i].edited) == cases[i].r, "case %zu", i);
        if (cases[i].r >= 0)
            becomes(&hunks, before, cases[i].becomes);
        else
            is_text(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+x\n 4\n 5\n");
    }
}
END_TEST

START_TEST(two_edits_of_a_line_do_not_fit_together)
{
    autohunks struct hunks hunks = {0};
    static const char before[] = "1\n2\n3\n4\n5\n";

    compare(before, "1\nx\n3\ny\n5\n", &hunks);
    ck_assert_int_eq(hunks_split(&hunks, 0), 0);
    ck_assert_int_eq(edit(&hunks, 0, before, " 1\n-2\n+x\n-3\n+a\n"), 1);
    ck_assert_int_eq(edit(&hunks, 1, before, "-3\n+b\n-4\n+y\n 5\n"), -EINVAL);
    hunks.list.items[1].use = HUNK_TAKEN;
    becomes(&hunks, before, "1\nx\na\ny\n5\n");
}
END_TEST

START_TEST(an_empty_line_may_have_lost_its_blank)
{
    autohunks struct hunks hunks = {0};
    static const char before[] = "1\n\n3\n";

    compare(before, "1\n\nx\n", &hunks);
    ck_assert_int_eq(edit(&hunks, 0, before, " 1\n\n-3\n+y\n"), 1);
    becomes(&hunks, before, "1\n\ny\n");
}
END_TEST

/* Splits some, takes some: what the text is then. */
static struct merge_text choose(struct hunks *hunks, const struct merge_text *before,
                                uint64_t *seed, unsigned way)
{
    struct merge_text made = {0};

    for (size_t i = 0; i < hunks->list.count; i++)
        if (hunk_parts(&hunks->list.items[i]) > 1 && texts_roll(seed, 2))
            ck_assert_int_eq(hunks_split(hunks, i), 0);
    vec_each (&hunks->list, hunk)
        hunk->use = way == 0                   ? HUNK_TAKEN
                    : way == 1                 ? HUNK_LEFT
                    : texts_roll(seed, 2) == 0 ? HUNK_TAKEN
                                               : HUNK_LEFT;
    ck_assert_int_eq(hunks_compose(hunks, before, &made), 0);
    return made;
}

static void is_same(const struct merge_text *one, const struct merge_text *other,
                    unsigned long seed, const char *what)
{
    ck_assert_msg(one->length == other->length &&
                      memcmp(one->bytes, other->bytes, one->length) == 0,
                  "seed %lu, %s:\n%.*s\n--- should be\n%.*s", seed, what, (int)one->length,
                  one->bytes, (int)other->length, other->bytes);
}

/* Each text that is edited back as it was comes out the same. */
static void edit_as_it_was(struct hunks *hunks, const struct merge_text *before,
                           const struct merge_text *after, unsigned long seed)
{
    struct merge_text made = {0};

    for (size_t i = 0; i < hunks->list.count; i++) {
        autostrbuf struct strbuf out = {0};

        hunk_add_text(&hunks->list.items[i], &out);
        ck_assert_msg(hunks_edit(hunks, i, before, out.text, out.length) == 1, "seed %lu: edit\n%s",
                      seed, out.text);
        hunks->list.items[i].use = HUNK_TAKEN;
    }
    ck_assert_int_eq(hunks_compose(hunks, before, &made), 0);
    is_same(&made, after, seed, "edited");
    free(made.bytes);
}

static void one_case(unsigned long number)
{
    uint64_t seed = number * 7919;
    struct merge_text before = texts_make(&seed), after = texts_change(&before, &seed);

    for (unsigned way = 0; way < 3; way++) {
        struct hunks hunks = {0}, rest = {0};
        struct merge_text made;

        if (!texts_compare(&before, &after, &hunks))
            break;
        made = choose(&hunks, &before, &seed, way);
        if (way < 2)
            is_same(&made, way == 0 ? &after : &before, number, way == 0 ? "all" : "none");
        /* What is left makes the session's text of it. */
        if (texts_compare(&made, &after, &rest)) {
            struct merge_text whole = choose(&rest, &made, &seed, 0);

            is_same(&whole, &after, number, "the rest");
            free(whole.bytes);
        }
        edit_as_it_was(&hunks, &before, &after, number);
        free(made.bytes);
        hunks_done(&hunks);
        hunks_done(&rest);
    }
    free(before.bytes);
    free(after.bytes);
}

START_TEST(all_give_the_one_text_none_the_other_and_the_rest_can_follow)
{
    unsigned long first = number_of("BAWN_TEST_SEED", 1);
    unsigned long count = number_of("BAWN_TEST_CASES", CASES);

    (void)printf("seeds %lu to %lu\n", first, first + count - 1);
    for (unsigned long seed = first; seed < first + count; seed++)
        one_case(seed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hunks");
    TCase *tcase = tcase_create("hunks");

    if (git_libgit2_init() < 0)
        return EXIT_FAILURE;
    tcase_add_test(tcase, a_hunk_splits_where_both_have_lines);
    tcase_add_test(tcase, ends_without_newline_and_empty_texts_are_exact);
    tcase_add_test(tcase, a_line_without_end_is_marked);
    tcase_add_test(tcase, an_edited_hunk_is_taken_if_it_fits);
    tcase_add_test(tcase, two_edits_of_a_line_do_not_fit_together);
    tcase_add_test(tcase, an_empty_line_may_have_lost_its_blank);
    tcase_add_test(tcase, all_give_the_one_text_none_the_other_and_the_rest_can_follow);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "hunks");
}
