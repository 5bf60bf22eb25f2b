/* SPDX-License-Identifier: Apache-2.0 */
/* Host facts: what this kernel grants this user, as plain data that a plan can be made from. */
#ifndef KERNEL_FACTS_H
#define KERNEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

enum feature {
    FEATURE_USER_NS,    /* a user namespace, with the caller's id mapped in it */
    FEATURE_MOUNT_NS,   /* mounting a tmpfs in an own mount namespace */
    FEATURE_PIVOT_ROOT, /* a new root by pivot_root */
    FEATURE_PID_NS,
    FEATURE_NET_NS, /* a network namespace whose loopback can be brought up */
    FEATURE_IPC_NS,
    FEATURE_UTS_NS,
    FEATURE_CGROUP_NS,
    FEATURE_TIME_NS,
    FEATURE_OPEN_TREE,       /* open_tree + move_mount: mounts by descriptor */
    FEATURE_MOUNT_SETATTR,   /* recursive read-only seal */
    FEATURE_FRESH_PROC,      /* mounting an own procfs */
    FEATURE_DEVPTS,          /* an own devpts instance */
    FEATURE_OVERLAY,         /* overlayfs with userxattr in a user namespace */
    FEATURE_IDMAP,           /* id-mapped mounts */
    FEATURE_LANDLOCK,        /* any ABI; see landlock_abi */
    FEATURE_SECCOMP,         /* filters */
    FEATURE_NOTIFY,          /* seccomp user notification with a new listener */
    FEATURE_NOTIFY_ADDFD,    /* putting a descriptor in place of the notified call */
    FEATURE_NOTIFY_KILLABLE, /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV */
    FEATURE_PIDFD,           /* clone3 with CLONE_PIDFD */
    FEATURE_TAKE_FD,         /* a descriptor of another process, and its user namespace */
    FEATURE_BAR,             /* a filter on a socket of TCP, for good */
    FEATURE_OPENAT2,
    FEATURE_CLOSE_RANGE,
    FEATURE_CGROUP,  /* a group of our own with memory and pids; see cgroup */
    FEATURE_STEER,   /* connections of an own network namespace come to us: kernel/steer.h */
    FEATURE_ANYIP,   /* those to some ports do, without nf_tables */
    FEATURE_VETH,    /* root: a pair of interfaces, held to public addresses: kernel/veth.h */
    FEATURE_VETH_V6, /* the host would pass on what comes from there in IPv6 */
    FEATURE_TUN,     /* /dev/net/tun can be opened */
    FEATURE_KVM,     /* /dev/kvm can be opened */
    FEATURE_FUSE,    /* /dev/fuse can be opened */
    FEATURE_SUBUID,  /* a range of subordinate ids is assigned to the user */
    FEATURE_COUNT,
};

/* Who can hold the limits of a session. */
enum cgroup_kind {
    CGROUP_NONE,      /* rlimits only */
    CGROUP_V1,        /* writable v1 hierarchies with memory and pids */
    CGROUP_V2,        /* a writable v2 directory with memory and pids, as root or delegated */
    CGROUP_V2_SYSTEMD /* a systemd user manager can be asked for a delegated scope */
};

/* Why a user namespace cannot be had or is of no use. */
enum userns_block {
    USERNS_OPEN,
    USERNS_SYSCTL,   /* kernel.unprivileged_userns_clone = 0 */
    USERNS_LIMIT,    /* user.max_user_namespaces = 0, or the nesting limit */
    USERNS_APPARMOR, /* kernel.apparmor_restrict_unprivileged_userns = 1 */
    USERNS_SECCOMP,  /* a filter around us refuses: a container */
    USERNS_UNKNOWN,
};

enum backend_id {
    BACKEND_NATIVE,
    BACKEND_LANDLOCK,
    BACKEND_BUBBLEWRAP,
    BACKEND_PODMAN,
    BACKEND_DOCKER,
    BACKEND_SEATBELT,
    BACKEND_COUNT,
};

struct feature_fact {
    bool available;
    int errnum;    /* how it failed; 0 when available or not tried */
    char step[32]; /* the call that failed, e.g. "mount_setattr" */
};

struct backend_fact {
    bool available;
    char version[64];
    char reason[192]; /* why not; "" when available */
};

/* The disk that a directory is on, as control groups name it. */
struct disk {
    bool is_found;
    unsigned major, minor; /* of the whole disk, not of a partition */
    bool counts_writes;    /* the file system tells the kernel whose writes are written later */
    char why[96];          /* where it is not found: the reason */
};

struct host_facts {
    char sysname[32]; /* uname: "Linux" */
    char release[96];
    char machine[32];
    unsigned uid, gid;
    struct feature_fact features[FEATURE_COUNT];
    struct backend_fact backends[BACKEND_COUNT];
    int landlock_abi; /* 0: none */
    enum cgroup_kind cgroup;
    enum userns_block userns_block;
    bool is_hasty;     /* an attempt ran out of time: another time may tell more */
    bool in_container; /* /.dockerenv, /run/.containerenv or a non-initial user namespace */
    uint64_t memory_bytes;
    unsigned cpus;
    /* What all processes of one user may have together; 0: not known. */
    unsigned inotify_instances, inotify_watches;
};

#endif
