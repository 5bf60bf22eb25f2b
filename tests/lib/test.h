/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test shares: each case in a process of its own, results as TAP. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <check.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A case has four seconds, if nobody says otherwise: too few on a machine with much to do. It
 * counts when the case is added, before main could tell. */
__attribute__((constructor)) static void test_give_time(void)
{
    (void)setenv("CK_DEFAULT_TIMEOUT", "60", 0);
}

/* Where all directories of the cases are. A case that fails ends at once and removes nothing, so
 * the program does it when all have ended. */
static inline char *test_base(void)
{
    static char base[] = "/tmp/bawn-test.XXXXXX";

    return base;
}

/* A directory of the case's own. */
enum { TEST_DIR_BYTES = 64 };
static inline void test_make_dir(char path[static TEST_DIR_BYTES], const char *name)
{
    (void)snprintf(path, TEST_DIR_BYTES, "%s/%s.XXXXXX", test_base(), name);
    ck_assert_ptr_nonnull(mkdtemp(path));
}

static inline int test_open_entry(const char *path, const struct stat *st, int type,
                                  struct FTW *ftw)
{
    (void)st, (void)ftw;
    if ((type == FTW_D || type == FTW_DNR) && chmod(path, 0700) == 0 && type == FTW_DNR)
        (void)nftw(path, test_open_entry, 16, FTW_PHYS | FTW_MOUNT); /* what is in it */
    return 0;
}

static inline int test_remove_entry(const char *path, const struct stat *st, int type,
                                    struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

static inline void test_remove_base(void)
{
    (void)nftw(test_base(), test_open_entry, 16, FTW_PHYS | FTW_MOUNT);
    (void)nftw(test_base(), test_remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Runs the suite. With BAWN_TEST_TAP set to a directory the results are written there too. */
static inline int test_run(Suite *suite, const char *name)
{
    SRunner *runner = srunner_create(suite);
    const char *dir = getenv("BAWN_TEST_TAP");
    char path[4096];
    int failed;

    /* Others must get through it: some cases are somebody else to the host. */
    if (!mkdtemp(test_base()) || chmod(test_base(), 0755) < 0) {
        perror(test_base());
        return EXIT_FAILURE;
    }
    srunner_set_fork_status(runner, CK_FORK);
    if (dir) {
        (void)snprintf(path, sizeof(path), "%s/%s.tap", dir, name);
        srunner_set_tap(runner, path);
    }
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    test_remove_base();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * A case that this machine cannot run says so and returns. It is counted as
 * skipped; where BAWN_TEST_REQUIRE is "all" it fails instead.
 */
static inline void test_skip(const char *name, const char *why)
{
    const char *require = getenv("BAWN_TEST_REQUIRE");
    const char *dir = getenv("BAWN_TEST_TAP");
    char path[4096];
    FILE *file;

    if (require && require[0] == 'a')
        ck_abort_msg("skipped where skips are failures: %s", why);
    (void)snprintf(path, sizeof(path), "%s/skips", dir ? dir : "/dev");
    file = dir ? fopen(path, "a") : NULL;
    if (file) {
        (void)fprintf(file, "%s: %s\n", name, why);
        (void)fclose(file);
    }
}

#endif
