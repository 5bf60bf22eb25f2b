/* SPDX-License-Identifier: Apache-2.0 */
/* Which limit was hit, and what is said about it. */
#include "base/text.h"
#include "lib/test.h"
#include "session/breach.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static const struct cgroup_limits limits = {.pids = 1024, .memory = 2ULL << 30, .cpu_percent = 80};

START_TEST(gravest_limit_is_told)
{
    struct cgroup_metrics before = {.oom_kills = 3, .pids_refused = 2, .throttled_usec = 10};
    struct cgroup_metrics after = before;

    ck_assert_int_eq(breach_find(&before, &after), BREACH_NONE);
    after.throttled_usec = 11;
    ck_assert_int_eq(breach_find(&before, &after), BREACH_CPU);
    after.pids_refused = 3;
    ck_assert_int_eq(breach_find(&before, &after), BREACH_PIDS);
    after.oom_kills = 4;
    ck_assert_int_eq(breach_find(&before, &after), BREACH_MEMORY);
}
END_TEST

START_TEST(from_the_beginning_everything_counts)
{
    struct cgroup_metrics none = {.pids_peak = 5, .memory_peak = 100, .cpu_usec = 7};
    struct cgroup_metrics refused = {.pids_refused = 1};

    ck_assert_int_eq(breach_find(NULL, &none), BREACH_NONE);
    ck_assert_int_eq(breach_find(NULL, &refused), BREACH_PIDS);
}
END_TEST

START_TEST(measured_memory_is_a_breach_above_the_limit_only)
{
    struct cgroup_limits unlimited = {0};

    ck_assert_int_eq(breach_find_measured(limits.memory, 0, &limits), BREACH_NONE);
    ck_assert_int_eq(breach_find_measured(limits.memory + 1, 2000, &limits), BREACH_MEMORY);
    ck_assert_int_eq(breach_find_measured(UINT64_MAX, UINT64_MAX, &unlimited), BREACH_NONE);
    ck_assert_int_eq(breach_find_measured(0, 1022, &limits), BREACH_NONE);
    ck_assert_int_eq(breach_find_measured(0, 1023, &limits), BREACH_PIDS);
}
END_TEST

START_TEST(memory_is_told_with_the_way_to_raise_it)
{
    struct bawn_error err = {0};
    uint64_t bytes;

    breach_explain(BREACH_MEMORY, &limits, &err);
    ck_assert_str_eq(err.code, "limit.memory");
    ck_assert_str_eq(err.message, "the memory limit of 2 GiB was reached (limits.memory)");
    ck_assert_str_eq(err.hint, "raise it with --set sandbox.limits.memory=4GiB");
    /* The hint is a value that a policy takes. */
    ck_assert(text_parse_size(strchr(err.hint, '=') + 1, &bytes));
    ck_assert_uint_eq(bytes, 4ULL << 30);
}
END_TEST

START_TEST(odd_sizes_are_told_whole)
{
    static const struct {
        uint64_t memory;
        const char *is, *more;
    } rows[] = {
        {1000, "of 1000 was", "=2000"},
        {1536ULL << 20, "of 1536 MiB was", "=3GiB"},
        {64ULL << 20, "of 64 MiB was", "=128MiB"},
        {512, "of 512 was", "=1KiB"},
        {1ULL << 42, "of 4 TiB was", "=8TiB"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cgroup_limits odd = {.memory = rows[i].memory};
        struct bawn_error err = {0};
        uint64_t bytes;

        breach_explain(BREACH_MEMORY, &odd, &err);
        ck_assert_ptr_nonnull(strstr(err.message, rows[i].is));
        ck_assert_str_eq(strchr(err.hint, '='), rows[i].more);
        ck_assert(text_parse_size(strchr(err.hint, '=') + 1, &bytes));
        ck_assert_uint_eq(bytes, rows[i].memory * 2);
    }
}
END_TEST

START_TEST(the_other_limits_have_words_too)
{
    struct bawn_error err = {0};

    breach_explain(BREACH_PIDS, &limits, &err);
    ck_assert_str_eq(err.code, "limit.pids");
    ck_assert_str_eq(err.message,
                     "the limit of 1024 processes and threads was reached (limits.pids)");
    ck_assert_str_eq(err.hint, "raise it with --set sandbox.limits.pids=2048");
    breach_explain(BREACH_CPU, &limits, &err);
    ck_assert_str_eq(err.code, "limit.cpu");
    ck_assert_str_eq(err.message, "the CPU limit of 80 % slowed the command down (limits.cpu)");
    ck_assert_str_eq(err.hint, "raise it with --set sandbox.limits.cpu=160");
}
END_TEST

START_TEST(layers_that_are_too_large_are_told_with_what_they_hold)
{
    struct breach_layers layers = {.session = "fix", .limit = 1 << 30, .held = 1288490188};
    struct bawn_error err = {0};

    breach_explain_layers(&layers, &err);
    ck_assert_int_eq(err.errnum, EDQUOT);
    ck_assert_str_eq(err.code, "limit.layer_size");
    ck_assert_str_eq(err.message, "what the command changed takes more than 1 GiB "
                                  "(limits.layer_size): its layers hold 1.2 GiB");
    ck_assert_str_eq(err.hint,
                     "raise it with --set sandbox.limits.layer_size=4GiB; what it changed "
                     "is still there: bawn diff fix");
    layers = (struct breach_layers){.session = "fix",
                                    .limit = 40000000000,
                                    .held = 40000000001,
                                    .is_share = true,
                                    .is_deep = true};
    breach_explain_layers(&layers, &err);
    ck_assert_str_eq(err.message,
                     "what the command changed takes more than 37.3 GiB, half of the room that was "
                     "free (limits.layer_size): its layers hold 37.3 GiB, and what is in "
                     "directories too deep to be looked at");
    layers = (struct breach_layers){.session = "fix", .limit = 1000, .held = 4096};
    ck_assert_int_eq(breach_refuse_layers(&layers, &err), -EDQUOT);
    ck_assert_str_eq(err.message, "what session fix changed takes more than 1000 "
                                  "(limits.layer_size): its layers hold 0.0 MiB");
    ck_assert_str_eq(err.hint, "take it with 'bawn apply fix', drop it with 'bawn discard fix', or "
                               "raise the limit with --set sandbox.limits.layer_size=2MiB");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("breach");
    TCase *cases = tcase_create("breach");

    tcase_add_test(cases, gravest_limit_is_told);
    tcase_add_test(cases, from_the_beginning_everything_counts);
    tcase_add_test(cases, measured_memory_is_a_breach_above_the_limit_only);
    tcase_add_test(cases, memory_is_told_with_the_way_to_raise_it);
    tcase_add_test(cases, odd_sizes_are_told_whole);
    tcase_add_test(cases, the_other_limits_have_words_too);
    tcase_add_test(cases, layers_that_are_too_large_are_told_with_what_they_hold);
    suite_add_tcase(suite, cases);
    return test_run(suite, "breach");
}
