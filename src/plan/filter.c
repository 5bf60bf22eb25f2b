/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan's syscall rules as a seccomp program.
 *
 * How it works: every number gets a verdict, which is what its rules say.
 * Neighbours with equal verdicts become one range, up to the largest number
 * there is: so the numbers of x32 and those that are not known yet are ranges
 * like others. A tree over the ranges finds the one of a call; arguments are
 * looked at in its leaves only. The kernel runs the filter once for each number
 * when it is loaded, so the tree is balanced by how many numbers go each way.
 *
 * The program is written from its end to its start: where a jump leads is then
 * known when the jump is written. A place is counted from the end.
 */
#include "plan/filter.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define NATIVE FILTER_X86_64
#elif defined(__aarch64__)
#define NATIVE FILTER_AARCH64
#else
#define NATIVE FILTER_ARCH_COUNT
#endif

enum {
    RULES_MAX = 16,     /* for one call */
    LEAF_CALLS = 3,     /* more than this in one leaf are split */
    REACH = UINT8_MAX,  /* of a conditional jump */
    X32_BIT = 1U << 30, /* in every number of that ABI */
};

static const struct machine {
    uint32_t audit;
    uint32_t library; /* as libseccomp names it */
    bool is_x86;
} machines[] = {
    [FILTER_X86_64] = {AUDIT_ARCH_X86_64, SCMP_ARCH_X86_64, true},
    [FILTER_AARCH64] = {AUDIT_ARCH_AARCH64, SCMP_ARCH_AARCH64, false},
};

struct verdict {
    const struct syscall_rule *rules[RULES_MAX];
    size_t count;
    uint32_t otherwise; /* when no rule holds */
};

struct range {
    uint32_t first, last;
    struct verdict verdict;
};

/* Code that several ranges jump to. */
struct body {
    const struct verdict *verdict;
    size_t place;
};

struct writer {
    VEC(struct range) ranges;
    VEC(struct body) bodies;
    VEC(struct sock_filter) code; /* the last instruction first */
    bool failed;                  /* out of memory: checked once, at the end */
};

static const uint32_t returns[] = {
    [SYSCALL_EPERM] = SECCOMP_RET_ERRNO | EPERM,
    [SYSCALL_EACCES] = SECCOMP_RET_ERRNO | EACCES,
    [SYSCALL_ENOSYS] = SECCOMP_RET_ERRNO | ENOSYS,
    [SYSCALL_EAFNOSUPPORT] = SECCOMP_RET_ERRNO | EAFNOSUPPORT,
    [SYSCALL_NOTIFY] = SECCOMP_RET_USER_NOTIF,
};

static const struct verdict allow = {.otherwise = SECCOMP_RET_ALLOW};
static const struct verdict absent = {.otherwise = SECCOMP_RET_ERRNO | ENOSYS};
static const struct verdict foreign = {.otherwise = SECCOMP_RET_KILL_PROCESS};

int filter_number(enum filter_arch arch, const char *name)
{
    const struct machine *machine = &machines[arch];
    int number;

    for (size_t i = 0; i < syscall_new_count; i++)
        if (strcmp(syscall_new[i].name, name) == 0)
            return syscall_new[i].only_x86 && !machine->is_x86 ? -ENOENT : syscall_new[i].number;
    number = seccomp_syscall_resolve_name_arch(machine->library, name);
    if (number == __NR_SCMP_ERROR)
        return -EINVAL;
    return number < 0 ? -ENOENT : number;
}

static bool is_known(const struct machine *machine, int number)
{
    autofree char *name = NULL;

    for (size_t i = 0; i < syscall_new_count; i++)
        if (syscall_new[i].number == number && (machine->is_x86 || !syscall_new[i].only_x86))
            return true;
    name = seccomp_syscall_resolve_num_arch(machine->library, number);
    return name != NULL;
}

/* The tests of a rule, the first included. */
static size_t rule_tests(const struct syscall_rule *rule, struct syscall_test *tests)
{
    size_t count = 0;

    tests[count++] = (struct syscall_test){rule->arg, rule->mask, rule->value, rule->is_not};
    for (size_t i = 0; i < SYSCALL_ALSO; i++)
        if (rule->also[i].mask)
            tests[count++] = rule->also[i];
    return count;
}

static bool is_same_rule(const struct syscall_rule *a, const struct syscall_rule *b)
{
    struct syscall_test left[1 + SYSCALL_ALSO];
    struct syscall_test right[1 + SYSCALL_ALSO];
    size_t count = rule_tests(a, left);

    if (a->action != b->action || rule_tests(b, right) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (left[i].arg != right[i].arg || left[i].mask != right[i].mask ||
            left[i].value != right[i].value || !left[i].is_not != !right[i].is_not)
            return false;
    return true;
}

static bool is_same_verdict(const struct verdict *a, const struct verdict *b)
{
    if (a->count != b->count || a->otherwise != b->otherwise)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_rule(a->rules[i], b->rules[i]))
            return false;
    return true;
}

/* What the plan's rules say about a number; numbers[i] is that of rule i. */
static int verdict_of(const struct plan *plan, const int *numbers, int number,
                      struct verdict *ret_verdict)
{
    *ret_verdict = allow;
    for (size_t i = 0; i < plan->syscalls.count; i++) {
        const struct syscall_rule *rule = plan->syscalls.items[i];

        if (numbers[i] != number)
            continue;
        if (rule->arg < 0) {
            ret_verdict->otherwise = returns[rule->action];
            return 0;
        }
        if (ret_verdict->count == RULES_MAX)
            return -E2BIG;
        ret_verdict->rules[ret_verdict->count++] = rule;
    }
    return 0;
}

/* Adds the numbers from where the last range ended. */
static void add_range(struct writer *writer, uint32_t last, const struct verdict *verdict)
{
    size_t count = writer->ranges.count;
    struct range *before = count ? &writer->ranges.items[count - 1] : NULL;
    struct range range = {before ? before->last + 1 : 0, last, *verdict};

    if (before && is_same_verdict(&before->verdict, verdict))
        before->last = last;
    else if (!vec_push(&writer->ranges, range))
        writer->failed = true;
}

static int make_ranges(struct writer *writer, const struct plan *plan,
                       const struct machine *machine, const int *numbers)
{
    for (int number = 0; number <= SYSCALL_LAST; number++) {
        struct verdict verdict = absent;

        if (is_known(machine, number) && verdict_of(plan, numbers, number, &verdict) < 0)
            return -E2BIG;
        add_range(writer, (uint32_t)number, &verdict);
    }
    if (machine->is_x86) {
        add_range(writer, X32_BIT - 1, &absent);
        /* Negative numbers have the bit too, but are nobody's. */
        add_range(writer, INT32_MAX, &foreign);
    }
    add_range(writer, UINT32_MAX - 1, &absent);
    /* No call has the number -1, but a tracer that skips one sets it: its answer stays. */
    add_range(writer, UINT32_MAX, &allow);
    return 0;
}

static size_t write_code(struct writer *writer, unsigned code, size_t jt, size_t jf, uint32_t k)
{
    struct sock_filter instruction = {(uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};

    if (!vec_push(&writer->code, instruction)) {
        writer->failed = true;
        return 0;
    }
    return writer->code.count - 1;
}

/* How far it is from the instruction that is written next. */
static size_t distance(const struct writer *writer, size_t place)
{
    return writer->code.count - 1 - place;
}

static size_t write_jump(struct writer *writer, unsigned test, uint32_t k, size_t yes, size_t no)
{
    /* The second may be pushed out of reach by what is written for the first: one less. */
    if (distance(writer, yes) >= REACH)
        yes = write_code(writer, BPF_JMP | BPF_JA, 0, 0, (uint32_t)distance(writer, yes));
    if (distance(writer, no) >= REACH)
        no = write_code(writer, BPF_JMP | BPF_JA, 0, 0, (uint32_t)distance(writer, no));
    return write_code(writer, BPF_JMP | test | BPF_K, distance(writer, yes), distance(writer, no),
                      k);
}

/* An answer that is in reach, written again when it is not. */
static size_t write_return(struct writer *writer, uint32_t value)
{
    for (size_t i = writer->code.count; i-- > 0 && distance(writer, i) < REACH;)
        if (writer->code.items[i].code == (BPF_RET | BPF_K) && writer->code.items[i].k == value)
            return i;
    return write_code(writer, BPF_RET | BPF_K, 0, 0, value);
}

static bool is_one_bit(uint32_t mask)
{
    return (mask & (mask - 1)) == 0;
}

/* Whether the argument is changed by being looked at. */
static bool does_spoil(const struct syscall_test *test)
{
    return test->mask != UINT32_MAX && test->value != 0 &&
           !(is_one_bit(test->mask) && test->value == test->mask);
}

static size_t write_test(struct writer *writer, const struct syscall_test *test, bool is_loaded,
                         size_t holds, size_t fails)
{
    /* KERNEL(3.5): the data is in the machine's order; both machines have the low half first. */
    uint32_t at = (uint32_t)offsetof(struct seccomp_data, args) + 8U * (uint32_t)test->arg;
    size_t equal = test->is_not ? fails : holds;
    size_t differs = test->is_not ? holds : fails;
    size_t place;

    if (test->mask == UINT32_MAX || does_spoil(test))
        place = write_jump(writer, BPF_JEQ, test->value, equal, differs);
    else if (test->value == 0)
        place = write_jump(writer, BPF_JSET, test->mask, differs, equal);
    else
        place = write_jump(writer, BPF_JSET, test->mask, equal, differs);
    if (does_spoil(test))
        place = write_code(writer, BPF_ALU | BPF_AND | BPF_K, 0, 0, test->mask);
    if (!is_loaded)
        place = write_code(writer, BPF_LD | BPF_W | BPF_ABS, 0, 0, at);
    return place;
}

/* Whether an argument is still loaded, whole, whichever of the tests of a rule was the last. */
static bool leaves_loaded(const struct syscall_rule *rule, int arg)
{
    struct syscall_test tests[1 + SYSCALL_ALSO];
    size_t count = rule_tests(rule, tests);

    for (size_t i = 0; i < count; i++)
        if (tests[i].arg != arg || does_spoil(&tests[i]))
            return false;
    return true;
}

static size_t write_rules(struct writer *writer, const struct verdict *verdict)
{
    size_t next = write_return(writer, verdict->otherwise);

    for (size_t i = verdict->count; i-- > 0;) {
        const struct syscall_rule *rule = verdict->rules[i];
        struct syscall_test tests[1 + SYSCALL_ALSO];
        size_t holds = write_return(writer, returns[rule->action]);
        size_t fails = next;

        for (size_t j = rule_tests(rule, tests); j-- > 0;) {
            bool is_loaded = j == 0
                                 ? i > 0 && leaves_loaded(verdict->rules[i - 1], tests[j].arg)
                                 : tests[j - 1].arg == tests[j].arg && !does_spoil(&tests[j - 1]);

            holds = write_test(writer, &tests[j], is_loaded, holds, fails);
        }
        next = holds;
    }
    return next;
}

static size_t write_verdict(struct writer *writer, const struct verdict *verdict)
{
    struct body body = {.verdict = verdict};

    if (verdict->count == 0)
        return write_return(writer, verdict->otherwise);
    vec_each (&writer->bodies, known) {
        if (is_same_verdict(known->verdict, verdict))
            return known->place;
    }
    body.place = write_rules(writer, verdict);
    if (!vec_push(&writer->bodies, body))
        writer->failed = true;
    return body.place;
}

/* Whether the ranges are single numbers, few, in one range of another verdict. */
static bool is_leaf(const struct range *ranges, size_t count)
{
    if (count % 2 == 0 || count > 2 * LEAF_CALLS + 1)
        return false;
    for (size_t i = 1; i < count; i += 2)
        if (ranges[i].first != ranges[i].last ||
            !is_same_verdict(&ranges[i - 1].verdict, &ranges[i + 1].verdict))
            return false;
    return true;
}

/* Numbers that a kernel has: those are what loading costs. */
static size_t weight(const struct range *range)
{
    uint32_t last = range->last < SYSCALL_LAST ? range->last : SYSCALL_LAST;

    return range->first > SYSCALL_LAST ? 0 : last - range->first + 1;
}

/* Where to cut so that both sides weigh about the same; neither is empty. */
static size_t balance(const struct range *ranges, size_t count)
{
    size_t best = 1, least = SIZE_MAX, total = 0, left = 0;

    for (size_t i = 0; i < count; i++)
        total += weight(&ranges[i]);
    for (size_t i = 1; i < count; i++) {
        size_t heavier;

        left += weight(&ranges[i - 1]);
        heavier = left > total - left ? left : total - left;
        if (heavier < least) {
            least = heavier;
            best = i;
        }
    }
    return best;
}

static size_t write_tree(struct writer *writer, const struct range *ranges, size_t count)
{
    size_t yes, no, cut;

    if (is_leaf(ranges, count)) {
        no = write_verdict(writer, &ranges[0].verdict);
        for (size_t i = count; i-- > 1;) {
            if (i % 2 == 0)
                continue;
            yes = write_verdict(writer, &ranges[i].verdict);
            no = write_jump(writer, BPF_JEQ, ranges[i].first, yes, no);
        }
        return no;
    }
    cut = balance(ranges, count);
    yes = write_tree(writer, ranges + cut, count - cut);
    no = write_tree(writer, ranges, cut);
    return write_jump(writer, BPF_JGE, ranges[cut].first, yes, no);
}

static void write_program(struct writer *writer, const struct machine *machine)
{
    size_t tree, kill;

    write_tree(writer, writer->ranges.items, writer->ranges.count);
    tree = write_code(writer, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
    kill = write_return(writer, foreign.otherwise);
    write_jump(writer, BPF_JEQ, machine->audit, tree, kill);
    write_code(writer, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
}

static int writer_give(struct writer *writer, struct sock_filter **ret_program, size_t *ret_count)
{
    size_t count = writer->code.count;

    if (writer->failed)
        return -ENOMEM;
    if (count > BPF_MAXINSNS)
        return -E2BIG;
    for (size_t i = 0; i < count / 2; i++) {
        struct sock_filter last = writer->code.items[count - 1 - i];

        writer->code.items[count - 1 - i] = writer->code.items[i];
        writer->code.items[i] = last;
    }
    *ret_count = count;
    *ret_program = take_ptr(&writer->code.items);
    return 0;
}

/* The numbers of the plan's rules, negative for those that this machine does not have. */
static int find_numbers(const struct plan *plan, enum filter_arch arch, int **ret_numbers,
                        struct bawn_error *err)
{
    autofree int *numbers = NULL;

    if (arch >= FILTER_ARCH_COUNT)
        return error_set(err, ENOTSUP, "filter.unknown_machine",
                         "syscall filter: the calls of this machine are not known");
    numbers = calloc(plan->syscalls.count, sizeof(*numbers));
    if (!numbers)
        return error_memory(err);
    for (size_t i = 0; i < plan->syscalls.count; i++) {
        const char *name = plan->syscalls.items[i]->name;

        numbers[i] = filter_number(arch, name);
        /* SECURITY: a name that libseccomp is too old for would be allowed. */
        if (numbers[i] == -EINVAL)
            return error_set(err, EINVAL, "filter.unknown_syscall",
                             "syscall filter: libseccomp does not know %s", name);
    }
    *ret_numbers = take_ptr(&numbers);
    return 0;
}

int filter_compile_for(const struct plan *plan, enum filter_arch arch,
                       struct sock_filter **ret_program, size_t *ret_count, struct bawn_error *err)
{
    struct writer writer = {0};
    autofree int *numbers = NULL;
    int r;

    *ret_program = NULL;
    *ret_count = 0;
    if (plan->syscalls.count == 0)
        return 0;
    r = find_numbers(plan, arch, &numbers, err);
    if (!numbers)
        return r;
    r = make_ranges(&writer, plan, &machines[arch], numbers);
    if (r == 0 && !writer.failed)
        write_program(&writer, &machines[arch]);
    if (r == 0)
        r = writer_give(&writer, ret_program, ret_count);
    vec_done(&writer.ranges);
    vec_done(&writer.bodies);
    vec_done(&writer.code);
    if (r == -ENOMEM)
        return error_memory(err);
    return r < 0 ? error_errno(err, -r, "syscall filter") : 0;
}

int filter_compile(const struct plan *plan, struct sock_filter **ret_program, size_t *ret_count,
                   struct bawn_error *err)
{
    return filter_compile_for(plan, NATIVE, ret_program, ret_count, err);
}
