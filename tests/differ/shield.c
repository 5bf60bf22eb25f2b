/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SECURITY: the calls of the outside are made by whoever runs the test, root too, and a wrong path
 * must not change this machine: in a mount namespace of its own everything but one directory is
 * read-only.
 */
#include "differ/actor.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(100);
}

static void write_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        give_up(path);
    close(fd);
}

static void map_id(const char *path, unsigned id)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "%u %u 1\n", id, id);
    write_map(path, text);
}

static void enter_namespace(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (unshare(CLONE_NEWNS) == 0)
        return;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        give_up("a mount namespace");
    write_map("/proc/self/setgroups", "deny");
    map_id("/proc/self/uid_map", uid);
    map_id("/proc/self/gid_map", gid);
}

static void set_read_only(const char *path, bool is_on)
{
    struct mount_attr attributes = {.attr_set = is_on ? MOUNT_ATTR_RDONLY : 0,
                                    .attr_clr = is_on ? 0 : MOUNT_ATTR_RDONLY};

    if (syscall(SYS_mount_setattr, AT_FDCWD, path, is_on ? AT_RECURSIVE : 0, &attributes,
                sizeof(attributes)) < 0)
        give_up("mount_setattr");
}

/* As inside, nobody has a right of root's. */
static void drop_rights(uid_t uid, gid_t gid)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (geteuid() == 0 && uid != 0 &&
        (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0))
        give_up("the user's id");
    if (syscall(SYS_capset, &header, none) < 0)
        give_up("capset");
    /* What has been another user is not its own in /proc. */
    if (prctl(PR_SET_DUMPABLE, 1) < 0)
        give_up("prctl");
}

static bool is_read_only(const char *path)
{
    struct statvfs status;

    return statvfs(path, &status) == 0 && (status.f_flag & ST_RDONLY);
}

void shield_raise(const char *dir, uid_t uid, gid_t gid)
{
    enter_namespace();
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(dir, dir, NULL, MS_BIND, NULL) < 0)
        give_up(dir);
    set_read_only("/", true);
    set_read_only(dir, false);
    set_read_only("/proc", false); /* as inside; no call is about more of it than links */
    drop_rights(uid, gid);
    if (chdir(dir) < 0)
        give_up(dir);
    if (!is_read_only("/") || !is_read_only("/dev") || is_read_only("."))
        give_up("the machine is not shielded");
}
