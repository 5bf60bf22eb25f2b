/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/syscalls.h"

#include <sched.h>
#include <sys/socket.h>

#define ALL 0xffffffffU

/* Not in the headers of every libc that bawn is built with, or not the kernel's numbers there. */
#define NUMBER_TIOCSTI          0x5412
#define NUMBER_TIOCLINUX        0x541c
#define NUMBER_TIOCSETD         0x5423
#define NUMBER_SNAP_CREATE      0x50009401
#define NUMBER_SUBVOL_CREATE    0x5000940e
#define NUMBER_SNAP_DESTROY     0x5000940f
#define NUMBER_SNAP_CREATE_V2   0x50009417
#define NUMBER_SUBVOL_CREATE_V2 0x50009418
#define NUMBER_SNAP_DESTROY_V2  0x5000943f
#define NUMBER_FS_SETFLAGS      0x40086602
#define NUMBER_F_SETLEASE       1024
#define SET_ID_BITS             06000
#define NUMBER_SOCK_TYPE        0xf
#define NUMBER_SOCK_DGRAM       2
#define NUMBER_SOCK_RAW         3
#define NUMBER_SOCK_PACKET      10
#define NUMBER_NETLINK_ROUTE    0
#define NUMBER_TCP              6
#define NUMBER_UDPLITE          136
#define NUMBER_SMC              256
#define NUMBER_MPTCP            262
#define NUMBER_FASTOPEN_CONNECT 30
#define NUMBER_MSG_FASTOPEN     0x20000000
#define NUMBER_SOL_SOCKET       1
#define NUMBER_SOL_IP           0
#define NUMBER_SOL_IPV6         41
#define NUMBER_DONTROUTE        5
#define NUMBER_BINDTODEVICE     25
#define NUMBER_BINDTOIFINDEX    62
#define NUMBER_IP_OPTIONS       4
#define NUMBER_IP_UNICAST_IF    50
#define NUMBER_IPV6_PKTOPTIONS  6
#define NUMBER_IPV6_RTHDR       57
#define NUMBER_IPV6_UNICAST_IF  76
#define NUMBER_OF_NETWORKS      0x8900 /* ioctls that ask for interfaces, addresses, routes */
#define NUMBER_CREAT            0100
#define NUMBER_TRUNC            01000
#define NUMBER_ACCMODE          03
#define NUMBER_PATH             010000000
#define NUMBER_TMPFILE          020000000 /* without O_DIRECTORY, which O_TMPFILE includes */
#define NEW_NAMESPACE                                                                              \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

#define RULE(call, what, cond, reason)                                                             \
    .name = (call), .action = (what), .when = (cond), .why = (reason)
#define WHOLLY                         .arg = -1
#define IF(number, bits, wanted)       .arg = (number), .mask = (bits), .value = (wanted)
#define IF_NOT(number, bits, unwanted) IF(number, bits, unwanted), .is_not = 1
#define REFUSE(name, when, why)                                                                    \
    {                                                                                              \
        RULE(name, SYSCALL_EPERM, when, why), WHOLLY                                               \
    }
#define ABSENT(name, when, why)                                                                    \
    {                                                                                              \
        RULE(name, SYSCALL_ENOSYS, when, why), WHOLLY                                              \
    }
#define WATCH(name, why)                                                                           \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_PROTECTING, why), WHOLLY                                   \
    }
#define TELL(name)                                                                                 \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_EXPLAINING, hidden), WHOLLY                                \
    }
/* What opens nothing that can be read is let through: see WATCH_OPEN. */
#define HOLD_OPEN(name, flags)                                                                     \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_HOLDING, appears),                                         \
            IF(flags, NUMBER_PATH | NUMBER_TMPFILE, 0)                                             \
    }
#define WATCH_MODE(name, mode)                                                                     \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_PROTECTING, modes), IF(mode, SET_ID_BITS, 0)               \
    }
#define WATCH_ATTRIBUTE(name)                                                                      \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_PROTECTING, modes), WHOLLY                                 \
    }
/*
 * SECURITY: what is let through must not write. O_PATH drops every other flag.
 * KERNEL(3.11): this bit opens a file without a name or, without O_DIRECTORY,
 * nothing. Mode 3 can neither read nor write, but asks for both rights: told
 * like any other that is not reading.
 */
#define WATCH_OPEN(name, flags)                                                                    \
    {                                                                                              \
        RULE(name, SYSCALL_NOTIFY, WHEN_PROTECTING, creates),                                      \
            IF_NOT(flags, NUMBER_CREAT | NUMBER_TRUNC | NUMBER_ACCMODE, 0), .also = {              \
                {.arg = flags, .mask = NUMBER_PATH | NUMBER_TMPFILE, .value = 0}                   \
            }                                                                                      \
    }
/* Directories of btrfs have calls of their own, with the name behind a pointer. */
#define SUBVOLUME(number)                                                                          \
    {                                                                                              \
        RULE("ioctl", SYSCALL_EPERM, WHEN_PROTECTING, creates), IF(1, ALL, number)                 \
    }
#define FAST_OPEN(name, flags)                                                                     \
    {                                                                                              \
        RULE(name, SYSCALL_EPERM, WHEN_ALWAYS, "TCP Fast Open bypasses Landlock's TCP rules"),     \
            IF(flags, NUMBER_MSG_FASTOPEN, NUMBER_MSG_FASTOPEN)                                    \
    }

/* SECURITY: by these a socket that is connected sends another way, or to somebody else first. */
#define STRAY(level, option)                                                                       \
    {                                                                                              \
        RULE("setsockopt", SYSCALL_EPERM, WHEN_HANDING_OVER, handed), IF(1, ALL, level), .also = { \
            {2, ALL, option, 0}                                                                    \
        }                                                                                          \
    }

/* SECURITY: with datagrams a socket file is named in each call that sends, behind a pointer.
 * KERNEL: of UNIX sockets a raw one is one of these. */
#define DATAGRAMS(name, type)                                                                      \
    {                                                                                              \
        RULE(name, SYSCALL_EPERM, WHEN_CONNECTING, called), IF(0, ALL, AF_UNIX), .also = {         \
            {1, NUMBER_SOCK_TYPE, type, 0}                                                         \
        }                                                                                          \
    }

#define mounts     "mounts are the boundary: a hidden path must not be uncovered"
#define namespaces "a new namespace brings capabilities back"
#define kernel     "changes the kernel or the machine"
#define keys       "reads the keys of whoever started the sandbox"
#define reaper     "pid 1 of the sandbox starts commands, which would inherit its limits"
#define surface    "a large kernel surface that has been a way out"
#define peeking    "reads or changes another process"
#define handles    "opens files by number, past every path rule"
#define clocks     "the clock and the name belong to the host"
#define lends      "whoever runs the file outside would run it with the caller's rights"
#define creates    "a file that a rule protects may be created or replaced"
#define modes      "a file that a rule protects may be made executable, or unreadable"
#define hidden     "it may be about something that is hidden, which is told"
#define appears    "a file that a rule hides may have been made meanwhile"
#define asked      "a rule may ask about what is run"
#define called     "a rule may ask about the socket file that is connected to"
#define family     "a socket family that no sandboxed program needs"
#define handed     "a socket of the host's that was handed in stays with its server"
#define landlock   "calls that bawn makes for a program would bypass the program's own rules"

const struct syscall_rule syscall_table[] = {
    REFUSE("mount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("umount2", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("pivot_root", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("chroot", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("move_mount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("open_tree", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("open_tree_attr", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsopen", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsconfig", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsmount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fspick", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("mount_setattr", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("unshare", WHEN_NOT_CONTAINERS, namespaces),
    REFUSE("setns", WHEN_NOT_CONTAINERS, namespaces),
    {RULE("clone", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, namespaces), IF_NOT(0, NEW_NAMESPACE, 0)},
    ABSENT("clone3", WHEN_NOT_CONTAINERS,
           "its flags are behind a pointer that a filter cannot read"),
    ABSENT("io_uring_setup", WHEN_ALWAYS, surface),
    ABSENT("io_uring_enter", WHEN_ALWAYS, surface),
    ABSENT("io_uring_register", WHEN_ALWAYS, surface),
    REFUSE("bpf", WHEN_ALWAYS, surface),
    REFUSE("perf_event_open", WHEN_ALWAYS, surface),
    REFUSE("userfaultfd", WHEN_ALWAYS, surface),
    REFUSE("add_key", WHEN_NOT_CONTAINERS, surface),
    REFUSE("keyctl", WHEN_NOT_CONTAINERS, surface),
    REFUSE("request_key", WHEN_NOT_CONTAINERS, surface),
    /* SECURITY: the caller's keys are found by their numbers, in every user namespace. What makes
     * containers goes on without keys where the kernel has none. */
    ABSENT("add_key", WHEN_ALWAYS, keys),
    ABSENT("keyctl", WHEN_ALWAYS, keys),
    ABSENT("request_key", WHEN_ALWAYS, keys),
    REFUSE("modify_ldt", WHEN_ALWAYS, surface),
    REFUSE("lookup_dcookie", WHEN_ALWAYS, surface),
    REFUSE("memfd_secret", WHEN_ALWAYS, surface),
    REFUSE("vmsplice", WHEN_ALWAYS, surface),
    REFUSE("uselib", WHEN_ALWAYS, surface),
    /* 0 is what every process has; all ones only asks. */
    {RULE("personality", SYSCALL_EPERM, WHEN_ALWAYS, surface), IF_NOT(0, ALL, 0),
     .also = {{0, ALL, ALL, 1}}},
    REFUSE("name_to_handle_at", WHEN_ALWAYS, handles),
    REFUSE("open_by_handle_at", WHEN_ALWAYS, handles),
    /* Refused as well, but so that it can be told. */
    {RULE("ptrace", SYSCALL_NOTIFY, WHEN_TRACE_TOLD, peeking), WHOLLY},
    REFUSE("ptrace", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_vm_readv", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_vm_writev", WHEN_NOT_DEBUG, peeking),
    REFUSE("pidfd_getfd", WHEN_NOT_DEBUG, peeking),
    REFUSE("kcmp", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_madvise", WHEN_ALWAYS, peeking),
    /* Of the NUMA calls those that name a process; set_mempolicy and mbind are about the caller. */
    REFUSE("move_pages", WHEN_ALWAYS, peeking),
    REFUSE("migrate_pages", WHEN_ALWAYS, peeking),
    {RULE("prlimit64", SYSCALL_EPERM, WHEN_ALWAYS, reaper), IF(0, ALL, 1)},
    REFUSE("kexec_load", WHEN_ALWAYS, kernel),
    REFUSE("kexec_file_load", WHEN_ALWAYS, kernel),
    REFUSE("init_module", WHEN_ALWAYS, kernel),
    REFUSE("finit_module", WHEN_ALWAYS, kernel),
    REFUSE("delete_module", WHEN_ALWAYS, kernel),
    REFUSE("reboot", WHEN_ALWAYS, kernel),
    REFUSE("swapon", WHEN_ALWAYS, kernel),
    REFUSE("swapoff", WHEN_ALWAYS, kernel),
    REFUSE("acct", WHEN_ALWAYS, kernel),
    REFUSE("quotactl", WHEN_ALWAYS, kernel),
    REFUSE("quotactl_fd", WHEN_ALWAYS, kernel),
    REFUSE("iopl", WHEN_ALWAYS, kernel),
    REFUSE("ioperm", WHEN_ALWAYS, kernel),
    REFUSE("syslog", WHEN_ALWAYS, kernel),
    REFUSE("vhangup", WHEN_ALWAYS, kernel),
    REFUSE("nfsservctl", WHEN_ALWAYS, kernel),
    REFUSE("fanotify_init", WHEN_ALWAYS, kernel),
    REFUSE("settimeofday", WHEN_ALWAYS, clocks),
    REFUSE("clock_settime", WHEN_ALWAYS, clocks),
    REFUSE("adjtimex", WHEN_ALWAYS, clocks),
    REFUSE("clock_adjtime", WHEN_ALWAYS, clocks),
    REFUSE("sethostname", WHEN_NOT_CONTAINERS, clocks),
    REFUSE("setdomainname", WHEN_NOT_CONTAINERS, clocks),
    {RULE("ioctl", SYSCALL_EPERM, WHEN_ALWAYS,
          "types into the terminal of whoever started the sandbox"),
     IF(1, ALL, NUMBER_TIOCSTI)},
    {RULE("ioctl", SYSCALL_EPERM, WHEN_ALWAYS, "types into the console of the host"),
     IF(1, ALL, NUMBER_TIOCLINUX)},
    /* A line discipline is chosen, and its module loaded, on any terminal of one's own. */
    {RULE("ioctl", SYSCALL_EPERM, WHEN_ALWAYS, surface), IF(1, ALL, NUMBER_TIOCSETD)},
    SUBVOLUME(NUMBER_SNAP_CREATE),
    SUBVOLUME(NUMBER_SNAP_CREATE_V2),
    SUBVOLUME(NUMBER_SUBVOL_CREATE),
    SUBVOLUME(NUMBER_SUBVOL_CREATE_V2),
    SUBVOLUME(NUMBER_SNAP_DESTROY),
    SUBVOLUME(NUMBER_SNAP_DESTROY_V2),
    {RULE("ioctl", SYSCALL_NOTIFY, WHEN_PROTECTING, "in a directory that folds case, .GIT is .git"),
     IF(1, ALL, NUMBER_FS_SETFLAGS)},
    {RULE("chmod", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, lends), IF_NOT(1, SET_ID_BITS, 0)},
    {RULE("fchmod", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, lends), IF_NOT(1, SET_ID_BITS, 0)},
    {RULE("fchmodat", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, lends), IF_NOT(2, SET_ID_BITS, 0)},
    {RULE("fchmodat2", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, lends), IF_NOT(2, SET_ID_BITS, 0)},
    {RULE("fcntl", SYSCALL_EACCES, WHEN_ALWAYS,
          "a lease makes programs outside wait when they open the file"),
     IF(1, ALL, NUMBER_F_SETLEASE)},
    {RULE("socket", SYSCALL_EAFNOSUPPORT, WHEN_ALWAYS, family), IF_NOT(0, ALL, AF_UNIX),
     .also = {{0, ALL, AF_INET, 1}, {0, ALL, AF_INET6, 1}, {0, ALL, AF_NETLINK, 1}}},
    {RULE("socket", SYSCALL_EAFNOSUPPORT, WHEN_ALWAYS, family), IF(0, ALL, AF_NETLINK),
     .also = {{2, ALL, NUMBER_NETLINK_ROUTE, 1}}},
    /* An old name for AF_PACKET. */
    {RULE("socket", SYSCALL_EAFNOSUPPORT, WHEN_ALWAYS, family),
     IF(1, NUMBER_SOCK_TYPE, NUMBER_SOCK_PACKET)},
    {RULE("socket", SYSCALL_EPERM, WHEN_ALWAYS, "MPTCP bypasses Landlock's TCP rules"),
     IF(2, ALL, NUMBER_MPTCP)},
    {RULE("socket", SYSCALL_EPERM, WHEN_ALWAYS, "SMC bypasses Landlock's TCP rules"),
     IF(2, ALL, NUMBER_SMC)},
    /* Nobody uses it, and what is said of UDP is not said of it. */
    {RULE("socket", SYSCALL_EPERM, WHEN_ALWAYS, surface), IF(2, ALL, NUMBER_UDPLITE)},
    {RULE("socketpair", SYSCALL_EAFNOSUPPORT, WHEN_ALWAYS, family), IF_NOT(0, ALL, AF_UNIX)},
    FAST_OPEN("sendto", 3),
    FAST_OPEN("sendmsg", 2),
    FAST_OPEN("sendmmsg", 3),
    {RULE("setsockopt", SYSCALL_EPERM, WHEN_ALWAYS, "TCP Fast Open connects when it first sends"),
     IF(1, ALL, NUMBER_TCP), .also = {{2, ALL, NUMBER_FASTOPEN_CONNECT, 0}}},
    {RULE("connect", SYSCALL_NOTIFY, WHEN_HANDING_OVER, handed), WHOLLY},
    {RULE("connect", SYSCALL_NOTIFY, WHEN_CONNECTING, called), WHOLLY},
    DATAGRAMS("socket", NUMBER_SOCK_DGRAM),
    DATAGRAMS("socket", NUMBER_SOCK_RAW),
    DATAGRAMS("socketpair", NUMBER_SOCK_DGRAM),
    DATAGRAMS("socketpair", NUMBER_SOCK_RAW),
    {RULE("listen", SYSCALL_NOTIFY, WHEN_HANDING_OVER, handed), WHOLLY},
    {RULE("bind", SYSCALL_NOTIFY, WHEN_HANDING_OVER, handed), WHOLLY},
    {RULE("ioctl", SYSCALL_NOTIFY, WHEN_HANDING_OVER, "the host's network is not the sandbox's"),
     IF(1, 0xffffff00U, NUMBER_OF_NETWORKS)},
    STRAY(NUMBER_SOL_SOCKET, NUMBER_DONTROUTE),
    STRAY(NUMBER_SOL_SOCKET, NUMBER_BINDTODEVICE),
    STRAY(NUMBER_SOL_SOCKET, NUMBER_BINDTOIFINDEX),
    STRAY(NUMBER_SOL_IP, NUMBER_IP_OPTIONS),
    STRAY(NUMBER_SOL_IP, NUMBER_IP_UNICAST_IF),
    STRAY(NUMBER_SOL_IPV6, NUMBER_IPV6_PKTOPTIONS),
    STRAY(NUMBER_SOL_IPV6, NUMBER_IPV6_RTHDR),
    STRAY(NUMBER_SOL_IPV6, NUMBER_IPV6_UNICAST_IF),
    WATCH_OPEN("open", 1),
    WATCH_OPEN("openat", 2),
    WATCH("creat", creates),
    /* Its flags are behind a pointer: all are told. */
    WATCH("openat2", creates),
    WATCH("mkdir", creates),
    WATCH("mkdirat", creates),
    WATCH("mknod", creates),
    WATCH("mknodat", creates),
    WATCH("symlink", creates),
    WATCH("symlinkat", creates),
    WATCH("link", creates),
    WATCH("linkat", creates),
    WATCH("rename", creates),
    WATCH("renameat", creates),
    WATCH("renameat2", creates),
    WATCH("truncate", creates),
    WATCH("unlink", creates),
    WATCH("unlinkat", creates),
    WATCH("rmdir", creates),
    HOLD_OPEN("open", 1),
    HOLD_OPEN("openat", 2),
    {RULE("execve", SYSCALL_NOTIFY, WHEN_ASKING, asked), WHOLLY},
    {RULE("execveat", SYSCALL_NOTIFY, WHEN_ASKING, asked), WHOLLY},
    TELL("open"),
    TELL("openat"),
    TELL("stat"),
    TELL("lstat"),
    TELL("newfstatat"),
    TELL("statx"),
    TELL("access"),
    TELL("faccessat"),
    TELL("faccessat2"),
    TELL("readlink"),
    TELL("readlinkat"),
    TELL("chdir"),
    TELL("execve"),
    TELL("execveat"),
    /* Its address is behind a pointer, of whatever family. */
    {RULE("bind", SYSCALL_NOTIFY, WHEN_BINDING, creates), WHOLLY},
    WATCH_MODE("chmod", 1),
    WATCH_MODE("fchmod", 1),
    WATCH_MODE("fchmodat", 2),
    WATCH_MODE("fchmodat2", 2),
    /* An access control list is one of these. */
    WATCH_ATTRIBUTE("setxattr"),
    WATCH_ATTRIBUTE("lsetxattr"),
    WATCH_ATTRIBUTE("fsetxattr"),
    WATCH_ATTRIBUTE("removexattr"),
    WATCH_ATTRIBUTE("lremovexattr"),
    WATCH_ATTRIBUTE("fremovexattr"),
    ABSENT("setxattrat", WHEN_PROTECTING, modes),
    ABSENT("removexattrat", WHEN_PROTECTING, modes),
    /* SECURITY: as on a kernel without Landlock. What is told to the supervisor is made outside the
     * caller's domain: its rules would not count, and it would not know. */
    ABSENT("landlock_create_ruleset", WHEN_PROTECTING, landlock),
    ABSENT("landlock_add_rule", WHEN_PROTECTING, landlock),
    ABSENT("landlock_restrict_self", WHEN_PROTECTING, landlock),
    ABSENT("landlock_create_ruleset", WHEN_HANDING_OVER, landlock),
    ABSENT("landlock_add_rule", WHEN_HANDING_OVER, landlock),
    ABSENT("landlock_restrict_self", WHEN_HANDING_OVER, landlock),
};

const size_t syscall_table_count = sizeof(syscall_table) / sizeof(syscall_table[0]);

/*
 * A number that is neither here nor known to libseccomp gives ENOSYS, so that a
 * call of a newer kernel is not allowed unseen. What is here and not in the
 * table above is allowed on purpose:
 *  - uretprobe, uprobe: only the kernel's own trampoline gets past their check,
 *    and a process that the host traces dies without them.
 *  - statmount, listmount: what /proc/self/mountinfo shows.
 *  - lsm_*: what /proc/self/attr does; no_new_privs holds there too.
 *  - getxattrat, listxattrat only read; file_getattr, file_setattr: the mounts
 *    say what may be changed, as for FS_IOC_FSSETXATTR, which has no flag for
 *    case folding either.
 *  - cachestat wants an open file; futex_*, mseal, map_shadow_stack and
 *    set_mempolicy_home_node are about the caller; fchmodat2 is chmod.
 */
const struct syscall_number syscall_new[] = {
    {"uretprobe", 335, true},
    {"uprobe", 336, true},
    {"set_mempolicy_home_node", 450, false},
    {"cachestat", 451, false},
    {"fchmodat2", 452, false},
    {"map_shadow_stack", 453, false},
    {"futex_wake", 454, false},
    {"futex_wait", 455, false},
    {"futex_requeue", 456, false},
    {"statmount", 457, false},
    {"listmount", 458, false},
    {"lsm_get_self_attr", 459, false},
    {"lsm_set_self_attr", 460, false},
    {"lsm_list_modules", 461, false},
    {"mseal", 462, false},
    {"setxattrat", 463, false},
    {"getxattrat", 464, false},
    {"listxattrat", 465, false},
    {"removexattrat", 466, false},
    {"open_tree_attr", 467, false},
    {"file_getattr", 468, false},
    {"file_setattr", SYSCALL_LAST, false},
};

const size_t syscall_new_count = sizeof(syscall_new) / sizeof(syscall_new[0]);
