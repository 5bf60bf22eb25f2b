/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/become.h"

#include "base/cleanup.h"
#include "supervise/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

    return syscall(SYS_capset, &header, data) == 0;
}

static bool enter_users(const struct call *call)
{
    autoclose int users = -EBADF;

    identity_leave(call->identity);
    users = caller_open_users(call->caller);
    return users >= 0 && setns(users, CLONE_NEWUSER) == 0;
}

static bool take_rights(const struct call *call, int cwd)
{
    struct caller_rights rights;

    /* Ids are told as whoever asks has them: from here on as the caller. */
    if (caller_rights(call->caller, &rights) < 0)
        return false;
    if (fchdir(call->locator.root_fd) < 0 || chroot(".") < 0 || (cwd >= 0 && fchdir(cwd) < 0))
        return false;
    (void)umask(rights.umask);
    return syscall(SYS_setresgid, rights.gid, rights.gid, rights.gid) == 0 &&
           syscall(SYS_setresuid, rights.uid, rights.uid, rights.uid) == 0 && drop_capabilities();
}

bool become_caller(const struct call *call, int cwd)
{
    return enter_users(call) && take_rights(call, cwd);
}

/* One that is ours already need not be entered, and may belong to somebody else. */
static bool enter(int its, int ours)
{
    struct stat a, b;

    if (its < 0 || ours < 0 || fstat(its, &a) < 0 || fstat(ours, &b) < 0)
        return false;
    return (a.st_dev == b.st_dev && a.st_ino == b.st_ino) || setns(its, 0) == 0;
}

bool become_neighbour(const struct call *call)
{
    static const char *const names[] = {"net", "ipc", "uts"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    int its[COUNT], ours[COUNT];
    bool done = true;
    autoclose int own = open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
    autoclose int other = -EBADF;

    identity_leave(call->identity);
    other = openat(caller_proc(call->caller), "ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < COUNT; i++) {
        its[i] = openat(other, names[i], O_RDONLY | O_CLOEXEC);
        ours[i] = openat(own, names[i], O_RDONLY | O_CLOEXEC);
    }
    done = enter_users(call);
    for (int i = 0; i < COUNT; i++)
        done = done && enter(its[i], ours[i]);
    /* The descriptors go with the process. */
    return done && take_rights(call, -EBADF);
}
