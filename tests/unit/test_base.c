/* SPDX-License-Identifier: Apache-2.0 */
/* The words the rest is written in: paths, text, JSON, maps, files. */
#include "base/answers.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/path.h"
#include "base/places.h"
#include "base/report.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/trail.h"
#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(paths_are_normalized_by_text_alone)
{
    static const char *const table[][3] = {
        {"/w", "a", "/w/a"},         {"/w", "./a//b/", "/w/a/b"}, {"/w", "/x/./y", "/x/y"},
        {"/w", "../a", "/a"},        {"/w", "../../..", "/"},     {"/", ".", "/"},
        {"/w", "/a/b/../c", "/a/c"}, {"/w", "...", "/w/..."},     {"/w", "/..a/b..", "/..a/b.."},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        autofree char *got = path_normalize(table[i][0], table[i][1]);

        ck_assert_str_eq(got, table[i][2]);
    }
}
END_TEST

START_TEST(a_path_longer_than_the_kernel_takes_is_refused)
{
    char path[5000];

    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    errno = 0;
    ck_assert_ptr_null(path_normalize("/", path));
    ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

START_TEST(below_is_by_component_not_by_letter)
{
    ck_assert(path_is_below("/a/b", "/a"));
    ck_assert(path_is_below("/a", "/a"));
    ck_assert(path_is_below("/a", "/"));
    ck_assert(!path_is_below("/ab", "/a"));
    ck_assert(!path_is_below("/", "/a"));
}
END_TEST

START_TEST(nothing_shown_moves_a_cursor_or_hides)
{
    char out[64];

    ck_assert(text_escape(out, sizeof(out), "a\033[2J\r\n\x7f", 8, TEXT_ONE_LINE));
    ck_assert_str_eq(out, "a\\x1b[2J\\x0d\\n\\x7f");
    ck_assert(text_escape(out, sizeof(out), "\xff\xc2\x9b\xe2\x80\xae", 6, TEXT_ONE_LINE));
    ck_assert_str_eq(out, "\\xff\\u{9b}\\u{202e}");
    ck_assert(text_escape(out, sizeof(out), "a\tb\nc", 5, TEXT_LINES));
    ck_assert_str_eq(out, "a\tb\nc");
    ck_assert(!text_escape(out, 8, "abcdefgh", 8, TEXT_ONE_LINE));
    ck_assert_str_eq(out, "abcd...");
    /* Overlong, surrogate and cut forms are not UTF-8. */
    ck_assert(!text_is_utf8("\xc0\x80", 2));
    ck_assert(!text_is_utf8("\xed\xa0\x80", 3));
    ck_assert(!text_is_utf8("\xe2\x82", 2));
    ck_assert(text_is_utf8("\xf0\x9f\x98\x80", 4));
}
END_TEST

START_TEST(sizes_and_times_are_exact_or_refused)
{
    static const char *const bad[] = {"",   "x",    "-1",    "1Q",
                                      "1.", "1..2", "1 K K", "99999999999999P"};
    uint64_t value;

    ck_assert(text_parse_size("1.5 GiB", &value) && value == 1610612736);
    ck_assert(text_parse_size("512k", &value) && value == 524288);
    ck_assert(text_parse_size("0", &value) && value == 0);
    ck_assert(text_parse_seconds("2h", &value) && value == 7200);
    ck_assert(text_parse_seconds("1.5m", &value) && value == 90);
    ck_assert(!text_parse_seconds("2w", &value));
    ck_assert(!text_parse_count("18446744073709551616", UINT64_MAX, &value));
    ck_assert(!text_parse_count("11", 10, &value));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!text_parse_size(bad[i], &value), "%s", bad[i]);
}
END_TEST

START_TEST(the_nearest_word_is_one_that_was_meant)
{
    static const char *const words[] = {"reads", "network", "limits", "deny"};

    ck_assert_str_eq(text_nearest("raeds", words, 4), "reads");
    ck_assert_str_eq(text_nearest("netwrk", words, 4), "network");
    ck_assert_str_eq(text_nearest("DENY", words, 4), "deny");
    ck_assert_ptr_null(text_nearest("zzzzzz", words, 4));
    ck_assert_ptr_null(text_nearest("", words, 4));
}
END_TEST

START_TEST(json_is_valid_whatever_is_in_it)
{
    autostrbuf struct strbuf out = {0};
    autostrbuf struct strbuf pretty = {0};

    json_open(&out, NULL, '{');
    json_put_string(&out, "a\"b", "x\\\n\t\xff\xe2\x80\xae\xf3\xa0\x81\x81");
    json_put_string(&out, "none", NULL);
    json_open(&out, "list", '[');
    json_put_uint(&out, NULL, 1);
    json_put_bool(&out, NULL, false);
    json_close(&out, ']');
    json_open(&out, "empty", '{');
    json_close(&out, '}');
    json_close(&out, '}');
    ck_assert_str_eq(out.text, "{\"a\\\"b\": \"x\\\\\\n\\u0009\\\\xff\\u202e\\udb40\\udc41\", "
                               "\"none\": null, \"list\": [1, false], \"empty\": {}}");
    json_add_pretty(&pretty, "{\"a\": [1, \"b, {c\"], \"d\": {}}");
    ck_assert_str_eq(pretty.text, "{\n  \"a\": [\n    1,\n    \"b, {c\"\n  ],\n  \"d\": {}\n}\n");
}
END_TEST

START_TEST(maps_find_what_was_put)
{
    struct map map = {0};
    struct arena arena = {0};

    ck_assert_ptr_null(map_get(&map, 0, "x", 1));
    for (uintptr_t i = 1; i <= 10000; i++) {
        const char *key = arena_printf(&arena, "key%zu", (size_t)i);

        ck_assert(map_put(&map, i % 3, key, strlen(key), (void *)i));
    }
    for (uintptr_t i = 1; i <= 10000; i++) {
        const char *key = arena_printf(&arena, "key%zu", (size_t)i);

        ck_assert_uint_eq((uintptr_t)map_get(&map, i % 3, key, strlen(key)), i);
        ck_assert_ptr_null(map_get(&map, 7, key, strlen(key)));
    }
    ck_assert_uint_eq(map.count, 10000);
    map_done(&map);
    arena_done(&arena);
}
END_TEST

START_TEST(room_that_is_made_ahead_is_used)
{
    struct map map = {0};
    struct arena arena = {0};
    const struct map_entry *entries;
    const struct arena_block *block;

    ck_assert(map_put(&map, 0, "before", 6, &map));
    ck_assert(map_reserve(&map, 1000));
    ck_assert_ptr_eq(map_get(&map, 0, "before", 6), &map);
    ck_assert(arena_reserve(&arena, 100000));
    entries = map.entries;
    block = arena.newest;
    for (uintptr_t i = 1; i <= 999; i++) {
        char *key = arena_alloc(&arena, 96);

        /* What is given out is zero, taken ahead or not. */
        for (size_t at = 0; at < 96; at++)
            ck_assert_int_eq(key[at], 0);
        (void)snprintf(key, 96, "key%zu", (size_t)i);
        ck_assert(map_put(&map, 0, key, strlen(key), (void *)i));
    }
    ck_assert_ptr_eq(map.entries, entries);
    ck_assert_ptr_eq(arena.newest, block);
    ck_assert_uint_eq((uintptr_t)map_get(&map, 0, "key999", 6), 999);
    /* Less than there is changes nothing. */
    ck_assert(map_reserve(&map, 10));
    ck_assert_ptr_eq(map.entries, entries);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 100000));
    ck_assert_ptr_ne(arena.newest, block);
    map_done(&map);
    arena_done(&arena);
}
END_TEST

START_TEST(text_is_whole_wherever_a_block_ends)
{
    autostrbuf struct strbuf line = {0};
    struct arena arena = {0};
    char wanted[400];

    for (int i = 0; i < 20000; i++) {
        int length = i % 331;
        const char *text = arena_printf(&arena, "%0*d", length, i);
        const char *zeros = arena_alloc(&arena, (size_t)(i % 47) + 1);

        (void)snprintf(wanted, sizeof(wanted), "%0*d", length, i);
        ck_assert_str_eq(text, wanted);
        for (int at = 0; at <= i % 47; at++)
            ck_assert_int_eq(zeros[at], 0);
    }
    for (int i = 0; i < 1000; i++) {
        size_t before = line.length;

        strbuf_addf(&line, "%0*d", i % 331, i);
        (void)snprintf(wanted, sizeof(wanted), "%0*d", i % 331, i);
        ck_assert_str_eq(line.text + before, wanted);
        ck_assert_uint_eq(line.length, before + strlen(wanted));
    }
    arena_done(&arena);
}
END_TEST

/* A directory of the case's own. */
static void enter_fresh_dir(void)
{
    char dir[TEST_DIR_BYTES];

    test_make_dir(dir, "base");
    ck_assert_int_eq(chdir(dir), 0);
}

static void leave_fresh_dir(void)
{
    char dir[4096];

    ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
    (void)unlink("file");
    (void)unlink("fifo");
    (void)rmdir("a/b");
    (void)rmdir("a");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_msg(rmdir(dir) == 0, "something was left in %s", dir);
}

START_TEST(only_regular_files_of_a_bounded_size_are_read)
{
    autofree char *data = NULL;
    struct bawn_error err;
    size_t length;

    enter_fresh_dir();
    ck_assert_int_eq(file_read(AT_FDCWD, "file", 100, &data, &length, &err), -ENOENT);
    ck_assert_int_eq(file_write(AT_FDCWD, "file", "hello", 5, &err), 0);
    ck_assert_int_eq(file_read(AT_FDCWD, "file", 5, &data, &length, &err), 0);
    ck_assert_str_eq(data, "hello");
    ck_assert_int_eq(file_read(AT_FDCWD, "file", 4, &data, &length, &err), -EFBIG);
    ck_assert_int_eq(file_read(AT_FDCWD, ".", 100, &data, &length, &err), -EINVAL);
    /* Nobody writes to it: this would hang. */
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(file_read(AT_FDCWD, "fifo", 100, &data, &length, &err), -EINVAL);
    leave_fresh_dir();
}
END_TEST

START_TEST(a_write_that_fails_leaves_the_old_file_and_no_other)
{
    autofree char *data = NULL;
    struct bawn_error err;
    size_t length;

    enter_fresh_dir();
    ck_assert_int_eq(file_write(AT_FDCWD, "file", "old", 3, &err), 0);
    ck_assert_int_lt(file_write(AT_FDCWD, "none/file", "new", 3, &err), 0);
    ck_assert_int_eq(file_make_dirs("a/b", &err), 0);
    ck_assert_int_eq(file_make_dirs("a/b", &err), 0);
    /* A directory is in the way of the rename. */
    ck_assert_int_lt(file_write(AT_FDCWD, "a", "new", 3, &err), 0);
    ck_assert_int_eq(file_read(AT_FDCWD, "file", 100, &data, &length, &err), 0);
    ck_assert_str_eq(data, "old");
    leave_fresh_dir();
}
END_TEST

START_TEST(configuration_is_opened_where_no_link_leads_elsewhere)
{
    char path[LIMIT_PATH_BYTES];
    struct bawn_error err;
    int fd;

    enter_fresh_dir();
    ck_assert_ptr_nonnull(getcwd(path, sizeof(path) - 16));
    (void)snprintf(path + strlen(path), 16, "/a/bawn");
    fd = places_open_config(path, &err);
    ck_assert_msg(fd >= 0, "%s", err.message);
    ck_assert_int_eq(file_write(fd, "file", "x", 1, &err), 0);
    ck_assert_int_eq(access("a/bawn/file", F_OK), 0);
    close(fd);
    ck_assert_int_eq(rename("a", "b"), 0);
    ck_assert_int_eq(symlink("b", "a"), 0);
    ck_assert_int_eq(places_open_config(path, &err), -ELOOP);
    ck_assert_int_eq(unlink("b/bawn/file") + rmdir("b/bawn") + rmdir("b") + unlink("a"), 0);
    leave_fresh_dir();
}
END_TEST

START_TEST(sessions_are_in_a_directory_of_the_users_alone)
{
    char runtime[LIMIT_PATH_BYTES], path[PLACES_SESSIONS_BYTES], usual[PLACES_SESSIONS_BYTES];
    struct bawn_error err;
    int fd;

    enter_fresh_dir();
    ck_assert_ptr_nonnull(getcwd(runtime, 512));
    ck_assert(places_sessions(NULL, SESSIONS_USUAL, usual));
    ck_assert(!places_sessions(NULL, SESSIONS_NAMED, path));
    ck_assert(!places_sessions("run", SESSIONS_NAMED, path));
    ck_assert_int_eq(chmod(".", 0700), 0);
    ck_assert_int_eq(places_open_sessions(runtime, false, path, &err), -ENOENT);
    fd = places_open_sessions(runtime, true, path, &err);
    ck_assert_msg(fd >= 0, "%s", err.message);
    close(fd);
    ck_assert_int_eq(strncmp(path, runtime, strlen(runtime)), 0);
    ck_assert(places_find_sessions(runtime, path));
    ck_assert_int_eq(strncmp(path, runtime, strlen(runtime)), 0);
    /* Others can see it, or have put something else there. */
    ck_assert_int_eq(chmod("bawn", 0755), 0);
    ck_assert_int_eq(places_open_sessions(runtime, true, path, &err), -EPERM);
    ck_assert_int_eq(rename("bawn", "other"), 0);
    ck_assert_int_eq(chmod("other", 0700), 0);
    ck_assert_int_eq(symlink("other", "bawn"), 0);
    ck_assert_int_eq(places_open_sessions(runtime, true, path, &err), -EPERM);
    /* The directory around it is not the user's alone. */
    ck_assert_int_eq(chmod(".", 0755), 0);
    ck_assert(places_find_sessions(runtime, path));
    ck_assert_str_eq(strrchr(path, '/'), strrchr(usual, '/'));
    ck_assert_int_ne(strncmp(path, runtime, strlen(runtime)), 0);
    ck_assert_int_eq(unlink("bawn") + rmdir("other"), 0);
    leave_fresh_dir();
}
END_TEST

START_TEST(a_trail_is_walked_as_the_kernel_walks)
{
    struct trail trail = {.rest = "/a/.//b/../c/"};
    static const char *const names[] = {"a", "x", "y", "b", "..", "c"};
    char name[NAME_MAX + 1];
    char target[LIMIT_PATH_BYTES];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert_int_eq(trail_next(&trail, name), 1);
        ck_assert_str_eq(name, names[i]);
        if (i == 0)
            ck_assert_int_eq(trail_link(&trail, "x/./y"), 0);
    }
    ck_assert_int_eq(trail_next(&trail, name), 0);
    ck_assert_int_eq(trail_link(&trail, ""), -ENOENT);
    memset(target, 'n', sizeof(target));
    target[NAME_MAX + 1] = '\0';
    ck_assert_int_eq(trail_link(&trail, target), 0);
    ck_assert_int_eq(trail_next(&trail, name), -ENAMETOOLONG);
    memset(target, '/', sizeof(target));
    target[sizeof(target) - 1] = '\0';
    ck_assert_int_eq(trail_link(&trail, target), 0);
    ck_assert_int_eq(trail_link(&trail, target), -ENAMETOOLONG);
    trail = (struct trail){.rest = ""};
    for (unsigned i = 0; i < LIMIT_SYMLINKS; i++)
        ck_assert_int_eq(trail_link(&trail, "a"), 0);
    ck_assert_int_eq(trail_link(&trail, "a"), -ELOOP);
}
END_TEST

START_TEST(errors_are_one_printable_line)
{
    struct bawn_error err;

    ck_assert_int_eq(error_set(&err, EINVAL, "a.b", "x\ny\033"), -EINVAL);
    ck_assert_str_eq(err.message, "x\\ny\\x1b");
    ck_assert_str_eq(err.hint, "");
    error_hint(&err, "do %d", 1);
    ck_assert_str_eq(err.hint, "do 1");
    ck_assert_int_eq(error_errno(&err, ENOENT, "open %s", "f"), -ENOENT);
    ck_assert_str_eq(err.message, "open f: No such file or directory");
    ck_assert_int_eq(error_set(NULL, EINVAL, "a", "b"), -EINVAL);
}
END_TEST

START_TEST(the_first_error_is_told_however_many_warnings_came_before)
{
    struct bawn_report *report = report_new();
    struct bawn_error err = {0};

    for (unsigned i = 0; i < LIMIT_COMPLAINTS + 20; i++) {
        report_add(report, BAWN_WARNING, "w", (struct origin){0}, "warning %u", i);
        report_hint(report, "hint %u", i);
    }
    report_add(report, BAWN_ERROR, "e", (struct origin){"f", 1, 2}, "wrong");
    report_hint(report, "mend it");
    report_add(report, BAWN_ERROR, "e2", (struct origin){0}, "wrong too");
    report_hint(report, "mend that");
    ck_assert_int_eq(report_to_error(report, &err), -EINVAL);
    ck_assert_str_eq(err.message, "f:1:2: wrong");
    ck_assert_str_eq(err.hint, "mend it");
    ck_assert_uint_eq(bawn_report_count(report), LIMIT_COMPLAINTS + 2);
    ck_assert_str_eq(bawn_report_get(report, LIMIT_COMPLAINTS)->code, "report.more");
    ck_assert_str_eq(bawn_report_get(report, LIMIT_COMPLAINTS)->hint, "");
    bawn_report_free(report);
}
END_TEST

static bool keep(struct answers *answers, const char *op, const char *path, bool is_tree,
                 bool is_allowed)
{
    return answers_keep(answers, op, path,
                        &(struct answer){.is_tree = is_tree, .is_allowed = is_allowed});
}

/* 1: yes, 0: no, -1: nobody said anything. */
static int said(const struct answers *answers, const char *op, const char *path)
{
    const struct answer *answer = answers_find(answers, op, path);

    return answer ? answer->is_allowed : -1;
}

START_TEST(an_answer_is_about_one_thing_or_a_directory_and_the_last_counts)
{
    struct answers answers = {0};
    char path[LIMIT_PATH_BYTES + 200];

    ck_assert_int_eq(said(&answers, "read", "/a/b"), -1);
    ck_assert(keep(&answers, "read", "/a/b", false, true));
    ck_assert_int_eq(said(&answers, "read", "/a/b"), 1);
    ck_assert_int_eq(said(&answers, "write", "/a/b"), -1);
    ck_assert_int_eq(said(&answers, "read", "/a/bc"), -1);
    ck_assert_int_eq(said(&answers, "read", "/a/b/c"), -1);
    ck_assert_int_eq(said(&answers, "read", "/a"), -1);
    /* A directory: what is in it, at any depth, and not itself. */
    ck_assert(keep(&answers, "read", "/d/one", true, true));
    ck_assert_int_eq(said(&answers, "read", "/d/two"), 1);
    ck_assert_int_eq(said(&answers, "read", "/d/e/f/g"), 1);
    ck_assert_int_eq(said(&answers, "read", "/d"), -1);
    ck_assert_int_eq(said(&answers, "read", "/dd/one"), -1);
    ck_assert_int_eq(said(&answers, "write", "/d/one"), -1);
    /* The last answer, whichever kind it is of. */
    ck_assert(keep(&answers, "read", "/d/two", false, false));
    ck_assert_int_eq(said(&answers, "read", "/d/two"), 0);
    ck_assert(keep(&answers, "read", "/d/e/x", true, false));
    ck_assert_int_eq(said(&answers, "read", "/d/e/f/g"), 0);
    ck_assert(keep(&answers, "read", "/d/three", true, true));
    ck_assert_int_eq(said(&answers, "read", "/d/two"), 1);
    ck_assert_int_eq(said(&answers, "read", "/d/e/f/g"), 1);
    /* All there is; and what has no directory. */
    ck_assert(keep(&answers, "read", "/top", true, false));
    ck_assert_int_eq(said(&answers, "read", "/d/two"), 0);
    ck_assert_int_eq(said(&answers, "read", "/"), 0);
    ck_assert(keep(&answers, "connect", "a.test:443", false, true));
    ck_assert_int_eq(said(&answers, "connect", "a.test:443"), 1);
    ck_assert_int_eq(said(&answers, "connect", "a.test:44"), -1);
    /* Too long for a path; and so many as there is room for. */
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert(!keep(&answers, "read", path, false, true));
    ck_assert_int_eq(said(&answers, "read", path), -1);
    for (size_t i = answers.count; i < ANSWERS_MOST; i++) {
        (void)snprintf(path, sizeof(path), "/many/%zu", i);
        ck_assert(keep(&answers, "write", path, false, true));
    }
    ck_assert(!keep(&answers, "write", "/many/more", false, true));
    ck_assert_int_eq(said(&answers, "write", "/many/more"), -1);
    ck_assert(keep(&answers, "read", "/a/b", false, true));
    ck_assert_int_eq(said(&answers, "read", "/a/b"), 1);
    ck_assert_int_eq(said(&answers, "write", "/many/4000"), 1);
    answers_done(&answers);
    ck_assert_int_eq(said(&answers, "read", "/a/b"), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *all = tcase_create("base");

    tcase_add_test(all, paths_are_normalized_by_text_alone);
    tcase_add_test(all, a_path_longer_than_the_kernel_takes_is_refused);
    tcase_add_test(all, below_is_by_component_not_by_letter);
    tcase_add_test(all, nothing_shown_moves_a_cursor_or_hides);
    tcase_add_test(all, sizes_and_times_are_exact_or_refused);
    tcase_add_test(all, the_nearest_word_is_one_that_was_meant);
    tcase_add_test(all, json_is_valid_whatever_is_in_it);
    tcase_add_test(all, maps_find_what_was_put);
    tcase_add_test(all, room_that_is_made_ahead_is_used);
    tcase_add_test(all, text_is_whole_wherever_a_block_ends);
    tcase_add_test(all, an_answer_is_about_one_thing_or_a_directory_and_the_last_counts);
    tcase_add_test(all, only_regular_files_of_a_bounded_size_are_read);
    tcase_add_test(all, a_write_that_fails_leaves_the_old_file_and_no_other);
    tcase_add_test(all, configuration_is_opened_where_no_link_leads_elsewhere);
    tcase_add_test(all, sessions_are_in_a_directory_of_the_users_alone);
    tcase_add_test(all, a_trail_is_walked_as_the_kernel_walks);
    tcase_add_test(all, errors_are_one_printable_line);
    tcase_add_test(all, the_first_error_is_told_however_many_warnings_came_before);
    suite_add_tcase(suite, all);
    return test_run(suite, "base");
}
