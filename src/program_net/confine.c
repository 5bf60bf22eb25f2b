/* SPDX-License-Identifier: Apache-2.0 */
#include "program_net/confine.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* A sanitizer looks into the process at its end, and opens files for that: only what is not in its
 * way is given up. */
#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
enum { IS_SANITIZED = __has_feature(address_sanitizer) };
#else
enum { IS_SANITIZED = 0 };
#endif

/* As the kernel has it since 6.12; older ones are told the size they know. */
struct landlock_ruleset {
    uint64_t fs, net, scoped;
};

enum {
    ABI_SCOPES = 6,
    SCOPE_ABSTRACT_UNIX_SOCKET = 1,
    SCOPE_SIGNAL = 2,
};

static int restrict_by_landlock(struct bawn_error *err)
{
    /* How many rights of the file system each ABI has. */
    static const unsigned rights[] = {0, 13, 14, 15, 15, 16, 16};
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset handled = {0};
    autoclose int ruleset = -EBADF;

    /* KERNEL(5.13): before, the filter alone keeps it from files. */
    if (abi <= 0)
        return 0;
    if (abi > ABI_SCOPES)
        abi = ABI_SCOPES;
    handled.fs = (1ULL << rights[abi]) - 1;
    if (abi == ABI_SCOPES)
        handled.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled,
                           abi >= ABI_SCOPES ? sizeof(handled) : sizeof(handled.fs), 0);
    if (ruleset < 0)
        return error_errno(err, errno, "landlock_create_ruleset");
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return error_errno(err, errno, "landlock_restrict_self");
    return 0;
}

static int drop_capabilities(struct bawn_error *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};

    if (syscall(SYS_capset, &header, none) < 0)
        return error_errno(err, errno, "drop capabilities");
    return 0;
}

/* Without conditions. */
static const int allowed[] = {
    /* connections */
    SCMP_SYS(accept4), SCMP_SYS(connect), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(shutdown),
    /* bytes */
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg),
    SCMP_SYS(splice), SCMP_SYS(pipe2), SCMP_SYS(close),
    /* waiting */
    SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl), SCMP_SYS(restart_syscall),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(futex),
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo), /* KERNEL: glibc sorts much by it */
    /* its end */
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn)};

static int allow_sockets(scmp_filter_ctx filter)
{
    static const unsigned families[] = {AF_INET, AF_INET6};
    static const unsigned types[] = {SOCK_STREAM, SOCK_DGRAM};
    const unsigned flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    int result = 0;

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 2 && result == 0; j++)
            result = seccomp_rule_add(
                filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 3, SCMP_A0(SCMP_CMP_EQ, families[i], 0),
                SCMP_A1(SCMP_CMP_MASKED_EQ, ~(uint64_t)flags & UINT32_MAX, types[j]),
                /* TCP, UDP or none, which means these; not what is made of several. */
                SCMP_A2(SCMP_CMP_LE, IPPROTO_UDP, 0));
    }
    return result;
}

static int allow_some(scmp_filter_ctx filter)
{
    static const int commands[] = {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_SETPIPE_SZ};
    int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

    if (result == 0)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (result == 0)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_EQ, SIOCOUTQ, 0));
    for (unsigned i = 0; i < sizeof(commands) / sizeof(*commands) && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                                  SCMP_A1(SCMP_CMP_EQ, (unsigned)commands[i], 0));
    return result;
}

static int load_filter(struct bawn_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int result = filter ? 0 : -ENOMEM;

    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed) && result == 0; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    if (result == 0)
        result = allow_some(filter);
    if (result == 0)
        result = allow_sockets(filter);
    if (result == 0)
        result = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    return result < 0 ? error_errno(err, -result, "load the system call filter") : 0;
}

int confine_net(struct bawn_error *err)
{
    const struct rlimit none = {0};
    int result;

    if (setrlimit(RLIMIT_CORE, &none) < 0)
        return error_errno(err, errno, "limit core files");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_errno(err, errno, "set no_new_privs");
    result = drop_capabilities(err);
    if (result < 0 || IS_SANITIZED)
        return result;
    result = restrict_by_landlock(err);
    if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        result = error_errno(err, errno, "set not dumpable");
    return result == 0 ? load_filter(err) : result;
}
