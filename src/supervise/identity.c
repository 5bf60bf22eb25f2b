/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/identity.h"

#include "base/error.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEEP = -1 };

int identity_init(struct identity *identity, uid_t uid, gid_t gid, struct bawn_error *err)
{
    *identity =
        (struct identity){.is_root = geteuid() == 0, .uid = uid, .gid = gid, .umask = umask(077)};
    (void)umask(identity->umask);
    /* Groups of root's would be the command's during its calls. Root needs none itself. */
    if (identity->is_root && getgroups(0, NULL) > 0 && setgroups(0, NULL) < 0 && errno != EPERM)
        return error_errno(err, errno, "setgroups");
    return 0;
}

/* Of its permitted capabilities only those in keep are in effect. */
static int set_capabilities(uint64_t keep)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return -errno;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        data[i].effective = data[i].permitted & (uint32_t)(keep >> (32 * i));
    return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int identity_enter(struct identity *identity)
{
    if (!identity->is_root || identity->is_entered)
        return 0;
    identity->is_entered = true;
    if (syscall(SYS_setresgid, KEEP, identity->gid, KEEP) < 0)
        return -errno;
    if (identity->uid != 0 && syscall(SYS_setresuid, KEEP, identity->uid, KEEP) < 0)
        return -errno;
    /* Links of the caller's own /proc lead through its user namespace, which is root's. */
    return set_capabilities(1ULL << CAP_SYS_PTRACE);
}

void identity_leave(struct identity *identity)
{
    if (!identity->is_entered)
        return;
    /* SECURITY: a supervisor that cannot get back must not go on as somebody else. */
    if (syscall(SYS_setresuid, KEEP, 0, KEEP) < 0 || syscall(SYS_setresgid, KEEP, 0, KEEP) < 0 ||
        set_capabilities(~0ULL) < 0)
        abort();
    identity->is_entered = false;
}
