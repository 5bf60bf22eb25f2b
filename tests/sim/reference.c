/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's rules through libseccomp. Its rules have no order, at most one
 * comparison for each argument and no "not equal" under a mask. So conditions
 * become cubes, sets of the form (arg & mask) == value for every argument, and
 * each rule gets those that no earlier one has taken.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "sim/oracle.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ARGS = 6 };

struct cube {
    uint32_t mask[ARGS], value[ARGS];
};

struct cubes {
    struct cube *items;
    size_t count, size;
};

/* Adds what two have in common, if anything. */
static int add_common(struct cubes *to, const struct cube *a, const struct cube *b)
{
    struct cube common;

    for (size_t i = 0; i < ARGS; i++) {
        uint32_t both = a->mask[i] & b->mask[i];

        if ((a->value[i] & both) != (b->value[i] & both))
            return 0;
        common.mask[i] = a->mask[i] | b->mask[i];
        common.value[i] = a->value[i] | b->value[i];
    }
    return vec_push(to, common) ? 0 : -ENOMEM;
}

/* Replaces from by those parts of it for which the test holds, or with fails those others. */
static int narrow(struct cubes *from, const struct syscall_test *test, bool fails)
{
    struct cubes to = {0};
    bool equal = !test->is_not != fails;
    int r = 0;

    for (size_t i = 0; i < from->count && r == 0; i++) {
        struct cube part = {0};

        if (equal) {
            part.mask[test->arg] = test->mask;
            part.value[test->arg] = test->value;
            r = add_common(&to, &from->items[i], &part);
            continue;
        }
        /* The highest bit that differs: those above are equal. */
        for (uint32_t bit = 1U << 31; bit && r == 0; bit >>= 1) {
            if (!(test->mask & bit))
                continue;
            part.mask[test->arg] = test->mask & ~(bit - 1);
            part.value[test->arg] = (test->value ^ bit) & part.mask[test->arg];
            r = add_common(&to, &from->items[i], &part);
        }
    }
    free(from->items);
    *from = to;
    return r;
}

static int copy(struct cubes *to, const struct cubes *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (!vec_push(to, from->items[i]))
            return -ENOMEM;
    return 0;
}

static int add_rules(scmp_filter_ctx filter, uint32_t action, int number, const struct cubes *cubes)
{
    int r = 0;

    for (size_t i = 0; i < cubes->count && r == 0; i++) {
        struct scmp_arg_cmp tests[ARGS];
        unsigned count = 0;

        for (unsigned j = 0; j < ARGS; j++)
            if (cubes->items[i].mask[j])
                tests[count++] = (struct scmp_arg_cmp){
                    j, SCMP_CMP_MASKED_EQ, cubes->items[i].mask[j], cubes->items[i].value[j]};
        r = seccomp_rule_add_exact_array(filter, action, number, count, tests);
    }
    return r;
}

/* Gives the rule what is left and holds; what does not hold stays in left. */
static int add_rule(scmp_filter_ctx filter, const struct syscall_rule *rule, int number,
                    struct cubes *left)
{
    static const uint32_t actions[] = {[SYSCALL_EPERM] = SCMP_ACT_ERRNO(EPERM),
                                       [SYSCALL_EACCES] = SCMP_ACT_ERRNO(EACCES),
                                       [SYSCALL_ENOSYS] = SCMP_ACT_ERRNO(ENOSYS),
                                       [SYSCALL_EAFNOSUPPORT] = SCMP_ACT_ERRNO(EAFNOSUPPORT),
                                       [SYSCALL_NOTIFY] = SCMP_ACT_NOTIFY};
    struct syscall_test tests[1 + SYSCALL_ALSO] = {
        {rule->arg, rule->mask, rule->value, rule->is_not},
        rule->also[0],
        rule->also[1],
        rule->also[2]};
    struct cubes holding = {0};
    struct cubes failing = {0};
    int r = copy(&holding, left);

    for (size_t i = 0; i < 1 + SYSCALL_ALSO && rule->arg >= 0 && r == 0; i++) {
        struct cubes part = {0};

        if (tests[i].mask == 0)
            continue;
        r = copy(&part, &holding);
        if (r == 0)
            r = narrow(&part, &tests[i], true);
        if (r == 0)
            r = copy(&failing, &part);
        free(part.items);
        if (r == 0)
            r = narrow(&holding, &tests[i], false);
    }
    if (r == 0)
        r = add_rules(filter, actions[rule->action], number, &holding);
    free(holding.items);
    free(left->items);
    *left = failing;
    return r;
}

static int add_number(scmp_filter_ctx filter, const struct oracle *oracle, int number)
{
    struct cube everything = {0};
    struct cubes left = {0};
    int r = 0;

    if (!oracle_is_known(oracle->arch, (uint32_t)number))
        return seccomp_rule_add_exact(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
    if (!vec_push(&left, everything))
        return -ENOMEM;
    for (size_t i = 0; i < oracle->plan->syscalls.count && r == 0; i++)
        if (oracle->numbers[i] == number)
            r = add_rule(filter, oracle->plan->syscalls.items[i], number, &left);
    free(left.items);
    return r;
}

static int read_program(scmp_filter_ctx filter, struct sock_filter **ret_program, size_t *ret_count)
{
    autoclose int fd = memfd_create("filter", MFD_CLOEXEC);
    autofree struct sock_filter *program = NULL;
    struct stat status;
    int r;

    if (fd < 0)
        return -errno;
    r = seccomp_export_bpf(filter, fd);
    if (r < 0)
        return r;
    if (fstat(fd, &status) < 0)
        return -errno;
    program = malloc((size_t)status.st_size);
    if (!program || pread(fd, program, (size_t)status.st_size, 0) != status.st_size)
        return -EIO;
    *ret_count = (size_t)status.st_size / sizeof(*program);
    *ret_program = take_ptr(&program);
    return 0;
}

int reference_compile(const struct oracle *oracle, struct sock_filter **ret_program,
                      size_t *ret_count)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int r;

    if (!filter)
        return -ENOMEM;
    r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (r == 0)
        r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (int number = 0; number < ORACLE_NUMBERS && r == 0; number++)
        r = add_number(filter, oracle, number);
    if (r == 0)
        r = read_program(filter, ret_program, ret_count);
    seccomp_release(filter);
    return r;
}
