/* SPDX-License-Identifier: Apache-2.0 */
/* A policy through to its filter, on a host that has everything. */
#ifndef TESTS_SIM_FIXTURE_H
#define TESTS_SIM_FIXTURE_H

#include "lib/load.h"
#include "plan/filter.h"

#ifdef __x86_64__
#define NATIVE FILTER_X86_64
#else
#define NATIVE FILTER_AARCH64
#endif

struct fixture {
    struct bawn_policy *policy;
    struct host_facts facts;
    struct plan plan;
    enum filter_arch arch;
    uint32_t audit;
    struct sock_filter *program;
    size_t count;
};

extern const char protecting[];
extern const char plain[]; /* on a host that cannot notify */
extern const char debug[];
extern const char containers[];

void fixture_init(struct fixture *fixture, const char *text, enum filter_arch arch);
void fixture_done(struct fixture *fixture);

#endif
