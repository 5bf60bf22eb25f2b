/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many attempts in one child, for a host where most of them work.
 *
 * How it works: a child enters all namespaces at once, as a sandbox does, and
 * makes one attempt after another there. What works so works alone. A failure
 * says less: an attempt before it may have spoilt it, or a filter around us may
 * have killed the child. So a failure counts only where nothing stood before it;
 * whatever else is not known afterwards is tried by itself (probe.c).
 */
#include "kernel/probe_try.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080 /* KERNEL(5.6) */
#endif

static bool works(const struct probe_env *env, enum feature feature, PROBE_WORK((*work)))
{
    struct probe_result result = {0};

    if (!work(&result, env))
        return false;
    env->together->results[feature] = result;
    env->together->is_known[feature] = true;
    return true;
}

/* The same where a failure counts too. */
static void find_out(const struct probe_env *env, enum feature feature, PROBE_WORK((*work)))
{
    struct probe_result result = {0};

    (void)work(&result, env);
    env->together->results[feature] = result;
    env->together->is_known[feature] = true;
}

/* Before anything that changes what this process may do. */
static void try_calls(const struct probe_env *env)
{
    static const struct {
        enum feature feature;
        PROBE_WORK((*work));
    } calls[] = {
        {FEATURE_PIDFD, try_pidfd}, {FEATURE_TAKE_FD, try_take_fd},
        {FEATURE_BAR, try_bar},     {FEATURE_OPENAT2, try_openat2},
        {FEATURE_TUN, try_tun},     {FEATURE_CLOSE_RANGE, try_close_range},
        {FEATURE_KVM, try_kvm},     {FEATURE_FUSE, try_fuse},
    };
    struct probe_result veth = {0};

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        find_out(env, calls[i].feature, calls[i].work);
    if (!may_veth(&veth, env))
        find_out(env, FEATURE_VETH, may_veth);
}

static PROBE_WORK(nothing_more)
{
    (void)result;
    (void)env;
    return true;
}

static PROBE_WORK(enter_all)
{
    return try_enter(result, env,
                     CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
                         CLONE_NEWTIME);
}

static void use_namespaces(const struct probe_env *env)
{
    /* That capabilities are of use in the user namespace shows in the UTS namespace. */
    if (works(env, FEATURE_UTS_NS, use_uts_ns))
        (void)works(env, FEATURE_USER_NS, nothing_more);
    (void)works(env, FEATURE_IPC_NS, nothing_more);
    (void)works(env, FEATURE_CGROUP_NS, nothing_more);
    (void)works(env, FEATURE_TIME_NS, use_time_ns);
    if (works(env, FEATURE_NET_NS, use_net_ns) && works(env, FEATURE_STEER, use_steer))
        (void)works(env, FEATURE_ANYIP, nothing_more);
}

static PROBE_WORK(make_base)
{
    (void)env;
    return mount_base(result);
}

/* In a directory of its own below the tmpfs. */
static void works_in(const struct probe_env *env, const char *dir, enum feature feature,
                     PROBE_WORK((*work)))
{
    if (mkdir(dir, 0700) < 0 || chdir(dir) < 0)
        return;
    (void)works(env, feature, work);
    /* Mounts are below: this is the tmpfs again. */
    if (chdir("..") < 0)
        _exit(0);
}

static PROBE_WORK(use_proc_of_child)
{
    return probe_child_run(use_proc, env, TRY_INNER_LIMIT_MS, result) == 0 && result->errnum == 0;
}

static void use_mounts(const struct probe_env *env)
{
    if (!works(env, FEATURE_MOUNT_NS, make_base))
        return;
    works_in(env, "tree", FEATURE_OPEN_TREE, use_open_tree);
    works_in(env, "attr", FEATURE_MOUNT_SETATTR, use_mount_setattr);
    works_in(env, "devpts", FEATURE_DEVPTS, use_devpts);
    works_in(env, "overlay", FEATURE_OVERLAY, use_overlay);
    /* The first child is pid 1, and no other can be started when it has ended: this is the last. */
    if (unshare(CLONE_NEWPID) == 0) {
        works_in(env, "proc", FEATURE_FRESH_PROC, use_proc_of_child);
        if (env->together->is_known[FEATURE_FRESH_PROC])
            (void)works(env, FEATURE_PID_NS, nothing_more);
    }
    (void)works(env, FEATURE_PIVOT_ROOT, use_pivot_root);
}

PROBE_WORK(try_together)
{
    bool maps_ids;

    try_calls(env);
    /* Root's right to it ends with the user namespace; others have none outside it either. */
    maps_ids = unshare(CLONE_NEWNS) == 0;
    if (maps_ids)
        (void)works(env, FEATURE_IDMAP, use_idmap);
    if (enter_all(result, env)) {
        if (!maps_ids)
            find_out(env, FEATURE_IDMAP, use_idmap);
        use_namespaces(env);
    }
    if (works(env, FEATURE_NOTIFY, try_notify_all)) {
        (void)works(env, FEATURE_NOTIFY_ADDFD, nothing_more);
        (void)works(env, FEATURE_NOTIFY_KILLABLE, nothing_more);
    }
    (void)works(env, FEATURE_SECCOMP, try_seccomp);
    if (result->errnum == 0)
        use_mounts(env);
    return works(env, FEATURE_LANDLOCK, try_landlock);
}
