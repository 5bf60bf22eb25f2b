/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plan's rules say about a call, twice more: read from the table row
 * by row, and compiled by libseccomp. Shares no code with plan/filter.c.
 */
#ifndef TESTS_SIM_ORACLE_H
#define TESTS_SIM_ORACLE_H

#include "plan/filter.h"

#include <linux/seccomp.h>

/* The largest number that is tried. */
enum { ORACLE_NUMBERS = 1024 };

struct oracle {
    const struct plan *plan;
    enum filter_arch arch;
    uint32_t audit;
    int *numbers; /* of the plan's rows; -1: not on this machine */
};

void oracle_init(struct oracle *oracle, const struct plan *plan, enum filter_arch arch);
void oracle_done(struct oracle *oracle);

/* Whether the machine has a call of that number, as of the last kernel the table knows. */
bool oracle_is_known(enum filter_arch arch, uint32_t number);

/* A SECCOMP_RET_* value. */
uint32_t oracle_verdict(const struct oracle *oracle, const struct seccomp_data *data);

/* Calls try with all combinations of arguments that are near what a rule for the number compares
 * with, each with and without bits in the upper half of the register. */
void oracle_each_call(const struct oracle *oracle, uint32_t number,
                      void (*try)(void *context, const struct seccomp_data *data), void *context);

/*
 * The same rules through libseccomp, for x86_64. It has no ranges: numbers past
 * ORACLE_NUMBERS are allowed there. Free *ret_program. 0 or a negative errno.
 */
int reference_compile(const struct oracle *oracle, struct sock_filter **ret_program,
                      size_t *ret_count);

#endif
