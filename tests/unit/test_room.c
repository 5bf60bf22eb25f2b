/* SPDX-License-Identifier: Apache-2.0 */
/* What a session with overlays takes on the disk. The witness is du, or the kernel's own count. */
#include "base/room.h"
#include "lib/test.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[TEST_DIR_BYTES];
static int root_fd = -1;

static void make_dir(const char *path)
{
    ck_assert_msg(mkdirat(root_fd, path, 0700) == 0, "%s: %s", path, strerror(errno));
}

static int make_file(const char *path, size_t bytes)
{
    static const char block[65536] = "x";
    int fd = openat(root_fd, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    for (size_t at = 0; at < bytes; at += sizeof(block))
        ck_assert_int_eq(write(fd, block, sizeof(block)), sizeof(block));
    return fd;
}

static void setup(void)
{
    test_make_dir(root, "room");
    root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(root_fd, 0);
    make_dir("0");
    make_dir("0/upper");
    make_dir("0/work");
}

/* A script with the root as $1 and a path as $2; what it says. */
static void run(const char *script, const char *path, char text[static 64])
{
    int ends[2];
    int status = 0;
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execl("/bin/sh", "sh", "-c", script, "sh", root, path, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    memset(text, 0, 64);
    (void)!read(ends[0], text, 63);
    (void)close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* What is too deep for the tests' own way to remove it, too. */
static void teardown(void)
{
    char text[64];

    (void)close(root_fd);
    run("chmod -R u+rwx \"$1\"; rm -rf \"$1\"", "", text);
}

/* As du counts it, whose top is not counted here. */
static uint64_t witness(const char *path)
{
    char text[64];
    struct stat top;

    run("du -s --block-size=1 \"$1/$2\"", path, text);
    ck_assert_int_eq(fstatat(root_fd, path, &top, 0), 0);
    return strtoull(text, NULL, 10) - (strcmp(path, ".") == 0 ? (uint64_t)top.st_blocks * 512 : 0);
}

static struct room measured(uint64_t enough)
{
    struct room room;

    ck_assert_int_eq(room_measure(root_fd, enough, &room), 0);
    return room;
}

START_TEST(layers_are_told_from_the_rest_and_both_are_what_du_says)
{
    struct room room;

    make_dir("1");
    make_dir("1/upper");
    make_dir("1/work");
    make_dir("1/upper/upper");
    make_dir("journal-1");
    make_dir("journal-1/upper");
    (void)close(make_file("0/upper/a", 1 << 20));
    (void)close(make_file("0/work/w", 1 << 16));
    (void)close(make_file("1/upper/upper/b", 1 << 18));
    (void)close(make_file("journal-1/upper/old", 1 << 19));
    (void)close(make_file("lock", 0));
    room = measured(0);
    ck_assert_uint_eq(room.layers + room.rest, witness("."));
    ck_assert_uint_eq(room.layers, witness("0/upper") + witness("0/work") + witness("1/upper") +
                                       witness("1/work"));
    ck_assert_uint_ge(room.layers, (1 << 20) + (1 << 16) + (1 << 18));
    ck_assert_uint_ge(room.rest, 1 << 19);
    ck_assert_uint_eq(room.unread + room.deep, 0);
}
END_TEST

START_TEST(a_file_with_several_names_counts_once)
{
    char name[64];
    struct room room;

    (void)close(make_file("0/upper/a", 1 << 20));
    make_dir("0/upper/d");
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "0/upper/%s%d", i % 2 ? "d/" : "", i);
        ck_assert_int_eq(linkat(root_fd, "0/upper/a", root_fd, name, 0), 0);
    }
    room = measured(0);
    ck_assert_uint_eq(room.layers + room.rest, witness("."));
    ck_assert_uint_lt(room.layers, 2 << 20);
}
END_TEST

START_TEST(many_files_with_several_names_each_count_once)
{
    char name[64], other[64];
    uint64_t sum = 0;
    struct room room;

    for (int i = 0; i < 600; i++) {
        struct stat status;
        int fd;

        (void)snprintf(name, sizeof(name), "0/upper/a%d", i);
        (void)snprintf(other, sizeof(other), "0/upper/b%d", i);
        fd = make_file(name, 1);
        ck_assert_int_eq(linkat(root_fd, name, root_fd, other, 0), 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        sum += (uint64_t)status.st_blocks * 512;
        (void)close(fd);
    }
    room = measured(0);
    ck_assert_uint_eq(room.layers + room.rest, witness("."));
    ck_assert_uint_ge(room.layers, sum);
}
END_TEST

START_TEST(blocks_count_and_not_lengths)
{
    int fd = make_file("0/upper/sparse", 0);
    struct room before = measured(0);

    ck_assert_int_eq(ftruncate(fd, 1LL << 40), 0);
    ck_assert_uint_eq(measured(0).layers, before.layers);
    (void)close(fd);
    fd = make_file("0/upper/reserved", 0);
    /* Behind the end of the file: its length stays 0. */
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0)
        ck_assert_uint_ge(measured(0).layers, before.layers + (1 << 20));
    (void)close(fd);
}
END_TEST

START_TEST(links_lead_nowhere)
{
    struct room before;
    struct room room;

    before = measured(0);
    ck_assert_int_eq(symlinkat("/usr", root_fd, "0/upper/link"), 0);
    ck_assert_int_eq(symlinkat("..", root_fd, "0/upper/up"), 0);
    ck_assert_int_eq(mkfifoat(root_fd, "0/upper/fifo", 0600), 0);
    ck_assert_int_eq(symlinkat("/usr", root_fd, "2"), 0);
    room = measured(0);
    ck_assert_uint_lt(room.layers, before.layers + 65536);
    ck_assert_uint_eq(room.unread + room.deep, 0);
}
END_TEST

/* A chain of directories of that length, with a file in the last. */
static void make_chain(int length)
{
    int fd = openat(root_fd, "0/upper", O_PATH | O_CLOEXEC);
    int file;

    for (int i = 0; i < length; i++) {
        int next;

        ck_assert_int_eq(mkdirat(fd, "d", 0700), 0);
        next = openat(fd, "d", O_PATH | O_CLOEXEC);
        ck_assert_int_ge(next, 0);
        (void)close(fd);
        fd = next;
    }
    file = openat(fd, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(write(file, root, sizeof(root)), sizeof(root));
    (void)close(file);
    (void)close(fd);
}

START_TEST(a_tree_deeper_than_any_path_is_told)
{
    struct rlimit files = {4096, 4096};
    struct room room;

    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    make_chain(ROOM_LEVELS - 10);
    room = measured(0);
    ck_assert_uint_eq(room.deep, 0);
    ck_assert_uint_eq(room.layers + room.rest, witness("."));
    make_dir("0/upper/e");
    ck_assert_int_eq(renameat(root_fd, "0/upper/d", root_fd, "0/upper/e/d"), 0);
    for (int i = 0; i < 12; i++) {
        make_dir("0/upper/f");
        ck_assert_int_eq(renameat(root_fd, "0/upper/e", root_fd, "0/upper/f/e"), 0);
        ck_assert_int_eq(renameat(root_fd, "0/upper/f", root_fd, "0/upper/e"), 0);
    }
    ck_assert_uint_eq(measured(0).deep, 1);
}
END_TEST

START_TEST(where_descriptors_end_that_is_told)
{
    struct rlimit files = {64, 64};

    make_chain(200);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_uint_eq(measured(0).deep, 1);
}
END_TEST

START_TEST(a_closed_directory_is_told_but_not_the_kernels_own)
{
    struct room room;

    make_dir("0/work/work");
    make_dir("0/upper/closed");
    (void)close(make_file("0/upper/closed/big", 1 << 20));
    ck_assert_int_eq(fchmodat(root_fd, "0/work/work", 0, 0), 0);
    ck_assert_int_eq(fchmodat(root_fd, "0/upper/closed", 0, 0), 0);
    room = measured(0);
    /* Nothing is closed to root. */
    if (geteuid() == 0)
        ck_assert_uint_ge(room.layers, 1 << 20);
    ck_assert_uint_eq(room.unread, geteuid() == 0 ? 0 : 1);
}
END_TEST

START_TEST(it_stops_when_it_is_enough)
{
    char name[64];
    struct room room;

    for (int i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof(name), "0/upper/%d", i);
        (void)close(make_file(name, 1 << 16));
    }
    room = measured(1 << 20);
    ck_assert_uint_gt(room.layers, 1 << 20);
    ck_assert_uint_lt(room.layers, (1 << 20) + (1 << 18));
}
END_TEST

/* Somebody moves directories to and fro meanwhile: what stays counts, and nothing outside does. */
START_TEST(what_is_moved_meanwhile_leads_nowhere_else)
{
    pid_t mover;

    make_dir("0/upper/a");
    make_dir("0/upper/a/b");
    make_dir("0/upper/c");
    (void)close(make_file("0/upper/stays", 1 << 20));
    mover = fork();
    ck_assert_int_ge(mover, 0);
    if (mover == 0) {
        for (;;) {
            (void)renameat(root_fd, "0/upper/a/b", root_fd, "0/upper/c/b");
            (void)unlinkat(root_fd, "0/upper/x", 0);
            (void)renameat(root_fd, "0/upper/c/b", root_fd, "0/upper/a/b");
            (void)!symlinkat("/usr", root_fd, "0/upper/x");
        }
    }
    for (int i = 0; i < 2000; i++) {
        struct room room = measured(0);

        ck_assert_uint_ge(room.layers, 1 << 20);
        ck_assert_uint_lt(room.layers, (1 << 20) + (1 << 17));
    }
    ck_assert_int_eq(kill(mover, SIGKILL), 0);
    ck_assert_int_eq(waitpid(mover, NULL, 0), mover);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("room");
    TCase *cases = tcase_create("room");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, layers_are_told_from_the_rest_and_both_are_what_du_says);
    tcase_add_test(cases, a_file_with_several_names_counts_once);
    tcase_add_test(cases, many_files_with_several_names_each_count_once);
    tcase_add_test(cases, blocks_count_and_not_lengths);
    tcase_add_test(cases, links_lead_nowhere);
    tcase_add_test(cases, a_tree_deeper_than_any_path_is_told);
    tcase_add_test(cases, where_descriptors_end_that_is_told);
    tcase_add_test(cases, a_closed_directory_is_told_but_not_the_kernels_own);
    tcase_add_test(cases, it_stops_when_it_is_enough);
    tcase_add_test(cases, what_is_moved_meanwhile_leads_nowhere_else);
    suite_add_tcase(suite, cases);
    return test_run(suite, "room");
}
