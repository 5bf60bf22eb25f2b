/* SPDX-License-Identifier: Apache-2.0 */
/* The table of attempts, and the host facts that are made of their results. */
#include "kernel/probe.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/passwd.h"
#include "kernel/ids.h"
#include "kernel/probe_try.h"
#include "kernel/process.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
    ATTEMPT_LIMIT_MS = 10000, /* loading a kernel module may take a while */
    TOTAL_LIMIT_MS = 20000,   /* for all of them, should everything hang */
    SUBUID_IDS = 65536,       /* what a container image takes */
    NOTHING = FEATURE_COUNT,
};

/* The inode number that the kernel gives the first user namespace, on every machine. */
#define INITIAL_USER_NS 0xeffffffdU

/* An attempt is not made when the feature it needs was not there. */
static const struct {
    enum feature feature;
    int needs;
    PROBE_WORK((*work));
} attempts[] = {
    {FEATURE_USER_NS, NOTHING, try_user_ns},
    {FEATURE_MOUNT_NS, FEATURE_USER_NS, try_mount_ns},
    {FEATURE_PIVOT_ROOT, FEATURE_MOUNT_NS, try_pivot_root},
    {FEATURE_PID_NS, FEATURE_USER_NS, try_pid_ns},
    {FEATURE_NET_NS, FEATURE_USER_NS, try_net_ns},
    {FEATURE_IPC_NS, FEATURE_USER_NS, try_ipc_ns},
    {FEATURE_UTS_NS, FEATURE_USER_NS, try_uts_ns},
    {FEATURE_CGROUP_NS, FEATURE_USER_NS, try_cgroup_ns},
    {FEATURE_TIME_NS, FEATURE_USER_NS, try_time_ns},
    {FEATURE_OPEN_TREE, FEATURE_MOUNT_NS, try_open_tree},
    {FEATURE_MOUNT_SETATTR, FEATURE_MOUNT_NS, try_mount_setattr},
    {FEATURE_FRESH_PROC, FEATURE_MOUNT_NS, try_fresh_proc},
    {FEATURE_DEVPTS, FEATURE_MOUNT_NS, try_devpts},
    {FEATURE_OVERLAY, FEATURE_MOUNT_NS, try_overlay},
    {FEATURE_IDMAP, FEATURE_MOUNT_NS, try_idmap},
    {FEATURE_LANDLOCK, NOTHING, try_landlock},
    {FEATURE_SECCOMP, NOTHING, try_seccomp},
    {FEATURE_NOTIFY, FEATURE_SECCOMP, try_notify},
    {FEATURE_NOTIFY_ADDFD, FEATURE_NOTIFY, try_notify_addfd},
    {FEATURE_NOTIFY_KILLABLE, FEATURE_NOTIFY, try_notify_killable},
    {FEATURE_PIDFD, NOTHING, try_pidfd},
    {FEATURE_TAKE_FD, NOTHING, try_take_fd},
    {FEATURE_BAR, NOTHING, try_bar},
    {FEATURE_OPENAT2, NOTHING, try_openat2},
    {FEATURE_CLOSE_RANGE, NOTHING, try_close_range},
    {FEATURE_STEER, FEATURE_NET_NS, try_steer},
    {FEATURE_VETH, FEATURE_NET_NS, try_veth},
    {FEATURE_VETH_V6, FEATURE_VETH, try_veth_v6},
    {FEATURE_TUN, NOTHING, try_tun},
    {FEATURE_KVM, NOTHING, try_kvm},
    {FEATURE_FUSE, NOTHING, try_fuse},
    {FEATURE_ANYIP, FEATURE_NET_NS, try_anyip},
};

static void fact_set(struct feature_fact *fact, const struct probe_result *result)
{
    fact->available = result->errnum == 0;
    fact->errnum = result->errnum;
    (void)snprintf(fact->step, sizeof(fact->step), "%s", result->step);
}

/* Whoever has nf_tables has what does without it. */
static bool is_implied(const struct host_facts *facts, enum feature feature)
{
    return feature == FEATURE_ANYIP && facts->features[FEATURE_STEER].available;
}

static int limit_ms(int64_t until)
{
    int64_t left = until - clock_ms();

    return left < ATTEMPT_LIMIT_MS ? (int)(left > 0 ? left : 0) : ATTEMPT_LIMIT_MS;
}

static void take_result(struct host_facts *facts, enum feature feature,
                        const struct probe_result *result)
{
    fact_set(&facts->features[feature], result);
    facts->is_hasty |= result->errnum == ETIMEDOUT;
    if (feature == FEATURE_LANDLOCK)
        facts->landlock_abi = result->value;
}

/* What one child found out; the rest is left to be tried by itself. */
static void take_results(const struct probe_env *env, struct host_facts *facts,
                         bool is_known[FEATURE_COUNT])
{
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        enum feature feature = attempts[i].feature;

        /* What it needs may have failed in that child by chance. */
        is_known[feature] = env->together->is_known[feature] &&
                            (attempts[i].needs == NOTHING || is_known[attempts[i].needs]);
        if (is_known[feature])
            take_result(facts, feature, &env->together->results[feature]);
    }
}

/* KERNEL: namespaces are counted until the last of their processes is gone. */
static bool is_full(const struct probe_result *result)
{
    return result->errnum == ENOSPC || result->errnum == EUSERS || result->errnum == EAGAIN;
}

/* An attempt for which there was no room beside what another child leaves behind is made again. */
static int run_alone(PROBE_WORK((*work)), const struct probe_env *env, int64_t until,
                     struct probe_child *other, struct probe_result *result)
{
    int r = probe_child_run(work, env, limit_ms(until), result);

    if (other->pid < 0 || (r == 0 && !is_full(result)))
        return r;
    probe_child_end(other, result);
    *result = (struct probe_result){0};
    return probe_child_run(work, env, limit_ms(until), result);
}

static int probe_alone(const struct probe_env *env, int64_t until, struct probe_child *other,
                       struct host_facts *facts, const bool is_known[FEATURE_COUNT])
{
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        enum feature feature = attempts[i].feature;
        struct probe_result result = {0};
        int r;

        if (is_known[feature] ||
            (attempts[i].needs != NOTHING && !facts->features[attempts[i].needs].available))
            continue;
        if (is_implied(facts, feature)) {
            facts->features[feature].available = true;
            continue;
        }
        r = run_alone(attempts[i].work, env, until, other, &result);
        if (r < 0)
            return r;
        take_result(facts, feature, &result);
    }
    return 0;
}

static int try_features(const struct probe_env *env)
{
    int64_t until = clock_ms() + TOTAL_LIMIT_MS;
    bool is_known[FEATURE_COUNT] = {false};
    struct probe_result result;
    struct probe_child child;
    int r = probe_child_start(&child, try_together, env);

    if (r < 0)
        return r;
    probe_child_hear(&child, limit_ms(until), &result);
    take_results(env, &env->together->facts, is_known);
    r = probe_alone(env, until, &child, &env->together->facts, is_known);
    if (child.pid >= 0)
        probe_child_end(&child, &result);
    return r;
}

/* In the child that starts all others. */
static PROBE_WORK(try_all)
{
    int r = try_features(env);

    return r == 0 || probe_fail_with(result, -r, "clone");
}

/* Whether a file like /etc/subuid gives the user ids. */
static bool has_range(const char *path, uid_t uid)
{
    autofree char *text = probe_read(path);
    char name[PASSWD_NAME_BYTES];
    uint32_t first, count;

    return text && ids_range(text, uid, passwd_name(uid, name) ? name : NULL, &first, &count);
}

/* Root needs no assigned range: it may map whatever its own namespace has. */
static void probe_subuid(struct host_facts *facts)
{
    struct probe_result result = {0};
    struct stat st;

    if (facts->uid != 0 || ids_from_root("/proc/self/uid_map") <= SUBUID_IDS) {
        if (!has_range("/etc/subuid", facts->uid))
            (void)probe_fail_with(&result, ENOENT, "/etc/subuid");
        else if (!has_range("/etc/subgid", facts->uid))
            (void)probe_fail_with(&result, ENOENT, "/etc/subgid");
        else if (stat("/usr/bin/newuidmap", &st) < 0)
            (void)probe_fail(&result, "newuidmap");
    }
    fact_set(&facts->features[FEATURE_SUBUID], &result);
}

static bool is_in_container(void)
{
    static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
                                        "/run/systemd/container", "/var/run/secrets/kubernetes.io"};
    struct stat st;

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (stat(marks[i], &st) == 0)
            return true;
    return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != INITIAL_USER_NS;
}

/* Why a user namespace is refused or of no use. Only here files are read for an answer. */
static enum userns_block find_block(const struct host_facts *facts)
{
    const struct feature_fact *user = &facts->features[FEATURE_USER_NS];
    const struct feature_fact *mount = &facts->features[FEATURE_MOUNT_NS];
    const struct feature_fact *failed = user->available ? mount : user;
    autofree char *status = NULL;

    if (failed->available)
        return USERNS_OPEN;
    if (!user->available && (failed->errnum == ENOSPC || failed->errnum == EUSERS))
        return USERNS_LIMIT;
    if (failed->errnum == EPERM || failed->errnum == EACCES) {
        if (!user->available &&
            probe_read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
            return USERNS_SYSCTL;
        if (probe_read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0)
            return USERNS_APPARMOR;
    }
    status = probe_read("/proc/self/status");
    if (status && probe_status_number(status, "Seccomp") > 0)
        return USERNS_SECCOMP;
    return USERNS_UNKNOWN;
}

static unsigned read_count(const char *path)
{
    long number = probe_read_number(path);

    return number > 0 && number <= INT_MAX ? (unsigned)number : 0;
}

static void probe_machine(struct host_facts *facts)
{
    struct utsname name;
    cpu_set_t cpus;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    if (uname(&name) == 0) {
        (void)snprintf(facts->sysname, sizeof(facts->sysname), "%.31s", name.sysname);
        (void)snprintf(facts->release, sizeof(facts->release), "%.95s", name.release);
        (void)snprintf(facts->machine, sizeof(facts->machine), "%.31s", name.machine);
    }
    if (pages > 0 && page_bytes > 0)
        facts->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        facts->cpus = (unsigned)CPU_COUNT(&cpus);
    else
        facts->cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    facts->uid = geteuid();
    facts->gid = getegid();
    facts->in_container = is_in_container();
    facts->inotify_instances = read_count("/proc/sys/user/max_inotify_instances");
    facts->inotify_watches = read_count("/proc/sys/user/max_inotify_watches");
}

static int refuse_start(int errnum, struct bawn_error *err)
{
    return error_errno(err, errnum, "start a process that tries what this host allows");
}

int probe_begin(struct probing *probing, struct bawn_error *err)
{
    struct probe_env *env = &probing->env;
    struct host_facts *facts;
    int r;

    *env = (struct probe_env){0};
    env->together = mmap(NULL, sizeof(*env->together), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (env->together == MAP_FAILED)
        return error_errno(err, errno, "share memory with who tries what this host allows");
    facts = &env->together->facts;
    probe_machine(facts);
    (void)snprintf(env->uid_map, sizeof(env->uid_map), "%u %u 1\n", facts->uid, facts->uid);
    (void)snprintf(env->gid_map, sizeof(env->gid_map), "%u %u 1\n", facts->gid, facts->gid);
    r = probe_child_start(&probing->child, try_all, env);
    if (r < 0) {
        (void)munmap(env->together, sizeof(*env->together));
        return refuse_start(-r, err);
    }
    process_keep_off(probing->child.pid);
    return 0;
}

int probe_end(struct probing *probing, struct host_facts *ret_facts, struct bawn_error *err)
{
    struct probe_together *together = probing->env.together;
    struct probe_result result;
    int r = 0;

    probe_child_finish(&probing->child, TOTAL_LIMIT_MS + ATTEMPT_LIMIT_MS, &result);
    /* It may have gone with the thread that began. */
    if (result.errnum) {
        memset(together->facts.features, 0, sizeof(together->facts.features));
        r = try_features(&probing->env);
    }
    *ret_facts = together->facts;
    (void)munmap(together, sizeof(*together));
    if (r == 0)
        r = probe_cgroup(ret_facts);
    if (r < 0)
        return refuse_start(-r, err);
    probe_subuid(ret_facts);
    ret_facts->userns_block = find_block(ret_facts);
    return 0;
}

int probe_kernel(struct host_facts *ret_facts, struct bawn_error *err)
{
    struct probing probing;
    int r = probe_begin(&probing, err);

    return r < 0 ? r : probe_end(&probing, ret_facts, err);
}
