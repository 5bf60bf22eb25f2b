/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts: each is run in a child of its own by probe.c. */
#ifndef KERNEL_PROBE_TRY_H
#define KERNEL_PROBE_TRY_H

#include "kernel/facts.h"
#include "kernel/probe_child.h"

/* How long a child of an attempt's own may take; below the limit of the attempt itself. */
enum { TRY_INNER_LIMIT_MS = 5000 };

/* What one child found out about many features (probe_together.c), and what is made of all the
 * results (probe.c). Shared with the children. */
struct probe_together {
    bool is_known[FEATURE_COUNT];
    struct probe_result results[FEATURE_COUNT];
    struct host_facts facts;
};

/* probe_together.c. The result itself says nothing: env->together does. */
PROBE_WORK(try_together);

/* probe_ns.c */
bool try_enter(struct probe_result *result, const struct probe_env *env, int namespaces);
bool try_write(struct probe_result *result, int dir_fd, const char *path, const char *text);
PROBE_WORK(try_user_ns);
PROBE_WORK(try_pid_ns);
PROBE_WORK(try_ipc_ns);
PROBE_WORK(try_uts_ns);
PROBE_WORK(try_cgroup_ns);
PROBE_WORK(try_time_ns);
/* The same in namespaces that were entered before. */
PROBE_WORK(use_uts_ns);
PROBE_WORK(use_pid_ns);
PROBE_WORK(use_time_ns);

/* probe_mount.c */
PROBE_WORK(try_mount_ns);
PROBE_WORK(try_pivot_root);
PROBE_WORK(try_open_tree);
PROBE_WORK(try_mount_setattr);
PROBE_WORK(try_fresh_proc);
PROBE_WORK(try_devpts);
PROBE_WORK(try_overlay);
PROBE_WORK(try_idmap);
/* The same in a mount namespace that was entered before, in a directory that is empty and on an own
 * tmpfs (mount_base). */
bool mount_base(struct probe_result *result);
PROBE_WORK(use_pivot_root);
PROBE_WORK(use_open_tree);
PROBE_WORK(use_mount_setattr);
PROBE_WORK(use_proc);
PROBE_WORK(use_devpts);
PROBE_WORK(use_overlay);
PROBE_WORK(use_idmap);

/* probe_seccomp.c */
PROBE_WORK(try_landlock); /* value: the ABI */
PROBE_WORK(try_seccomp);
PROBE_WORK(try_notify);
PROBE_WORK(try_notify_addfd);
PROBE_WORK(try_notify_killable);
PROBE_WORK(try_notify_all); /* the three in one */

/* probe_net.c */
PROBE_WORK(try_net_ns);
PROBE_WORK(try_steer);
PROBE_WORK(try_anyip);
PROBE_WORK(try_veth);
PROBE_WORK(try_veth_v6);
PROBE_WORK(use_net_ns); /* in a network namespace that was entered before */
PROBE_WORK(use_steer);
PROBE_WORK(may_veth); /* whether it is worth trying */

/* probe_call.c */
PROBE_WORK(try_pidfd);
PROBE_WORK(try_take_fd);
PROBE_WORK(try_bar);
PROBE_WORK(try_openat2);
PROBE_WORK(try_close_range);
PROBE_WORK(try_tun);
PROBE_WORK(try_kvm);
PROBE_WORK(try_fuse);

/* probe_cgroup.c: starts its own children, in the calling process. 0 or a negative errno when
 * none could be started. */
int probe_cgroup(struct host_facts *facts);

/* probe_text.c: a whole file of /proc or /etc, NULL when it cannot be read. Free with free(). */
char *probe_read(const char *path);
/* The number in a file of /proc/sys, -1 when there is none. */
long probe_read_number(const char *path);
/* The value behind "NAME:" in the text of /proc/self/status, -1 when there is none. */
long probe_status_number(const char *status, const char *name);

#endif
