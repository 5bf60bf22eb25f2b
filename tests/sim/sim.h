/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a seccomp program without a kernel, and tells what it looked at. */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_result {
    uint32_t verdict; /* SECCOMP_RET_* with its data */
    size_t steps;     /* instructions that ran */
    bool read_args;   /* so the kernel cannot remember the verdict for the number alone */
};

/* Whether the kernel would take the program: known instructions, jumps that stay inside, aligned
 * loads within the data, no way past the end. */
bool sim_check(const struct sock_filter *program, size_t count);

/* Only for a program that sim_check takes. */
struct sim_result sim_run(const struct sock_filter *program, const struct seccomp_data *data);

/* "allow", "errno 1", "notify", "kill", or a number: for messages, from a buffer of its own. */
const char *sim_word(uint32_t verdict);

#endif
