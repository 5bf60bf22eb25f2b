/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled filter, run in a simulator for every number. sim/test_load.c runs it in the kernel.
 */
#include "base/cleanup.h"
#include "lib/test.h"
#include "plan/filter.h"
#include "sim/fixture.h"
#include "sim/oracle.h"
#include "sim/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/socket.h>

#define X32_BIT        0x40000000U
#define ERRNO(number)  (SECCOMP_RET_ERRNO | (uint32_t)(number))
#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

static const char *const policies[] = {protecting, plain, debug, containers};

static uint32_t verdict_of(const struct fixture *fixture, uint32_t number, const uint64_t *args)
{
    struct seccomp_data data = {.nr = (int)number, .arch = fixture->audit};

    if (args)
        memcpy(data.args, args, sizeof(data.args));
    return sim_run(fixture->program, &data).verdict;
}

static uint32_t named(const struct fixture *fixture, const char *name, const uint64_t *args)
{
    int number = filter_number(fixture->arch, name);

    ck_assert_msg(number >= 0, "%s", name);
    return verdict_of(fixture, (uint32_t)number, args);
}

struct comparison {
    const struct oracle *oracle;
    const struct sock_filter *program;
    const struct sock_filter *reference; /* NULL: only the oracle */
    size_t calls;
};

static void compare(void *context, const struct seccomp_data *data)
{
    struct comparison *comparison = context;
    uint32_t got = sim_run(comparison->program, data).verdict;
    uint32_t wanted = oracle_verdict(comparison->oracle, data);
    uint32_t also = comparison->reference ? sim_run(comparison->reference, data).verdict : wanted;

    comparison->calls++;
    if (got != wanted || got != also)
        ck_abort_msg("nr %#x arch %#x args %#llx %#llx %#llx %#llx: %s, table: %s, libseccomp: %s",
                     (unsigned)data->nr, data->arch, data->args[0], data->args[1], data->args[2],
                     data->args[3], sim_word(got), sim_word(wanted), sim_word(also));
}

/* The same call as the other ABIs of the machine would make it. */
static void compare_foreign(void *context, const struct seccomp_data *data)
{
    static const uint32_t arches[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
                                      AUDIT_ARCH_ARM};
    struct seccomp_data other = *data;

    compare(context, data);
    for (size_t i = 0; i < COUNT_OF(arches); i++) {
        other.arch = arches[i];
        compare(context, &other);
    }
    other = *data;
    other.nr = (int)((uint32_t)data->nr | X32_BIT);
    compare(context, &other);
}

static void compare_all(struct comparison *comparison)
{
    for (uint32_t number = 0; number < ORACLE_NUMBERS; number++)
        oracle_each_call(comparison->oracle, number, compare_foreign, comparison);
}

START_TEST(every_number_and_argument_gets_what_the_table_says)
{
    static const uint32_t edges[] = {0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff, 0x80000000,
                                     0xbfffffff, 0xc0000000, 0xfffffffe, 0xffffffff};

    for (size_t i = 0; i < COUNT_OF(policies) * FILTER_ARCH_COUNT; i++) {
        struct comparison comparison = {0};
        struct fixture fixture;
        struct oracle oracle;

        fixture_init(&fixture, policies[i / FILTER_ARCH_COUNT], i % FILTER_ARCH_COUNT);
        oracle_init(&oracle, &fixture.plan, fixture.arch);
        comparison = (struct comparison){.oracle = &oracle, .program = fixture.program};
        compare_all(&comparison);
        for (size_t j = 0; j < COUNT_OF(edges); j++)
            oracle_each_call(&oracle, edges[j], compare_foreign, &comparison);
        ck_assert_uint_gt(comparison.calls, 100000);
        oracle_done(&oracle);
        fixture_done(&fixture);
    }
}
END_TEST

START_TEST(libseccomp_compiles_the_table_to_the_same)
{
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        autofree struct sock_filter *reference = NULL;
        struct comparison comparison = {0};
        struct fixture fixture;
        struct oracle oracle;
        size_t count = 0;

        fixture_init(&fixture, policies[i], FILTER_X86_64);
        oracle_init(&oracle, &fixture.plan, FILTER_X86_64);
        ck_assert_int_eq(reference_compile(&oracle, &reference, &count), 0);
        ck_assert(sim_check(reference, count));
        comparison = (struct comparison){
            .oracle = &oracle, .program = fixture.program, .reference = reference};
        compare_all(&comparison);
        ck_assert_uint_gt(comparison.calls, 100000);
        oracle_done(&oracle);
        fixture_done(&fixture);
    }
}
END_TEST

/* What must be so, whatever the table says. */
static const char *const refused[] = {"mount",
                                      "umount2",
                                      "pivot_root",
                                      "chroot",
                                      "move_mount",
                                      "open_tree",
                                      "open_tree_attr",
                                      "fsopen",
                                      "fsconfig",
                                      "fsmount",
                                      "fspick",
                                      "mount_setattr",
                                      "unshare",
                                      "setns",
                                      "name_to_handle_at",
                                      "open_by_handle_at",
                                      "bpf",
                                      "perf_event_open",
                                      "userfaultfd",
                                      "kexec_load",
                                      "kexec_file_load",
                                      "init_module",
                                      "finit_module",
                                      "delete_module",
                                      "reboot",
                                      "swapon",
                                      "swapoff",
                                      "acct",
                                      "quotactl",
                                      "quotactl_fd",
                                      "iopl",
                                      "ioperm",
                                      "modify_ldt",
                                      "settimeofday",
                                      "clock_settime",
                                      "adjtimex",
                                      "clock_adjtime",
                                      "syslog",
                                      "kcmp",
                                      "process_madvise",
                                      "lookup_dcookie",
                                      "memfd_secret",
                                      "vmsplice",
                                      "process_vm_readv",
                                      "process_vm_writev",
                                      "pidfd_getfd",
                                      "add_key",
                                      "keyctl",
                                      "request_key",
                                      "sethostname",
                                      "setdomainname",
                                      "move_pages",
                                      "migrate_pages",
                                      "fanotify_init",
                                      "vhangup",
                                      "uselib"};
static const char *const hidden[] = {"clone3",
                                     "io_uring_setup",
                                     "io_uring_enter",
                                     "io_uring_register",
                                     "setxattrat",
                                     "removexattrat",
                                     "landlock_create_ruleset",
                                     "landlock_add_rule",
                                     "landlock_restrict_self"};
static const char *const told[] = {
    "unlink",      "unlinkat",     "rmdir",        "creat",     "openat2",   "mkdir",
    "mkdirat",     "mknod",        "mknodat",      "symlink",   "symlinkat", "link",
    "linkat",      "rename",       "renameat",     "renameat2", "truncate",  "chmod",
    "fchmod",      "fchmodat",     "fchmodat2",    "setxattr",  "lsetxattr", "fsetxattr",
    "removexattr", "lremovexattr", "fremovexattr", "bind",      "ptrace"};
static const char *const allowed[] = {"read",
                                      "write",
                                      "stat",
                                      "newfstatat",
                                      "statx",
                                      "execve",
                                      "execveat",
                                      "connect",
                                      "sendto",
                                      "fork",
                                      "vfork",
                                      "clone",
                                      "seccomp",
                                      "prctl",
                                      "pidfd_open",
                                      "pidfd_send_signal",
                                      "process_mrelease",
                                      "set_mempolicy",
                                      "mbind",
                                      "cachestat",
                                      "map_shadow_stack",
                                      "futex_wait",
                                      "statmount",
                                      "listmount",
                                      "lsm_get_self_attr",
                                      "lsm_list_modules",
                                      "mseal",
                                      "getxattrat",
                                      "listxattrat",
                                      "file_getattr",
                                      "file_setattr",
                                      "rseq",
                                      "close_range",
                                      "memfd_create",
                                      "ftruncate",
                                      "uretprobe",
                                      "uprobe"};

static void check_names(const struct fixture *fixture, const char *const *names, size_t count,
                        uint32_t wanted)
{
    static const uint64_t none[6];

    for (size_t i = 0; i < count; i++)
        ck_assert_msg(named(fixture, names[i], none) == wanted, "%s: %s", names[i],
                      sim_word(named(fixture, names[i], none)));
}

START_TEST(every_call_that_must_be_refused_is)
{
    struct fixture fixture;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    check_names(&fixture, refused, COUNT_OF(refused), ERRNO(EPERM));
    check_names(&fixture, hidden, COUNT_OF(hidden), ERRNO(ENOSYS));
    check_names(&fixture, told, COUNT_OF(told), SECCOMP_RET_USER_NOTIF);
    check_names(&fixture, allowed, COUNT_OF(allowed), SECCOMP_RET_ALLOW);
    fixture_done(&fixture);
}
END_TEST

START_TEST(x32_is_no_way_around_a_refusal)
{
    struct fixture fixture;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    for (size_t i = 0; i < syscall_table_count; i++) {
        int number = filter_number(FILTER_X86_64, syscall_table[i].name);

        ck_assert_int_ge(number, 0);
        ck_assert_uint_eq(verdict_of(&fixture, (uint32_t)number | X32_BIT, NULL),
                          SECCOMP_RET_KILL_PROCESS);
    }
    /* Its own range of numbers too. */
    for (uint32_t number = 512; number < 548; number++)
        ck_assert_uint_eq(verdict_of(&fixture, number | X32_BIT, NULL), SECCOMP_RET_KILL_PROCESS);
    ck_assert_uint_eq(verdict_of(&fixture, INT32_MAX, NULL), SECCOMP_RET_KILL_PROCESS);
    fixture_done(&fixture);
}
END_TEST

START_TEST(numbers_nobody_knows_are_not_there)
{
    for (enum filter_arch arch = 0; arch < FILTER_ARCH_COUNT; arch++) {
        struct fixture fixture;

        fixture_init(&fixture, plain, arch);
        for (uint32_t number = 470; number < 4096; number++)
            ck_assert_uint_eq(verdict_of(&fixture, number, NULL), ERRNO(ENOSYS));
        ck_assert_uint_eq(verdict_of(&fixture, X32_BIT - 1, NULL), ERRNO(ENOSYS));
        ck_assert_uint_eq(verdict_of(&fixture, (uint32_t)INT32_MIN, NULL), ERRNO(ENOSYS));
        ck_assert_uint_eq(verdict_of(&fixture, (uint32_t)-101, NULL), ERRNO(ENOSYS));
        ck_assert_uint_eq(verdict_of(&fixture, (uint32_t)-2, NULL), ERRNO(ENOSYS));
        /* A hole that later kernels may fill. */
        ck_assert_uint_eq(verdict_of(&fixture, 400, NULL), ERRNO(ENOSYS));
        /* A tracer's way to skip a call. */
        ck_assert_uint_eq(verdict_of(&fixture, 0xffffffff, NULL), SECCOMP_RET_ALLOW);
        fixture_done(&fixture);
    }
}
END_TEST

/* All flags that the kernel knows and one that it does not, in all combinations. */
START_TEST(only_opens_that_may_change_something_are_told)
{
    static const uint32_t bits[] = {O_CREAT,     O_TRUNC,    O_PATH,    O_TMPFILE, 020000000,
                                    O_DIRECTORY, O_EXCL,     0100000,   O_APPEND,  O_CLOEXEC,
                                    O_NONBLOCK,  O_NOFOLLOW, 0x80000000};
    static const uint64_t high[] = {0, 1ULL << 32, 0xffffffffULL << 32};
    struct fixture fixture;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    for (uint32_t set = 0; set < 4U << COUNT_OF(bits); set++) {
        uint32_t flags = set & 3;
        bool is_told;
        uint64_t as_open[6] = {0};
        uint64_t as_openat[6] = {0};

        for (size_t i = 0; i < COUNT_OF(bits); i++)
            if (set & 4U << i)
                flags |= bits[i];
        is_told = (flags & O_CREAT || flags & O_TRUNC || (flags & 3) != O_RDONLY) &&
                  !(flags & O_PATH) && !(flags & 020000000);
        as_open[1] = as_openat[2] = high[set % 3] | flags;
        if (named(&fixture, "open", as_open) !=
                (is_told ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW) ||
            named(&fixture, "openat", as_openat) != named(&fixture, "open", as_open))
            ck_abort_msg("open with flags %#o", flags);
    }
    fixture_done(&fixture);
}
END_TEST

/* One call with up to three arguments and what becomes of it. */
struct row {
    const char *name;
    uint64_t args[3];
    uint32_t verdict;
};

#define HIGH (0xdeadbeefULL << 32)

static const struct row rows[] = {
    {"ioctl", {0, 0x5412, 0}, ERRNO(EPERM)},
    {"ioctl", {0, HIGH | 0x5412, 0}, ERRNO(EPERM)},
    {"ioctl", {0, HIGH | 0x541c, 0}, ERRNO(EPERM)},
    {"ioctl", {0, HIGH | 0x5423, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x5413, 0}, SECCOMP_RET_ALLOW},
    {"ioctl", {0, HIGH | 0x50009401, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x5000940e, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x5000940f, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x50009417, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x50009418, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x5000943f, 0}, ERRNO(EPERM)},
    {"ioctl", {0, 0x50009402, 0}, SECCOMP_RET_ALLOW},
    {"ioctl", {0, 0x40086602, 0}, SECCOMP_RET_USER_NOTIF},
    {"ioctl", {0, HIGH | 0x40086602, 0}, SECCOMP_RET_USER_NOTIF},
    {"ioctl", {0, 0x80086601, 0}, SECCOMP_RET_ALLOW},
    {"socket", {AF_UNIX, SOCK_STREAM, 0}, SECCOMP_RET_ALLOW},
    {"socket", {AF_INET, SOCK_STREAM, 6}, SECCOMP_RET_ALLOW},
    {"socket", {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0}, SECCOMP_RET_ALLOW},
    {"socket", {HIGH | AF_INET6, SOCK_DGRAM, 0}, SECCOMP_RET_ALLOW},
    {"socket", {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, SECCOMP_RET_ALLOW},
    {"socket", {AF_NETLINK, SOCK_RAW, 9}, ERRNO(EAFNOSUPPORT)},
    {"socket", {HIGH | AF_NETLINK, SOCK_RAW, HIGH | 16}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_UNSPEC, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_VSOCK, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {HIGH | AF_VSOCK, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_PACKET, SOCK_RAW, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_ALG, SOCK_SEQPACKET, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_XDP, SOCK_RAW, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_TIPC, SOCK_RDM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_RDS, SOCK_SEQPACKET, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_KEY, SOCK_RAW, 2}, ERRNO(EAFNOSUPPORT)},
    {"socket", {43, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {60, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_INET, 10, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_INET, HIGH | SOCK_CLOEXEC | 10, 0}, ERRNO(EAFNOSUPPORT)},
    {"socket", {AF_INET, SOCK_STREAM, 262}, ERRNO(EPERM)},
    {"socket", {AF_INET6, SOCK_STREAM, HIGH | 262}, ERRNO(EPERM)},
    {"socket", {AF_INET, SOCK_DGRAM, 136}, ERRNO(EPERM)},
    {"socket", {AF_INET6, SOCK_DGRAM, HIGH | 136}, ERRNO(EPERM)},
    {"socket", {AF_INET, SOCK_DGRAM, 17}, SECCOMP_RET_ALLOW},
    {"socket", {AF_INET, SOCK_STREAM, HIGH | 256}, ERRNO(EPERM)},
    {"socketpair", {AF_UNIX, SOCK_STREAM, 0}, SECCOMP_RET_ALLOW},
    {"socketpair", {AF_INET, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"socketpair", {AF_TIPC, SOCK_STREAM, 0}, ERRNO(EAFNOSUPPORT)},
    {"sendmsg", {0, 0, MSG_NOSIGNAL}, SECCOMP_RET_ALLOW},
    {"sendmsg", {0, 0, HIGH | 0x20000000 | MSG_NOSIGNAL}, ERRNO(EPERM)},
    {"setsockopt", {0, 6, 30}, ERRNO(EPERM)},
    {"setsockopt", {0, HIGH | 6, HIGH | 30}, ERRNO(EPERM)},
    {"setsockopt", {0, 6, 1}, SECCOMP_RET_ALLOW},
    {"setsockopt", {0, 1, 30}, SECCOMP_RET_ALLOW},
    {"personality", {0, 0, 0}, SECCOMP_RET_ALLOW},
    {"personality", {0xffffffff, 0, 0}, SECCOMP_RET_ALLOW},
    {"personality", {~0ULL, 0, 0}, SECCOMP_RET_ALLOW},
    {"personality", {0x0040000, 0, 0}, ERRNO(EPERM)},
    {"personality", {HIGH | 8, 0, 0}, ERRNO(EPERM)},
    {"clone", {SIGCHLD, 0, 0}, SECCOMP_RET_ALLOW},
    {"clone", {CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0}, SECCOMP_RET_ALLOW},
    {"clone", {0x3d0f00, 0, 0}, SECCOMP_RET_ALLOW},
    {"clone", {CLONE_NEWUSER | SIGCHLD, 0, 0}, ERRNO(EPERM)},
    {"clone", {CLONE_NEWNS, 0, 0}, ERRNO(EPERM)},
    {"clone", {CLONE_NEWPID, 0, 0}, ERRNO(EPERM)},
    {"clone", {HIGH | CLONE_NEWNET, 0, 0}, ERRNO(EPERM)},
    {"clone", {CLONE_NEWIPC, 0, 0}, ERRNO(EPERM)},
    {"clone", {CLONE_NEWUTS, 0, 0}, ERRNO(EPERM)},
    {"clone", {CLONE_NEWCGROUP, 0, 0}, ERRNO(EPERM)},
};

START_TEST(arguments_are_what_the_kernel_sees_of_them)
{
    static const uint64_t fast_open[6] = {0, 0, 0, HIGH | 0x20000000, 0, 0};
    struct fixture fixture;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t args[6] = {rows[i].args[0], rows[i].args[1], rows[i].args[2], 0, 0, 0};
        uint32_t got = named(&fixture, rows[i].name, args);

        ck_assert_msg(got == rows[i].verdict, "row %zu, %s: %s", i, rows[i].name, sim_word(got));
    }
    ck_assert_uint_eq(named(&fixture, "sendto", fast_open), ERRNO(EPERM));
    ck_assert_uint_eq(named(&fixture, "sendmmsg", fast_open), ERRNO(EPERM));
    fixture_done(&fixture);
}
END_TEST

static bool has_rows(const struct plan *plan, enum syscall_when when)
{
    vec_each (&plan->syscalls, rule) {
        if ((*rule)->when == when)
            return true;
    }
    return false;
}

START_TEST(each_option_opens_its_own_calls_only)
{
    static const struct {
        const char *policy;
        const char *name;
        uint64_t arg;
        uint32_t verdict;
    } table[] = {
        {debug, "ptrace", 0, SECCOMP_RET_ALLOW},
        {debug, "process_vm_readv", 0, SECCOMP_RET_ALLOW},
        {debug, "pidfd_getfd", 0, SECCOMP_RET_ALLOW},
        {debug, "kcmp", 0, SECCOMP_RET_ALLOW},
        {debug, "process_madvise", 0, ERRNO(EPERM)},
        {debug, "mount", 0, ERRNO(EPERM)},
        {debug, "clone", CLONE_NEWUSER, ERRNO(EPERM)},
        {debug, "mkdir", 0, SECCOMP_RET_USER_NOTIF},
        {containers, "mount", 0, SECCOMP_RET_ALLOW},
        {containers, "open_tree_attr", 0, SECCOMP_RET_ALLOW},
        {containers, "unshare", 0, SECCOMP_RET_ALLOW},
        {containers, "clone", CLONE_NEWUSER, SECCOMP_RET_ALLOW},
        {containers, "clone3", 0, SECCOMP_RET_ALLOW},
        {containers, "keyctl", 0, ERRNO(ENOSYS)},
        {containers, "add_key", 0, ERRNO(ENOSYS)},
        {containers, "request_key", 0, ERRNO(ENOSYS)},
        {containers, "prlimit64", 1, ERRNO(EPERM)},
        {containers, "prlimit64", 0, SECCOMP_RET_ALLOW},
        {plain, "prlimit64", 1, ERRNO(EPERM)},
        {plain, "prlimit64", 2, SECCOMP_RET_ALLOW},
        {containers, "mkdir", 0, SECCOMP_RET_ALLOW},
        {containers, "chmod", 0, SECCOMP_RET_ALLOW},
        {containers, "setxattrat", 0, SECCOMP_RET_ALLOW},
        {containers, "landlock_create_ruleset", 0, SECCOMP_RET_ALLOW},
        {containers, "landlock_restrict_self", 0, SECCOMP_RET_ALLOW},
        {plain, "landlock_create_ruleset", 0, SECCOMP_RET_ALLOW},
        {containers, "ptrace", 0, ERRNO(EPERM)},
        {containers, "bpf", 0, ERRNO(EPERM)},
        {containers, "io_uring_setup", 0, ERRNO(ENOSYS)},
        {plain, "mkdir", 0, SECCOMP_RET_ALLOW},
        {plain, "openat2", 0, SECCOMP_RET_ALLOW},
        {plain, "creat", 0, SECCOMP_RET_ALLOW},
        {plain, "fchmod", 0, SECCOMP_RET_ALLOW},
        {plain, "ptrace", 0, ERRNO(EPERM)},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const uint64_t args[6] = {table[i].arg, 0, 0, 0, 0, 0};
        struct fixture fixture;

        fixture_init(&fixture, table[i].policy, FILTER_X86_64);
        ck_assert(has_rows(&fixture.plan, WHEN_NOT_DEBUG) == (table[i].policy != debug));
        ck_assert(has_rows(&fixture.plan, WHEN_NOT_CONTAINERS) == (table[i].policy != containers));
        ck_assert(has_rows(&fixture.plan, WHEN_PROTECTING) == (table[i].policy == debug));
        ck_assert_msg(named(&fixture, table[i].name, args) == table[i].verdict, "row %zu: %s", i,
                      sim_word(named(&fixture, table[i].name, args)));
        fixture_done(&fixture);
    }
}
END_TEST

START_TEST(loading_is_cheap)
{
    /* The kernel runs the filter for each number of both ABIs, and translates every instruction. */
    struct fixture fixture;
    size_t steps = 0, longest = 0;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    for (int number = 0; number < 470; number++) {
        struct seccomp_data native = {.nr = number, .arch = AUDIT_ARCH_X86_64};
        struct seccomp_data foreign = {.nr = number, .arch = AUDIT_ARCH_I386};
        struct sim_result result = sim_run(fixture.program, &native);

        /* A verdict that hangs on the number alone is remembered by the kernel. */
        if (verdict_of(&fixture, (uint32_t)number, NULL) == SECCOMP_RET_ALLOW) {
            steps += result.steps;
            longest = result.steps > longest ? result.steps : longest;
        }
        ck_assert_uint_le(sim_run(fixture.program, &foreign).steps, 3);
    }
    ck_assert_uint_lt(fixture.count, 256);
    ck_assert_uint_le(longest, 21);
    ck_assert_uint_lt(steps, 470 * 12);
    fixture_done(&fixture);
}
END_TEST

START_TEST(only_calls_with_argument_rules_look_at_arguments)
{
    struct fixture fixture;
    struct oracle oracle;

    fixture_init(&fixture, protecting, FILTER_X86_64);
    oracle_init(&oracle, &fixture.plan, FILTER_X86_64);
    for (int number = 0; number < ORACLE_NUMBERS; number++) {
        struct seccomp_data data = {.nr = number, .arch = AUDIT_ARCH_X86_64};
        bool has_tests = false;

        for (size_t i = 0; i < fixture.plan.syscalls.count; i++)
            if (oracle.numbers[i] == number && fixture.plan.syscalls.items[i]->arg >= 0)
                has_tests = true;
        ck_assert_msg(sim_run(fixture.program, &data).read_args == has_tests, "nr %d", number);
    }
    oracle_done(&oracle);
    fixture_done(&fixture);
}
END_TEST

/* More rules than a conditional jump can reach over; neighbours differ in a single "not". */
START_TEST(a_long_program_is_as_right_as_a_short_one)
{
    enum { EXTRA = 200 };
    autofree struct syscall_rule *extra = calloc(2 * EXTRA, sizeof(*extra));
    char *names[EXTRA] = {0};
    struct comparison comparison = {0};
    struct fixture fixture;
    struct oracle oracle;
    struct bawn_error err = {0};

    fixture_init(&fixture, protecting, FILTER_X86_64);
    for (uint32_t i = 0; i < EXTRA; i++) {
        names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, (int)(60 + i));
        ck_assert_ptr_nonnull(names[i]);
        extra[2 * i] = (struct syscall_rule){.name = names[i],
                                             .action = SYSCALL_EPERM,
                                             .arg = (int)(i / 2 % 3),
                                             .mask = 0xff0,
                                             .value = 0x10 * (1 + i / 2),
                                             .also = {{3, 0xffffffff, i / 2, i % 2}}};
        extra[2 * i + 1] = (struct syscall_rule){
            .name = names[i], .action = i / 2 % 3, .arg = 1, .mask = 1 << (i / 2 % 7), .is_not = 1};
        ck_assert(vec_push(&fixture.plan.syscalls, &extra[2 * i]));
        ck_assert(vec_push(&fixture.plan.syscalls, &extra[2 * i + 1]));
    }
    free(fixture.program);
    ck_assert_int_eq(
        filter_compile_for(&fixture.plan, FILTER_X86_64, &fixture.program, &fixture.count, &err),
        0);
    ck_assert(sim_check(fixture.program, fixture.count));
    ck_assert_uint_gt(fixture.count, 1000);
    oracle_init(&oracle, &fixture.plan, FILTER_X86_64);
    comparison = (struct comparison){.oracle = &oracle, .program = fixture.program};
    compare_all(&comparison);
    oracle_done(&oracle);
    fixture_done(&fixture);
    for (size_t i = 0; i < EXTRA; i++)
        free(names[i]);
}
END_TEST

START_TEST(no_rules_no_program_and_an_unknown_name_is_an_error)
{
    static const struct syscall_rule unknown = {.name = "no_such_call", .arg = -1};
    struct sock_filter *program = NULL;
    struct bawn_error err = {0};
    struct plan plan = {0};
    size_t count = 1;

    ck_assert_int_eq(filter_compile(&plan, &program, &count, &err), 0);
    ck_assert_ptr_null(program);
    ck_assert_uint_eq(count, 0);
    ck_assert(vec_push(&plan.syscalls, &unknown));
    ck_assert_int_eq(filter_compile(&plan, &program, &count, &err), -EINVAL);
    ck_assert_str_eq(err.code, "filter.unknown_syscall");
    ck_assert_ptr_null(program);
    plan_done(&plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *all = tcase_create("filter");

    tcase_set_timeout(all, 60);
    tcase_add_test(all, every_number_and_argument_gets_what_the_table_says);
    tcase_add_test(all, libseccomp_compiles_the_table_to_the_same);
    tcase_add_test(all, every_call_that_must_be_refused_is);
    tcase_add_test(all, x32_is_no_way_around_a_refusal);
    tcase_add_test(all, numbers_nobody_knows_are_not_there);
    tcase_add_test(all, only_opens_that_may_change_something_are_told);
    tcase_add_test(all, arguments_are_what_the_kernel_sees_of_them);
    tcase_add_test(all, each_option_opens_its_own_calls_only);
    tcase_add_test(all, loading_is_cheap);
    tcase_add_test(all, only_calls_with_argument_rules_look_at_arguments);
    tcase_add_test(all, a_long_program_is_as_right_as_a_short_one);
    tcase_add_test(all, no_rules_no_program_and_an_unknown_name_is_an_error);
    suite_add_tcase(suite, all);
    return test_run(suite, "filter");
}
