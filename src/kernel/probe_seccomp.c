/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: Landlock, seccomp filters, and each form of seccomp user notification. */
#include "kernel/probe_try.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* KERNEL(5.19) */
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1) /* KERNEL(5.14) */
#endif

enum {
    TRAPPED_CALL = SYS_getpgid, /* a call that nothing here makes by itself */
    TRAPPED_ERRNO = EXDEV,      /* an answer that it never gives by itself */
};

static bool no_new_privs(struct probe_result *result)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 || probe_fail(result, "no_new_privs");
}

PROBE_WORK(try_landlock)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR};
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    long ruleset;

    (void)env;
    if (abi < 1)
        return probe_fail(result, "landlock_create_ruleset");
    /* The smallest struct: what ABI 1 knows. */
    ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
    if (ruleset < 0)
        return probe_fail(result, "landlock_create_ruleset");
    if (!no_new_privs(result))
        return false;
    if (syscall(SYS_landlock_restrict_self, (int)ruleset, 0) < 0)
        return probe_fail(result, "landlock_restrict_self");
    if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 || errno != EACCES)
        return probe_fail_with(result, EINVAL, "landlock refusal");
    result->value = (int)abi;
    return true;
}

/* Installs a filter with one rule: TRAPPED_CALL gives action. Returns what seccomp(2) does. */
static long install_filter(unsigned action, unsigned long flags)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TRAPPED_CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

PROBE_WORK(try_seccomp)
{
    (void)env;
    if (!no_new_privs(result))
        return false;
    if (install_filter(SECCOMP_RET_ERRNO | TRAPPED_ERRNO, 0) < 0)
        return probe_fail(result, "seccomp");
    if (syscall(TRAPPED_CALL, 0) >= 0 || errno != TRAPPED_ERRNO)
        return probe_fail_with(result, EINVAL, "seccomp refusal");
    return true;
}

/* The kernel's struct may be longer than the one of our headers. */
union notification {
    struct seccomp_notif call;
    char room[512];
};

static bool receive(struct probe_result *result, int listener, uint64_t *ret_id)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    struct seccomp_notif_sizes sizes = {0};
    union notification notification;

    memset(&notification, 0, sizeof(notification));
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
        return probe_fail(result, "SECCOMP_GET_NOTIF_SIZES");
    if (sizes.seccomp_notif > sizeof(notification))
        return probe_fail_with(result, E2BIG, "SECCOMP_GET_NOTIF_SIZES");
    if (poll(&ready, 1, TRY_INNER_LIMIT_MS) != 1)
        return probe_fail_with(result, ETIMEDOUT, "poll the listener");
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) < 0)
        return probe_fail(result, "SECCOMP_IOCTL_NOTIF_RECV");
    *ret_id = notification.call.id;
    return true;
}

static bool answer_with_errno(struct probe_result *result, int listener)
{
    struct seccomp_notif_resp response = {.error = -TRAPPED_ERRNO};
    uint64_t id = 0;

    if (!receive(result, listener, &id))
        return false;
    response.id = id;
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 ||
           probe_fail(result, "SECCOMP_IOCTL_NOTIF_SEND");
}

static bool answer_with_descriptor(struct probe_result *result, int listener)
{
    struct seccomp_notif_addfd add = {.flags = SECCOMP_ADDFD_FLAG_SEND, .newfd_flags = O_CLOEXEC};
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* O_PATH would be EBADF */
    uint64_t id = 0;

    if (fd < 0)
        return probe_fail(result, "open /");
    if (!receive(result, listener, &id))
        return false;
    add.id = id;
    add.srcfd = (unsigned)fd;
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0 ||
           probe_fail(result, "SECCOMP_IOCTL_NOTIF_ADDFD");
}

static PROBE_WORK(call_for_errno)
{
    (void)env;
    if (syscall(TRAPPED_CALL, 0) >= 0 || errno != TRAPPED_ERRNO)
        return probe_fail_with(result, EINVAL, "the notified call");
    return true;
}

static PROBE_WORK(call_for_descriptor)
{
    long fd = syscall(TRAPPED_CALL, 0);

    (void)env;
    if (fd < 0 || (fcntl((int)fd, F_GETFD) & FD_CLOEXEC) == 0)
        return probe_fail_with(result, EINVAL, "the notified call");
    return true;
}

/* Filter and listener here, the notified call in a child, which inherits the filter. */
static bool notify_round(struct probe_result *result, const struct probe_env *env,
                         unsigned long flags, PROBE_WORK((*call)),
                         bool (*answer)(struct probe_result *result, int listener))
{
    struct probe_result inner = {0};
    struct probe_child child;
    long listener;
    bool answered;

    if (!no_new_privs(result))
        return false;
    listener = install_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER | flags);
    if (listener < 0)
        return probe_fail(result, "seccomp(NEW_LISTENER)");
    if (probe_child_start(&child, call, env) < 0)
        return probe_fail(result, "fork");
    answered = answer(result, (int)listener);
    probe_child_finish(&child, answered ? TRY_INNER_LIMIT_MS : 0, &inner);
    if (!answered)
        return false;
    return inner.errnum == 0 || probe_fail_with(result, inner.errnum, inner.step);
}

PROBE_WORK(try_notify)
{
    return notify_round(result, env, 0, call_for_errno, answer_with_errno);
}

PROBE_WORK(try_notify_addfd)
{
    return notify_round(result, env, 0, call_for_descriptor, answer_with_descriptor);
}

PROBE_WORK(try_notify_killable)
{
    return notify_round(result, env, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, call_for_errno,
                        answer_with_errno);
}

static PROBE_WORK(call_for_both)
{
    return call_for_errno(result, env) && call_for_descriptor(result, env);
}

static bool answer_with_both(struct probe_result *result, int listener)
{
    return answer_with_errno(result, listener) && answer_with_descriptor(result, listener);
}

PROBE_WORK(try_notify_all)
{
    return notify_round(result, env, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, call_for_both,
                        answer_with_both);
}
