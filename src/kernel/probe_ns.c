/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: a user namespace, and the kinds of namespace that need no mount. */
#include "kernel/probe_try.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080 /* KERNEL(5.6) */
#endif

bool try_write(struct probe_result *result, int dir_fd, const char *path, const char *text)
{
    size_t length = strlen(text);
    int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC);
    ssize_t put;

    if (fd < 0)
        return probe_fail(result, path);
    put = write(fd, text, length);
    if (put != (ssize_t)length)
        return probe_fail(result, path);
    (void)close(fd);
    return true;
}

/* From inside, with the one id that needs no privilege outside. */
static bool map_ids(struct probe_result *result, const struct probe_env *env)
{
    int proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (proc < 0)
        return probe_fail(result, "open /proc/self");
    return try_write(result, proc, "setgroups", "deny") &&
           try_write(result, proc, "uid_map", env->uid_map) &&
           try_write(result, proc, "gid_map", env->gid_map);
}

bool try_enter(struct probe_result *result, const struct probe_env *env, int namespaces)
{
    if (unshare(CLONE_NEWUSER | namespaces) < 0)
        return probe_fail(result, "unshare");
    return map_ids(result, env);
}

PROBE_WORK(try_user_ns)
{
    if (!try_enter(result, env, 0))
        return false;
    /* AppArmor can grant the namespace and refuse every capability in it: such a one is of no
     * use. EINVAL would only mean that this kernel has no UTS namespaces. */
    if (unshare(CLONE_NEWUTS) < 0 && errno != EINVAL)
        return probe_fail(result, "use of capabilities");
    return true;
}

static PROBE_WORK(check_is_pid_1)
{
    (void)env;
    return getpid() == 1 || probe_fail_with(result, EINVAL, "getpid");
}

PROBE_WORK(use_pid_ns)
{
    if (probe_child_run(check_is_pid_1, env, TRY_INNER_LIMIT_MS, result) < 0)
        return probe_fail(result, "fork in the namespace");
    return result->errnum == 0;
}

PROBE_WORK(try_pid_ns)
{
    return try_enter(result, env, CLONE_NEWPID) && use_pid_ns(result, env);
}

PROBE_WORK(try_ipc_ns)
{
    return try_enter(result, env, CLONE_NEWIPC);
}

PROBE_WORK(use_uts_ns)
{
    (void)env;
    return sethostname("bawn", 4) == 0 || probe_fail(result, "sethostname");
}

PROBE_WORK(try_uts_ns)
{
    return try_enter(result, env, CLONE_NEWUTS) && use_uts_ns(result, env);
}

PROBE_WORK(try_cgroup_ns)
{
    return try_enter(result, env, CLONE_NEWCGROUP);
}

PROBE_WORK(use_time_ns)
{
    (void)env;
    return try_write(result, AT_FDCWD, "/proc/self/timens_offsets", "monotonic 1 0\n");
}

PROBE_WORK(try_time_ns)
{
    return try_enter(result, env, CLONE_NEWTIME) && use_time_ns(result, env);
}
