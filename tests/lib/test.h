/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test shares: each case in a process of its own, results as TAP. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs the suite. With BAWN_TEST_TAP set to a directory the results are written there too. */
static inline int test_run(Suite *suite, const char *name)
{
    SRunner *runner = srunner_create(suite);
    const char *dir = getenv("BAWN_TEST_TAP");
    char path[4096];
    int failed;

    srunner_set_fork_status(runner, CK_FORK);
    if (dir) {
        (void)snprintf(path, sizeof(path), "%s/%s.tap", dir, name);
        srunner_set_tap(runner, path);
    }
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
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
