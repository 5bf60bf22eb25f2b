/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps before anything of the caller's runs: rights are given up for good. Descriptors
 * are not closed one by one here, nor in root.c: stage_setup closes all of them at once. */
#include "base/error.h"
#include "base/mutant.h"
#include "kernel/sys.h"
#include "launch/own.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* As the kernel has it since 6.12; older ones are told the size they know. */
struct landlock_ruleset {
    uint64_t fs, net, scoped;
};

int confine_bounds(const struct image *image, struct bawn_error *err)
{
    if (!LAYER("caps") || (image->flags & IMAGE_MAY_NEST))
        return 0;
    for (unsigned long cap = 0; cap <= image->last_capability; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            return error_errno(err, errno, "drop capability %lu", cap);
    }
    return 0;
}

static int drop_capabilities(struct bawn_error *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

    if (!LAYER("caps"))
        return 0;
    if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
        return error_errno(err, errno, "lock securebits");
    if (syscall(SYS_capset, &header, none) < 0)
        return error_errno(err, errno, "drop capabilities");
    return 0;
}

static int add_landlock_rules(const struct image *image, int ruleset, struct bawn_error *err)
{
    image_each (image, PART_LANDLOCK, struct image_landlock_rule, rule) {
        const char *path = image_string(image, rule->path);
        int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
        struct landlock_path_beneath_attr beneath = {.allowed_access = rule->access,
                                                     .parent_fd = fd};

        /* A place of root's own that we cannot get to, or a cache that the home, which is the
         * workspace, has not: it is not granted. */
        if (fd < 0 && (errno == EACCES || errno == ENOENT))
            continue;
        if (fd < 0)
            return error_errno(err, errno, "Landlock: open %s", path);
        if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0)
            return error_errno(err, errno, "Landlock: rule for %s", path);
    }
    return 0;
}

static int restrict_by_landlock(const struct image *image, struct bawn_error *err)
{
    struct landlock_ruleset handled = {image->landlock_fs, image->landlock_net,
                                       image->landlock_scoped};
    size_t size = image->landlock_abi >= 6 ? 24 : image->landlock_abi >= 4 ? 16 : 8;
    int ruleset;
    int result;

    if (image->landlock_abi == 0 || !LAYER("landlock") ||
        !(handled.fs | handled.net | handled.scoped))
        return 0;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (ruleset < 0)
        return error_errno(err, errno, "landlock_create_ruleset");
    result = add_landlock_rules(image, ruleset, err);
    if (result == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        result = error_errno(err, errno, "landlock_restrict_self");
    return result;
}

/* The same filter without what it sends out. */
static void unnotify(struct sock_fprog *program)
{
    struct sock_filter *copy = malloc(program->len * sizeof(*copy));

    if (!copy)
        _exit(125);
    memcpy(copy, program->filter, program->len * sizeof(*copy));
    for (size_t i = 0; i < program->len; i++) {
        if (copy[i].code == (BPF_RET | BPF_K) && copy[i].k == SECCOMP_RET_USER_NOTIF)
            copy[i].k = SECCOMP_RET_ALLOW;
    }
    program->filter = copy;
}

static int load_filter(const struct image *image, int *ret_notify_fd, struct bawn_error *err)
{
    struct sock_fprog program = {
        .len = (unsigned short)image_count(image, PART_FILTER),
        .filter = (struct sock_filter *)(uintptr_t)image_part(image, PART_FILTER)};
    unsigned long flags = image->flags & IMAGE_NOTIFIES ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    long result;

    if (!LAYER("seccomp")) {
        *ret_notify_fd = -EBADF;
        return 0;
    }
    if (!LAYER("notify")) {
        unnotify(&program);
        flags = 0;
    }
    result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                     flags ? flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0, &program);
    /* KERNEL(5.19): before, a signal may interrupt a notified call; it is then made again. */
    if (result < 0 && errno == EINVAL && flags)
        result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (result < 0) {
        int errnum = errno;

        (void)error_errno(err, errnum, "load the system call filter");
        if (errnum == EBUSY)
            error_hint(err, "a sandbox around this one already answers system calls");
        return -errnum;
    }
    *ret_notify_fd = flags ? (int)result : -EBADF;
    return 0;
}

int confine(const struct image *image, int *ret_notify_fd, struct bawn_error *err)
{
    /* Containers inside are made of capabilities; those of the second user namespace reach nothing
     * that was made in the first. */
    int result = image->flags & IMAGE_MAY_NEST ? 0 : drop_capabilities(err);

    if (result == 0 && LAYER("caps") && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        result = error_errno(err, errno, "set no_new_privs");
    *ret_notify_fd = -EBADF;
    if (result == 0)
        result = restrict_by_landlock(image, err);
    /* Not dumpable: nothing inside can look into pid 1, whose memory is the launcher's. */
    if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        result = error_errno(err, errno, "set not dumpable");
    if (result == 0)
        result = load_filter(image, ret_notify_fd, err);
    return result;
}
