/* SPDX-License-Identifier: Apache-2.0 */
/* The table of backends, and that what it says can start is what the launcher can start. */
#include "backend/backend.h"
#include "launch/launch.h"
#include "lib/test.h"

#include <check.h>
#include <errno.h>
#include <string.h>

START_TEST(every_backend_has_a_name_of_its_own)
{
    for (enum backend_id id = 0; id <= BACKEND_COUNT; id++) {
        ck_assert_ptr_nonnull(backend_row(id)->name);
        for (enum backend_id other = 0; other < id; other++)
            ck_assert_str_ne(backend_row(id)->name, backend_row(other)->name);
    }
    ck_assert_str_eq(backend_row((enum backend_id)4711)->name, "none");
    ck_assert_str_eq(backend_row(backend_first())->name, "native");
}
END_TEST

START_TEST(what_the_table_starts_the_launcher_can_start_and_nothing_else)
{
    for (enum backend_id id = 0; id <= BACKEND_COUNT; id++) {
        ck_assert_msg(backend_row(id)->can_start == launch_can_start(id), "%s",
                      backend_row(id)->name);
        /* What a command is started with is planned for, and found out to work by what it needs. */
        ck_assert(!backend_row(id)->can_start ||
                  (backend_is_planned(id) && backend_row(id)->needs));
    }
}
END_TEST

START_TEST(a_plan_for_another_backend_is_not_carried_out)
{
    static const uint32_t ids[] = {BACKEND_LANDLOCK, BACKEND_DOCKER, BACKEND_COUNT, UINT32_MAX};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct image image = {.backend = ids[i]};
        struct launch_request request = {.image = &image, .cgroup_fd = -EBADF};
        struct bawn_error err = {0};
        struct launch launch;

        ck_assert_int_eq(launch_start(&request, &launch, &err), -ENOTSUP);
        ck_assert_str_eq(err.code, "launch.backend");
    }
}
END_TEST

START_TEST(the_first_that_works_and_can_start_is_the_best)
{
    struct host_facts facts = {0};

    ck_assert_int_eq((int)backend_best(&facts), BACKEND_COUNT);
    facts.backends[BACKEND_LANDLOCK].available = facts.backends[BACKEND_DOCKER].available = true;
    ck_assert_int_eq((int)backend_best(&facts), BACKEND_COUNT);
    facts.backends[BACKEND_NATIVE].available = true;
    ck_assert_int_eq((int)backend_best(&facts), BACKEND_NATIVE);
}
END_TEST

START_TEST(a_backend_is_found_out_by_what_it_needs)
{
    struct host_facts facts = {0};

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        facts.features[i].available = true;
    backend_detect(&facts, false);
    ck_assert(facts.backends[BACKEND_NATIVE].available);
    ck_assert(facts.backends[BACKEND_LANDLOCK].available);
    for (const struct backend_need *need = backend_row(BACKEND_NATIVE)->needs; need->name; need++) {
        facts.features[need->feature].available = false;
        backend_detect(&facts, false);
        ck_assert_msg(!facts.backends[BACKEND_NATIVE].available, "%s", need->name);
        ck_assert_ptr_nonnull(strstr(facts.backends[BACKEND_NATIVE].reason, need->name));
        facts.features[need->feature].available = true;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend");
    TCase *all = tcase_create("backend");

    tcase_add_test(all, every_backend_has_a_name_of_its_own);
    tcase_add_test(all, what_the_table_starts_the_launcher_can_start_and_nothing_else);
    tcase_add_test(all, a_plan_for_another_backend_is_not_carried_out);
    tcase_add_test(all, the_first_that_works_and_can_start_is_the_best);
    tcase_add_test(all, a_backend_is_found_out_by_what_it_needs);
    suite_add_tcase(suite, all);
    return test_run(suite, "backend");
}
