/* SPDX-License-Identifier: Apache-2.0 */
/* The list of mounts. */
#include "base/mounts.h"
#include "lib/test.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char list[] =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "28 27 0:25 / /srv/a\\040dir ro,nosuid shared:12 master:3 - tmpfs none rw,mode=755\n"
    "29 27 0:26 /part /srv/a\\134b\\011c rw - btrfs /dev/x rw\n"
    "30 28 0:27 / /srv rw,relatime - nfs4 host:/x rw\n"
    "31 30 0:28 / /srvant rw - fuse.sshfs me@host: rw\n";

START_TEST(rows_are_told_with_all_that_names_may_have)
{
    static const char *const rows[][2] = {{"/", "ext4"},
                                          {"/srv/a dir", "tmpfs"},
                                          {"/srv/a\\b\tc", "btrfs"},
                                          {"/srv", "nfs4"},
                                          {"/srvant", "fuse.sshfs"}};
    const char *rest = list;
    struct mounts_row row;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert(mounts_next(&rest, &row));
        ck_assert_str_eq(row.point, rows[i][0]);
        ck_assert_str_eq(row.type, rows[i][1]);
    }
    ck_assert(!mounts_next(&rest, &row));
}
END_TEST

START_TEST(what_is_below_a_path_begins_with_the_path_itself)
{
    autostrbuf struct strbuf out = {0};

    mounts_add_below(&out, list, "/srv");
    ck_assert_str_eq(out.text, "/srv/a dir tmpfs\n/srv/a\\b\tc btrfs\n/srv nfs4\n");
    strbuf_done(&out);
    out = (struct strbuf){0};
    mounts_add_below(&out, list, "/srv/a");
    ck_assert_ptr_null(out.text);
}
END_TEST

START_TEST(odd_lines_are_rows_without_a_name)
{
    static const char *const lines[] = {"\n",    "27\n",     "27 1 254:0 /\n", "27 1 254:0 / \n",
                                        " - \n", "a b c d\n"};
    struct mounts_row row;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *rest = lines[i];

        ck_assert_msg(mounts_next(&rest, &row), "%zu", i);
        ck_assert_msg(!*row.point && !*row.type, "%zu: '%s' '%s'", i, row.point, row.type);
        ck_assert(!mounts_next(&rest, &row));
    }
}
END_TEST

START_TEST(what_is_too_long_has_no_name)
{
    autostrbuf struct strbuf text = {0};
    struct mounts_row row;
    const char *rest;

    strbuf_addf(&text, "1 2 3:4 / /%0*d rw - %0*d none rw\n5 6 7:8 / /next rw - ext4 none rw\n",
                LIMIT_PATH_BYTES, 0, (int)sizeof(row.type), 0);
    rest = text.text;
    ck_assert(mounts_next(&rest, &row));
    ck_assert_str_eq(row.point, "");
    ck_assert_str_eq(row.type, "");
    ck_assert(mounts_next(&rest, &row));
    ck_assert_str_eq(row.point, "/next");
}
END_TEST

START_TEST(the_kernels_own_list_is_read_whole)
{
    char *text = NULL;
    struct mounts_row row;
    const char *rest;
    bool has_root = false;

    ck_assert_int_eq(mounts_read(AT_FDCWD, MOUNTS_PATH, &text, NULL), 0);
    for (rest = text; mounts_next(&rest, &row);)
        has_root |= strcmp(row.point, "/") == 0 && *row.type;
    ck_assert(has_root);
    ck_assert_str_eq(rest, "");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mounts");
    TCase *cases = tcase_create("mounts");

    tcase_add_test(cases, rows_are_told_with_all_that_names_may_have);
    tcase_add_test(cases, what_is_below_a_path_begins_with_the_path_itself);
    tcase_add_test(cases, odd_lines_are_rows_without_a_name);
    tcase_add_test(cases, what_is_too_long_has_no_name);
    tcase_add_test(cases, the_kernels_own_list_is_read_whole);
    suite_add_tcase(suite, cases);
    return test_run(suite, "mounts");
}
