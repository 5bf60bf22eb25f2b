/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fixture.h"

#include "sim/sim.h"

#include <linux/audit.h>

const char protecting[] = "sandbox: {deny: ['/srv/**/*.pem']}\n";
const char plain[] = "sandbox: {}\n";
const char debug[] = "sandbox: {process: {debug: true}, deny: ['/srv/**/*.pem']}\n";
const char containers[] = "sandbox: {process: {containers: true}, deny: ['/srv/**/*.pem']}\n";

static enum look look_nowhere(void *context, const char *path, char *target, size_t target_size)
{
    (void)context, (void)path, (void)target, (void)target_size;
    return LOOK_ABSENT;
}

void fixture_init(struct fixture *fixture, const char *text, enum filter_arch arch)
{
    static const struct looker looker = {.look = look_nowhere};
    struct plan_input input = {.facts = &fixture->facts, .looker = &looker};
    struct bawn_error err = {0};

    memset(fixture, 0, sizeof(*fixture));
    fixture->arch = arch;
    fixture->audit = arch == FILTER_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
    fixture->policy = load_text(text);
    input.policy = &fixture->policy->policy;
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        fixture->facts.features[i].available = i != FEATURE_NOTIFY || text != plain;
    fixture->facts.backends[BACKEND_NATIVE].available = true;
    ck_assert_int_eq(plan_make(&input, &fixture->plan, &err), 0);
    ck_assert_msg(
        filter_compile_for(&fixture->plan, arch, &fixture->program, &fixture->count, &err) == 0,
        "%s", err.message);
    ck_assert(sim_check(fixture->program, fixture->count));
}

void fixture_done(struct fixture *fixture)
{
    free(fixture->program);
    plan_done(&fixture->plan);
    bawn_policy_free(fixture->policy);
}
