/* SPDX-License-Identifier: Apache-2.0 */
/* The probe against independent witnesses: the real host, and hosts made poorer by a filter. */
#include "backend/backend.h"
#include "kernel/ids.h"
#include "kernel/probe.h"
#include "kernel/probe_child.h"
#include "kernel/probe_program.h"
#include "lib/test.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

static struct host_facts probed(void)
{
    struct host_facts facts;
    struct bawn_error err = {0};

    ck_assert_msg(probe_kernel(&facts, &err) == 0, "%s", err.message);
    return facts;
}

/* One system call answered by a filter; with mask, only when its first argument has those bits. */
static void filter_call(long number, uint32_t mask, uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = ARRAY_LENGTH(code), .filter = code};

    if (mask == 0) {
        code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    }
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
}

static void deny_user_namespaces(void)
{
    filter_call(SYS_unshare, CLONE_NEWUSER, SECCOMP_RET_ERRNO | EPERM);
    filter_call(SYS_clone, CLONE_NEWUSER, SECCOMP_RET_ERRNO | EPERM);
    filter_call(SYS_clone3, 0, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Whether a child of this test's own can do it: the witness. */
static int witness_unshare(int flags)
{
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(unshare(flags) == 0 ? 0 : errno);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static bool has_user_namespaces(void)
{
    struct host_facts facts;

    return probe_kernel(&facts, NULL) == 0 && facts.features[FEATURE_USER_NS].available;
}

static void read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got;

    ck_assert_int_ge(fd, 0);
    while ((got = read(fd, out + used, size - 1 - used)) > 0)
        used += (size_t)got;
    ck_assert_uint_lt(used, size - 1);
    out[used] = '\0';
    (void)close(fd);
}

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

START_TEST(facts_agree_with_the_witnesses)
{
    struct host_facts facts = probed();
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

    ck_assert_str_eq(facts.sysname, "Linux");
    ck_assert_uint_eq(facts.uid, geteuid());
    ck_assert_uint_gt(facts.cpus, 0);
    ck_assert_uint_gt(facts.memory_bytes, 0);
    ck_assert_int_eq(facts.landlock_abi, abi > 0 ? (int)abi : 0);
    ck_assert_int_eq(facts.features[FEATURE_LANDLOCK].available, abi > 0);
    if (witness_unshare(CLONE_NEWUSER) != 0)
        ck_assert(!facts.features[FEATURE_USER_NS].available);
    ck_assert_int_eq(facts.features[FEATURE_CGROUP].available, facts.cgroup != CGROUP_NONE);
    for (int i = 0; i < FEATURE_COUNT; i++)
        ck_assert_msg(!facts.features[i].available ||
                          (!facts.features[i].errnum && !facts.features[i].step[0]),
                      "feature %d works and failed at %s", i, facts.features[i].step);
}
END_TEST

START_TEST(refused_user_namespaces_are_reported_with_the_errno)
{
    struct host_facts facts;

    deny_user_namespaces();
    ck_assert_int_eq(witness_unshare(CLONE_NEWUSER), EPERM);
    facts = probed();
    ck_assert(!facts.features[FEATURE_USER_NS].available);
    ck_assert_int_eq(facts.features[FEATURE_USER_NS].errnum, EPERM);
    ck_assert_str_eq(facts.features[FEATURE_USER_NS].step, "unshare");
    ck_assert_int_ne(facts.userns_block, USERNS_OPEN);
    ck_assert(!facts.features[FEATURE_PIDFD].available);
    ck_assert_int_eq(facts.features[FEATURE_PIDFD].errnum, ENOSYS);
    ck_assert(facts.features[FEATURE_SECCOMP].available);
    backend_detect(&facts, true);
    ck_assert(!facts.backends[BACKEND_NATIVE].available);
    ck_assert_str_eq(facts.backends[BACKEND_NATIVE].reason,
                     "needs user namespaces (unshare: Operation not permitted)");
    ck_assert_int_eq(facts.backends[BACKEND_LANDLOCK].available, facts.landlock_abi > 0);
}
END_TEST

/* Many things are tried in one process at first: what stops that one says nothing of the others. */
START_TEST(one_refused_namespace_costs_that_one_alone)
{
    struct host_facts before = probed();
    struct host_facts after;

    filter_call(SYS_unshare, CLONE_NEWCGROUP, SECCOMP_RET_ERRNO | EPERM);
    after = probed();
    ck_assert(!after.features[FEATURE_CGROUP_NS].available);
    ck_assert_int_eq(after.features[FEATURE_CGROUP_NS].errnum, EPERM);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (i == FEATURE_CGROUP_NS)
            continue;
        ck_assert_msg(before.features[i].available == after.features[i].available &&
                          before.features[i].errnum == after.features[i].errnum &&
                          strcmp(before.features[i].step, after.features[i].step) == 0,
                      "feature %d: %d at '%s', then %d at '%s'", i, before.features[i].errnum,
                      before.features[i].step, after.features[i].errnum, after.features[i].step);
    }
    ck_assert_int_eq(before.landlock_abi, after.landlock_abi);
    ck_assert_int_eq(before.cgroup, after.cgroup);
}
END_TEST

/* Killed in the midst: what was found out before stands, the rest is tried by itself. */
START_TEST(filter_that_kills_the_first_process_costs_one_feature)
{
    struct host_facts before = probed();
    struct host_facts after;

    filter_call(SYS_sethostname, 0, SECCOMP_RET_KILL_PROCESS);
    after = probed();
    ck_assert(!after.features[FEATURE_UTS_NS].available);
    ck_assert_int_eq(after.features[FEATURE_UTS_NS].errnum, ENOSYS);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (i != FEATURE_UTS_NS)
            ck_assert_msg(before.features[i].available == after.features[i].available,
                          "feature %d: %s", i, after.features[i].step);
    }
}
END_TEST

START_TEST(features_inside_a_refused_namespace_are_not_tried)
{
    struct host_facts facts;

    deny_user_namespaces();
    facts = probed();
    ck_assert(!facts.features[FEATURE_MOUNT_NS].available);
    ck_assert_int_eq(facts.features[FEATURE_MOUNT_NS].errnum, 0);
    ck_assert_int_eq(facts.features[FEATURE_OVERLAY].errnum, 0);
}
END_TEST

START_TEST(namespace_without_capabilities_does_not_count)
{
    struct host_facts facts;

    filter_call(SYS_unshare, CLONE_NEWUTS, SECCOMP_RET_ERRNO | EPERM);
    facts = probed();
    ck_assert(!facts.features[FEATURE_USER_NS].available);
    ck_assert_str_eq(facts.features[FEATURE_USER_NS].step, "use of capabilities");
    ck_assert_int_ne(facts.userns_block, USERNS_OPEN);
}
END_TEST

START_TEST(refused_mounts_leave_the_user_namespace)
{
    struct host_facts facts;

    filter_call(SYS_mount, 0, SECCOMP_RET_ERRNO | EPERM);
    facts = probed();
    ck_assert(facts.features[FEATURE_USER_NS].available);
    ck_assert(facts.features[FEATURE_NET_NS].available);
    ck_assert_int_eq(facts.features[FEATURE_MOUNT_NS].errnum, EPERM);
    ck_assert_int_ne(facts.userns_block, USERNS_OPEN);
    backend_detect(&facts, true);
    ck_assert(!facts.backends[BACKEND_NATIVE].available);
}
END_TEST

/* A namespace around the test in which no further one may be made. */
static void forbid_further_user_namespaces(void)
{
    static const char *const files[] = {"/proc/self/setgroups", "/proc/self/uid_map",
                                        "/proc/self/gid_map", "/proc/sys/user/max_user_namespaces"};
    char maps[4][32] = {"deny", "", "", "0"};

    (void)snprintf(maps[1], sizeof(maps[1]), "0 %u 1", geteuid());
    (void)snprintf(maps[2], sizeof(maps[2]), "0 %u 1", getegid());
    ck_assert_int_eq(unshare(CLONE_NEWUSER), 0);
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        int fd = open(files[i], O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, maps[i], strlen(maps[i])), (ssize_t)strlen(maps[i]));
        (void)close(fd);
    }
}

START_TEST(limit_on_user_namespaces_is_told_from_a_refusal)
{
    struct host_facts facts;

    forbid_further_user_namespaces();
    facts = probed();
    ck_assert_int_eq(facts.features[FEATURE_USER_NS].errnum, ENOSPC);
    ck_assert_int_eq(facts.userns_block, USERNS_LIMIT);
    ck_assert(facts.in_container);
}
END_TEST

START_TEST(missing_landlock_is_abi_0)
{
    struct host_facts facts;

    filter_call(SYS_landlock_create_ruleset, 0, SECCOMP_RET_ERRNO | ENOSYS);
    facts = probed();
    ck_assert_int_eq(facts.landlock_abi, 0);
    ck_assert(!facts.features[FEATURE_LANDLOCK].available);
    ck_assert_int_eq(facts.features[FEATURE_LANDLOCK].errnum, ENOSYS);
    backend_detect(&facts, true);
    ck_assert(!facts.backends[BACKEND_LANDLOCK].available);
}
END_TEST

START_TEST(landlock_that_cannot_be_applied_is_missing)
{
    struct host_facts facts;

    filter_call(SYS_landlock_restrict_self, 0, SECCOMP_RET_ERRNO | EPERM);
    facts = probed();
    ck_assert_int_eq(facts.landlock_abi, 0);
    ck_assert(!facts.features[FEATURE_LANDLOCK].available);
}
END_TEST

START_TEST(filter_that_kills_only_costs_that_feature)
{
    struct host_facts facts;

    filter_call(SYS_openat2, 0, SECCOMP_RET_KILL_PROCESS);
    facts = probed();
    ck_assert_int_eq(facts.features[FEATURE_OPENAT2].errnum, ENOSYS);
    ck_assert_str_eq(facts.features[FEATURE_OPENAT2].step, "killed by a seccomp filter");
    ck_assert(facts.features[FEATURE_CLOSE_RANGE].available);
}
END_TEST

START_TEST(second_listener_is_busy)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = 1, .filter = code};
    struct host_facts facts;

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_ge(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program),
        0);
    facts = probed();
    ck_assert(facts.features[FEATURE_SECCOMP].available);
    ck_assert_int_eq(facts.features[FEATURE_NOTIFY].errnum, EBUSY);
}
END_TEST

START_TEST(nothing_is_left_behind)
{
    static char before[1 << 20], after[1 << 20];
    struct host_facts facts;
    int descriptors;

    read_text("/proc/self/mountinfo", before, sizeof(before));
    descriptors = count_descriptors();
    ck_assert_int_eq(probe_kernel(&facts, NULL), 0);
    backend_detect(&facts, true);
    ck_assert_int_eq(count_descriptors(), descriptors);
    read_text("/proc/self/mountinfo", after, sizeof(after));
    ck_assert_str_eq(before, after);
    ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

static volatile sig_atomic_t child_signals;

static void count_signal(int number)
{
    (void)number;
    child_signals++;
}

START_TEST(caller_gets_no_sigchld)
{
    struct host_facts facts;
    struct sigaction action = {.sa_handler = count_signal};

    ck_assert_int_eq(sigaction(SIGCHLD, &action, NULL), 0);
    ck_assert_int_eq(probe_kernel(&facts, NULL), 0);
    backend_detect(&facts, true);
    ck_assert_int_eq(child_signals, 0);
}
END_TEST

START_TEST(ignored_sigchld_changes_nothing)
{
    struct host_facts facts, usual = probed();

    ck_assert(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    facts = probed();
    for (int i = 0; i < FEATURE_COUNT; i++)
        ck_assert_int_eq(facts.features[i].available, usual.features[i].available);
}
END_TEST

static void *allocate_all_the_time(void *stop)
{
    while (!atomic_load((atomic_bool *)stop))
        free(malloc(100));
    return NULL;
}

START_TEST(threads_that_hold_the_heap_lock_do_no_harm)
{
    struct host_facts facts, usual = probed();
    atomic_bool stop = false;
    pthread_t threads[3];

    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_all_the_time, &stop), 0);
    for (int round = 0; round < 3; round++) {
        facts = probed();
        for (int i = 0; i < FEATURE_COUNT; i++)
            ck_assert_msg(facts.features[i].available == usual.features[i].available,
                          "feature %d: %s: errno %d", i, facts.features[i].step,
                          facts.features[i].errnum);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
        (void)pthread_join(threads[i], NULL);
}
END_TEST

static PROBE_WORK(hang)
{
    (void)result;
    (void)env;
    while (pause() < 0)
        ;
    return true;
}

/* Hangs with a child of its own, and tells that child's pid to whoever holds the pipe. */
static PROBE_WORK(hang_with_child)
{
    const int *tell_fd = env->extra;
    struct probe_child child;

    ck_assert_int_eq(probe_child_start(&child, hang, env), 0);
    (void)!write(*tell_fd, &child.pid, sizeof(child.pid));
    return hang(result, env);
}

static bool is_gone(pid_t pid)
{
    for (int i = 0; i < 3000; i++) {
        if (kill(pid, 0) < 0 && errno == ESRCH)
            return true;
        (void)usleep(10000);
    }
    return false;
}

START_TEST(hanging_child_is_killed_at_the_limit_with_its_own)
{
    struct probe_result result = {0};
    int fds[2];
    pid_t inner;

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    ck_assert_int_eq(
        probe_child_run(hang_with_child, &(struct probe_env){.extra = &fds[1]}, 2000, &result), 0);
    ck_assert_int_eq(result.errnum, ETIMEDOUT);
    ck_assert_int_eq(read(fds[0], &inner, sizeof(inner)), (ssize_t)sizeof(inner));
    ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1);
    ck_assert(is_gone(inner));
}
END_TEST

START_TEST(programs_run_side_by_side_with_bounded_output)
{
    struct program programs[] = {
        {.argv = {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}},
        {.argv = {NULL}},
        {.argv = {"/bin/sh", "-c", "while :; do echo 0123456789; done | head -c 300000"}},
        {.argv = {"/does/not/exist"}},
    };

    ck_assert_int_eq(program_run_all(programs, ARRAY_LENGTH(programs), 30000), 0);
    ck_assert(programs[0].ended);
    ck_assert_int_eq(WEXITSTATUS(programs[0].status), 3);
    ck_assert_str_eq(programs[0].output[PROGRAM_STDOUT], "out\n");
    ck_assert_str_eq(programs[0].output[PROGRAM_STDERR], "err\n");
    ck_assert(!programs[1].ended);
    ck_assert(program_succeeded(&programs[2]));
    ck_assert_uint_eq(strlen(programs[2].output[PROGRAM_STDOUT]), PROGRAM_OUTPUT - 1);
    ck_assert(!program_succeeded(&programs[3]));
}
END_TEST

START_TEST(program_sees_only_what_it_needs)
{
    struct program program = {.argv = {"/bin/sh", "-c", "env; ls /proc/self/fd | wc -l; pwd; cat"}};
    const char *output = program.output[PROGRAM_STDOUT];

    ck_assert_int_eq(setenv("SECRET", "x", 1), 0);
    ck_assert_int_eq(setenv("HOME", "/home/somebody", 1), 0);
    ck_assert_int_eq(unsetenv("XDG_RUNTIME_DIR"), 0);
    ck_assert_int_ge(dup(1), 3); /* an open file that would be inherited */
    ck_assert_int_eq(program_run_all(&program, 1, 30000), 0);
    ck_assert_ptr_null(strstr(output, "SECRET"));
    ck_assert_ptr_nonnull(strstr(output, "PATH=/usr/bin:/bin\n"));
    ck_assert_ptr_nonnull(strstr(output, "HOME=/home/somebody\n"));
    ck_assert_msg(strstr(output, "\n4\n/\n") != NULL, "%s", output);
}
END_TEST

START_TEST(program_is_killed_at_the_limit_with_all_it_started)
{
    struct program programs[] = {
        {.argv = {"/bin/sh", "-c", "sleep 100 & echo $!; wait"}},
        {.argv = {"/bin/sh", "-c", "setsid sleep 100 & echo $!"}},
    };

    ck_assert_int_eq(program_run_all(programs, ARRAY_LENGTH(programs), 5000), 0);
    ck_assert(!programs[0].ended);
    ck_assert(programs[1].ended);
    for (size_t i = 0; i < ARRAY_LENGTH(programs); i++) {
        pid_t pid = (pid_t)strtol(programs[i].output[PROGRAM_STDOUT], NULL, 10);

        ck_assert_int_gt(pid, 1);
        ck_assert(is_gone(pid));
    }
}
END_TEST

START_TEST(programs_are_found_only_in_standard_places)
{
    char path[64];

    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    ck_assert(program_find("sh", path, sizeof(path)));
    ck_assert_msg(strcmp(path, "/usr/bin/sh") == 0 || strcmp(path, "/bin/sh") == 0, "%s", path);
    ck_assert(!program_find("no-such-program", path, sizeof(path)));
    ck_assert(!program_find("sh", path, 6));
}
END_TEST

START_TEST(subordinate_ids_are_a_users_by_name_or_number)
{
    static const struct {
        const char *text;
        const char *name;
        uint32_t first, count; /* count 0: none */
    } rows[] = {
        {"root:1:2\nme:100000:65536\n", "me", 100000, 65536},
        {"root:1:2\n1000:200000:10\n", NULL, 200000, 10},
        {"me:5:1\nme:7:2", "me", 7, 2}, /* one id is no range */
        {"me2:100000:65536\nm:1:2\n", "me", 0, 0},
        {"me:100000\nme\n\nme::9\n", "me", 0, 0},
        {"me:4294967296:9\nme:1:4294967296\nme:-1:9\nme:1:9x\n", "me", 0, 0},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        char text[128];
        uint32_t first = 0, count = 0;

        (void)snprintf(text, sizeof(text), "%s", rows[i].text);
        ck_assert_msg(ids_range(text, 1000, rows[i].name, &first, &count) == (rows[i].count > 0),
                      "row %zu", i);
        ck_assert_uint_eq(first, rows[i].first);
        ck_assert_uint_eq(count, rows[i].count);
    }
}
END_TEST

START_TEST(user_namespaces_are_needed_for_three_more)
{
    test_skip("probe", "three cases need user namespaces");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe");
    TCase *facts = tcase_create("facts");
    TCase *poorer = tcase_create("poorer hosts");
    TCase *guest = tcase_create("manners");
    TCase *programs = tcase_create("programs");

    tcase_set_timeout(guest, 120);
    tcase_add_test(facts, facts_agree_with_the_witnesses);
    tcase_add_test(facts, subordinate_ids_are_a_users_by_name_or_number);
    suite_add_tcase(suite, facts);
    tcase_add_test(poorer, refused_user_namespaces_are_reported_with_the_errno);
    tcase_add_test(poorer, features_inside_a_refused_namespace_are_not_tried);
    tcase_add_test(poorer, missing_landlock_is_abi_0);
    tcase_add_test(poorer, landlock_that_cannot_be_applied_is_missing);
    tcase_add_test(poorer, filter_that_kills_only_costs_that_feature);
    tcase_add_test(poorer, second_listener_is_busy);
    if (has_user_namespaces()) {
        tcase_add_test(poorer, namespace_without_capabilities_does_not_count);
        tcase_add_test(poorer, one_refused_namespace_costs_that_one_alone);
        tcase_add_test(poorer, filter_that_kills_the_first_process_costs_one_feature);
        tcase_add_test(poorer, refused_mounts_leave_the_user_namespace);
        tcase_add_test(poorer, limit_on_user_namespaces_is_told_from_a_refusal);
    } else {
        tcase_add_test(poorer, user_namespaces_are_needed_for_three_more);
    }
    suite_add_tcase(suite, poorer);
    tcase_add_test(guest, nothing_is_left_behind);
    tcase_add_test(guest, caller_gets_no_sigchld);
    tcase_add_test(guest, ignored_sigchld_changes_nothing);
    tcase_add_test(guest, threads_that_hold_the_heap_lock_do_no_harm);
    tcase_add_test(guest, hanging_child_is_killed_at_the_limit_with_its_own);
    suite_add_tcase(suite, guest);
    tcase_add_test(programs, programs_run_side_by_side_with_bounded_output);
    tcase_add_test(programs, program_sees_only_what_it_needs);
    tcase_add_test(programs, program_is_killed_at_the_limit_with_all_it_started);
    tcase_add_test(programs, programs_are_found_only_in_standard_places);
    suite_add_tcase(suite, programs);
    return test_run(suite, "probe");
}
