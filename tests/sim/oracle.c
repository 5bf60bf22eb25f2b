/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/oracle.h"

#include "lib/test.h"

#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <string.h>

enum { ARGS = 6, VALUES_MAX = 128, LAST_KNOWN = 469 };

/* libseccomp 2.5 does not know it. */
static const struct {
    const char *name;
    int number;
} newer[] = {{"open_tree_attr", 467}, {"setxattrat", 463}, {"removexattrat", 466}};

static int number_of(uint32_t library, const char *name)
{
    for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
        if (strcmp(newer[i].name, name) == 0)
            return newer[i].number;
    return seccomp_syscall_resolve_name_arch(library, name);
}

void oracle_init(struct oracle *oracle, const struct plan *plan, enum filter_arch arch)
{
    bool is_x86 = arch == FILTER_X86_64;

    *oracle = (struct oracle){.plan = plan, .arch = arch};
    oracle->audit = is_x86 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
    oracle->numbers = calloc(plan->syscalls.count + 1, sizeof(*oracle->numbers));
    ck_assert_ptr_nonnull(oracle->numbers);
    for (size_t i = 0; i < plan->syscalls.count; i++) {
        const char *name = plan->syscalls.items[i]->name;

        oracle->numbers[i] = number_of(is_x86 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64, name);
        ck_assert_msg(oracle->numbers[i] != __NR_SCMP_ERROR, "%s", name);
    }
}

void oracle_done(struct oracle *oracle)
{
    free(oracle->numbers);
}

bool oracle_is_known(enum filter_arch arch, uint32_t number)
{
    if (arch == FILTER_X86_64)
        return number <= LAST_KNOWN && !(number >= 337 && number <= 423);
    return number <= LAST_KNOWN && !(number >= 244 && number <= 259) &&
           !(number >= 295 && number <= 423);
}

static bool holds(const struct syscall_test *test, const struct seccomp_data *data)
{
    uint32_t value;
    bool is_equal;

    if (test->mask == 0)
        return true;
    value = (uint32_t)(data->args[test->arg] & 0xffffffff);
    is_equal = (value & test->mask) == test->value;
    return test->is_not ? !is_equal : is_equal;
}

static bool applies(const struct syscall_rule *rule, const struct seccomp_data *data)
{
    struct syscall_test first = {rule->arg, rule->mask, rule->value, rule->is_not};

    if (rule->arg == -1)
        return true;
    if (!holds(&first, data))
        return false;
    for (size_t i = 0; i < SYSCALL_ALSO; i++)
        if (!holds(&rule->also[i], data))
            return false;
    return true;
}

static uint32_t action_verdict(enum syscall_action action)
{
    switch (action) {
    case SYSCALL_EACCES:
        return SECCOMP_RET_ERRNO | EACCES;
    case SYSCALL_EPERM:
        return SECCOMP_RET_ERRNO | EPERM;
    case SYSCALL_ENOSYS:
        return SECCOMP_RET_ERRNO | ENOSYS;
    case SYSCALL_EAFNOSUPPORT:
        return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    default:
        return SECCOMP_RET_USER_NOTIF;
    }
}

uint32_t oracle_verdict(const struct oracle *oracle, const struct seccomp_data *data)
{
    uint32_t number = (uint32_t)data->nr;

    if (data->arch != oracle->audit)
        return SECCOMP_RET_KILL_PROCESS;
    if (data->nr == -1)
        return SECCOMP_RET_ALLOW;
    if (oracle->arch == FILTER_X86_64 && number >= 0x40000000 && data->nr > 0)
        return SECCOMP_RET_KILL_PROCESS;
    if (!oracle_is_known(oracle->arch, number))
        return SECCOMP_RET_ERRNO | ENOSYS;
    for (size_t i = 0; i < oracle->plan->syscalls.count; i++) {
        const struct syscall_rule *rule = oracle->plan->syscalls.items[i];

        if (oracle->numbers[i] == data->nr && applies(rule, data))
            return action_verdict(rule->action);
    }
    return SECCOMP_RET_ALLOW;
}

struct values {
    uint64_t items[VALUES_MAX];
    size_t count;
};

static void add_value(struct values *values, uint32_t low)
{
    static const uint64_t high[] = {0, 1ULL << 32, 0xffffffffULL << 32};

    for (size_t i = 0; i < values->count; i++)
        if ((uint32_t)values->items[i] == low)
            return;
    ck_assert_uint_le(values->count + 3, VALUES_MAX);
    for (size_t i = 0; i < sizeof(high) / sizeof(high[0]); i++)
        values->items[values->count++] = high[i] | low;
}

static void add_near(struct values *values, const struct syscall_test *test)
{
    uint32_t lowest = test->mask & (~test->mask + 1);

    if (test->mask == 0)
        return;
    add_value(values, test->value);
    add_value(values, test->value - 1);
    add_value(values, test->value + 1);
    add_value(values, test->value ^ lowest);
    add_value(values, test->value ^ 0x80000000U);
    add_value(values, test->value | ~test->mask);
    add_value(values, test->mask);
    add_value(values, ~test->mask);
    /* Each bit of a mask on its own: a test that forgot one of them shows. */
    for (uint32_t bit = 1; bit && test->mask != 0xffffffff; bit <<= 1)
        if (test->mask & bit)
            add_value(values, bit);
}

void oracle_each_call(const struct oracle *oracle, uint32_t number,
                      void (*try)(void *context, const struct seccomp_data *data), void *context)
{
    struct values values[ARGS] = {0};
    size_t turn[ARGS] = {0};
    bool has_tests = false;
    size_t at;

    for (size_t i = 0; i < oracle->plan->syscalls.count; i++) {
        const struct syscall_rule *rule = oracle->plan->syscalls.items[i];
        struct syscall_test first = {rule->arg, rule->mask, rule->value, rule->is_not};

        if (oracle->numbers[i] != (int)number || rule->arg < 0)
            continue;
        has_tests = true;
        add_near(&values[rule->arg], &first);
        add_value(&values[rule->arg], 0xffffffff);
        for (size_t j = 0; j < SYSCALL_ALSO; j++)
            add_near(&values[rule->also[j].arg], &rule->also[j]);
    }
    /* What no rule looks at. */
    for (size_t i = 0; i < ARGS; i++) {
        if (values[i].count == 0)
            values[i] = (struct values){.items = {0, ~0ULL}, .count = has_tests ? 1 : 2};
    }
    do {
        struct seccomp_data data = {.nr = (int)number, .arch = oracle->audit};

        for (size_t i = 0; i < ARGS; i++)
            data.args[i] = values[i].items[turn[i]];
        try(context, &data);
        for (at = 0; at < ARGS && ++turn[at] == values[at].count; at++)
            turn[at] = 0;
    } while (at < ARGS);
}
