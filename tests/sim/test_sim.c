/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator itself: programs short enough to be followed by hand. */
#include "lib/test.h"
#include "sim/sim.h"

#include <errno.h>

#define LOAD(at)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define JUMP(op, ...) BPF_JUMP(BPF_JMP | (op) | BPF_K, __VA_ARGS__)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define LENGTH(list)  (sizeof(list) / sizeof((list)[0]))
#define ARG0          16

START_TEST(every_jump_goes_where_it_says)
{
    static const struct {
        uint16_t op;
        uint32_t k, value, verdict;
    } table[] = {
        {BPF_JEQ, 7, 7, 1},
        {BPF_JEQ, 7, 8, 2},
        {BPF_JGE, 7, 7, 1},
        {BPF_JGE, 7, 6, 2},
        {BPF_JGE, 7, 0xffffffff, 1},
        {BPF_JGT, 7, 7, 2},
        {BPF_JGT, 7, 8, 1},
        {BPF_JSET, 6, 4, 1},
        {BPF_JSET, 6, 9, 2},
        {BPF_JSET, 6, 0, 2},
        {BPF_JSET, 0x80000000, 0x80000001, 1},
    };

    for (size_t i = 0; i < LENGTH(table); i++) {
        struct sock_filter program[] = {LOAD(0), JUMP(table[i].op, table[i].k, 1, 0), RETURN(2),
                                        RETURN(1)};
        struct seccomp_data data = {.nr = (int)table[i].value};
        struct sim_result result;

        ck_assert(sim_check(program, LENGTH(program)));
        result = sim_run(program, &data);
        ck_assert_msg(result.verdict == table[i].verdict, "row %zu", i);
        ck_assert_uint_eq(result.steps, 3);
        ck_assert(!result.read_args);
    }
}
END_TEST

START_TEST(arguments_are_read_in_halves_and_masked)
{
    static const struct sock_filter program[] = {LOAD(ARG0),
                                                 BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
                                                 JUMP(BPF_JEQ, 0x30, 0, 3),
                                                 LOAD(ARG0 + 4),
                                                 JUMP(BPF_JEQ, 9, 0, 1),
                                                 RETURN(1),
                                                 BPF_STMT(BPF_JMP | BPF_JA, 1),
                                                 RETURN(2),
                                                 RETURN(3)};
    struct seccomp_data data = {.args = {(9ULL << 32) + 0xabcdef31}};
    struct sim_result result;

    ck_assert(sim_check(program, LENGTH(program)));
    result = sim_run(program, &data);
    ck_assert_uint_eq(result.verdict, 1);
    ck_assert(result.read_args);
    data.args[0] = 0x31;
    ck_assert_uint_eq(sim_run(program, &data).verdict, 3);
    data.args[0] = 0x41;
    ck_assert_uint_eq(sim_run(program, &data).verdict, 3);
}
END_TEST

START_TEST(what_the_kernel_refuses_is_refused)
{
    static const struct sock_filter bad[][3] = {
        {LOAD(0), RETURN(0), LOAD(0)},                                /* runs off the end */
        {LOAD(1), RETURN(0), RETURN(0)},                              /* not aligned */
        {LOAD(64), RETURN(0), RETURN(0)},                             /* past the data */
        {LOAD(0), JUMP(BPF_JEQ, 0, 1, 0), RETURN(0)},                 /* past the end, true */
        {LOAD(0), JUMP(BPF_JEQ, 0, 0, 1), RETURN(0)},                 /* past the end, false */
        {LOAD(0), BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(0)},          /* past the end, always */
        {LOAD(0), BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), RETURN(0)}, /* backwards */
        {LOAD(0), BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RETURN(0)},  /* a byte */
    };
    static const struct sock_filter good[] = {RETURN(0)};

    for (size_t i = 0; i < LENGTH(bad); i++)
        ck_assert_msg(!sim_check(bad[i], 3), "row %zu", i);
    ck_assert(sim_check(good, 1));
    ck_assert(!sim_check(good, 0));
}
END_TEST

START_TEST(verdicts_have_words)
{
    ck_assert_str_eq(sim_word(SECCOMP_RET_ALLOW), "allow");
    ck_assert_str_eq(sim_word(SECCOMP_RET_USER_NOTIF), "notify");
    ck_assert_str_eq(sim_word(SECCOMP_RET_KILL_PROCESS), "kill");
    ck_assert_str_eq(sim_word(SECCOMP_RET_ERRNO | EPERM), "errno 1");
    ck_assert_str_eq(sim_word(SECCOMP_RET_TRAP), "0x30000");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim");
    TCase *all = tcase_create("sim");

    tcase_add_test(all, every_jump_goes_where_it_says);
    tcase_add_test(all, arguments_are_read_in_halves_and_masked);
    tcase_add_test(all, what_the_kernel_refuses_is_refused);
    tcase_add_test(all, verdicts_have_words);
    suite_add_tcase(suite, all);
    return test_run(suite, "sim");
}
