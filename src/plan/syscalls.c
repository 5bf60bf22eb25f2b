/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/syscalls.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#define ALL 0xffffffffULL

/* Not in the headers of every libc that bawn is built with. */
#define NUMBER_TIOCSTI      0x5412
#define NUMBER_TIOCLINUX    0x541c
#define NUMBER_AF_SMC       43
#define NUMBER_MPTCP        262
#define NUMBER_MSG_FASTOPEN 0x20000000
#define NUMBER_NEW_TIME     0x80

#define REFUSE(name, when, why)                                                                    \
    {                                                                                              \
        name, SYSCALL_EPERM, when, -1, 0, 0, 0, why                                                \
    }
#define ABSENT(name, why)                                                                          \
    {                                                                                              \
        name, SYSCALL_ENOSYS, WHEN_ALWAYS, -1, 0, 0, 0, why                                        \
    }
#define FAMILY(name, family)                                                                       \
    {                                                                                              \
        name, SYSCALL_EAFNOSUPPORT, WHEN_ALWAYS, 0, ALL, family, 0,                                \
            "a socket family that no sandboxed program needs"                                      \
    }
#define FAMILIES(family) FAMILY("socket", family), FAMILY("socketpair", family)
#define NAMESPACE(flag)                                                                            \
    {                                                                                              \
        "clone", SYSCALL_EPERM, WHEN_NOT_CONTAINERS, 0, flag, flag, 0, namespaces                  \
    }
#define WATCH(name, when, why)                                                                     \
    {                                                                                              \
        name, SYSCALL_NOTIFY, when, -1, 0, 0, 0, why                                               \
    }

#define mounts     "mounts are the boundary: a hidden path must not be uncovered"
#define namespaces "a new namespace brings capabilities back"
#define kernel     "changes the kernel or the machine"
#define surface    "a large kernel surface that has been a way out"
#define peeking    "reads or changes another process"
#define handles    "opens files by number, past every path rule"
#define clocks     "the clock and the name belong to the host"
#define creates    "a file that a rule protects may be created or replaced"
#define asks       "the policy says to ask"
#define sockets    "a read-only mount does not stop connecting to a socket in it"

const struct syscall_rule syscall_table[] = {
    REFUSE("mount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("umount2", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("pivot_root", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("chroot", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("move_mount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("open_tree", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsopen", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsconfig", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fsmount", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("fspick", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("mount_setattr", WHEN_NOT_CONTAINERS, mounts),
    REFUSE("unshare", WHEN_NOT_CONTAINERS, namespaces),
    REFUSE("setns", WHEN_NOT_CONTAINERS, namespaces),
    NAMESPACE(CLONE_NEWUSER),
    NAMESPACE(CLONE_NEWNS),
    NAMESPACE(CLONE_NEWPID),
    NAMESPACE(CLONE_NEWNET),
    NAMESPACE(CLONE_NEWIPC),
    NAMESPACE(CLONE_NEWUTS),
    NAMESPACE(CLONE_NEWCGROUP),
    {"clone3", SYSCALL_ENOSYS, WHEN_NOT_CONTAINERS, -1, 0, 0, 0,
     "its flags are behind a pointer that a filter cannot read"},
    ABSENT("io_uring_setup", surface),
    ABSENT("io_uring_enter", surface),
    ABSENT("io_uring_register", surface),
    REFUSE("bpf", WHEN_ALWAYS, surface),
    REFUSE("perf_event_open", WHEN_ALWAYS, surface),
    REFUSE("userfaultfd", WHEN_ALWAYS, surface),
    REFUSE("add_key", WHEN_NOT_CONTAINERS, surface),
    REFUSE("keyctl", WHEN_NOT_CONTAINERS, surface),
    REFUSE("request_key", WHEN_NOT_CONTAINERS, surface),
    REFUSE("modify_ldt", WHEN_ALWAYS, surface),
    REFUSE("lookup_dcookie", WHEN_ALWAYS, surface),
    REFUSE("memfd_secret", WHEN_ALWAYS, surface),
    REFUSE("vmsplice", WHEN_ALWAYS, surface),
    {"personality", SYSCALL_EPERM, WHEN_ALWAYS, 0, ALL, 0, 1, surface},
    REFUSE("name_to_handle_at", WHEN_ALWAYS, handles),
    REFUSE("open_by_handle_at", WHEN_ALWAYS, handles),
    REFUSE("ptrace", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_vm_readv", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_vm_writev", WHEN_NOT_DEBUG, peeking),
    REFUSE("pidfd_getfd", WHEN_NOT_DEBUG, peeking),
    REFUSE("kcmp", WHEN_NOT_DEBUG, peeking),
    REFUSE("process_madvise", WHEN_ALWAYS, peeking),
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
    {"ioctl", SYSCALL_EPERM, WHEN_ALWAYS, 1, ALL, NUMBER_TIOCSTI, 0,
     "types into the terminal of whoever started the sandbox"},
    {"ioctl", SYSCALL_EPERM, WHEN_ALWAYS, 1, ALL, NUMBER_TIOCLINUX, 0,
     "types into the console of the host"},
    FAMILIES(AF_VSOCK),
    FAMILIES(AF_PACKET),
    FAMILIES(AF_ALG),
    FAMILIES(AF_XDP),
    FAMILIES(AF_TIPC),
    FAMILIES(AF_RDS),
    FAMILIES(AF_KEY),
    FAMILIES(AF_BLUETOOTH),
    FAMILIES(AF_CAN),
    FAMILIES(AF_NFC),
    FAMILIES(AF_KCM),
    FAMILIES(AF_QIPCRTR),
    FAMILIES(AF_AX25),
    FAMILIES(AF_X25),
    FAMILIES(AF_NETROM),
    FAMILIES(AF_ROSE),
    FAMILIES(AF_LLC),
    FAMILIES(AF_PPPOX),
    FAMILIES(AF_IB),
    FAMILIES(AF_PHONET),
    FAMILIES(AF_IEEE802154),
    FAMILIES(AF_CAIF),
    FAMILIES(AF_RXRPC),
    FAMILIES(NUMBER_AF_SMC),
    {"socket", SYSCALL_EPERM, WHEN_ALWAYS, 2, ALL, NUMBER_MPTCP, 0,
     "MPTCP passes Landlock's TCP rules by"},
    {"sendto", SYSCALL_EPERM, WHEN_ALWAYS, 3, NUMBER_MSG_FASTOPEN, NUMBER_MSG_FASTOPEN, 0,
     "TCP Fast Open passes Landlock's TCP rules by"},
    {"sendmsg", SYSCALL_EPERM, WHEN_ALWAYS, 2, NUMBER_MSG_FASTOPEN, NUMBER_MSG_FASTOPEN, 0,
     "TCP Fast Open passes Landlock's TCP rules by"},
    {"sendmmsg", SYSCALL_EPERM, WHEN_ALWAYS, 3, NUMBER_MSG_FASTOPEN, NUMBER_MSG_FASTOPEN, 0,
     "TCP Fast Open passes Landlock's TCP rules by"},
    {"open", SYSCALL_NOTIFY, WHEN_PROTECTING, 1, O_CREAT, O_CREAT, 0, creates},
    {"openat", SYSCALL_NOTIFY, WHEN_PROTECTING, 2, O_CREAT, O_CREAT, 0, creates},
    WATCH("creat", WHEN_PROTECTING, creates),
    WATCH("openat2", WHEN_PROTECTING, creates),
    WATCH("mkdir", WHEN_PROTECTING, creates),
    WATCH("mkdirat", WHEN_PROTECTING, creates),
    WATCH("mknod", WHEN_PROTECTING, creates),
    WATCH("mknodat", WHEN_PROTECTING, creates),
    WATCH("symlink", WHEN_PROTECTING, creates),
    WATCH("symlinkat", WHEN_PROTECTING, creates),
    WATCH("link", WHEN_PROTECTING, creates),
    WATCH("linkat", WHEN_PROTECTING, creates),
    WATCH("rename", WHEN_PROTECTING, creates),
    WATCH("renameat", WHEN_PROTECTING, creates),
    WATCH("renameat2", WHEN_PROTECTING, creates),
    WATCH("connect", WHEN_PROTECTING, sockets),
    {"sendto", SYSCALL_NOTIFY, WHEN_PROTECTING, 4, ~0ULL, 0, 1, sockets},
    WATCH("open", WHEN_ASKING, asks),
    WATCH("openat", WHEN_ASKING, asks),
    WATCH("openat2", WHEN_ASKING, asks),
    WATCH("stat", WHEN_ASKING, asks),
    WATCH("lstat", WHEN_ASKING, asks),
    WATCH("newfstatat", WHEN_ASKING, asks),
    WATCH("statx", WHEN_ASKING, asks),
    WATCH("access", WHEN_ASKING, asks),
    WATCH("faccessat", WHEN_ASKING, asks),
    WATCH("faccessat2", WHEN_ASKING, asks),
    WATCH("readlink", WHEN_ASKING, asks),
    WATCH("readlinkat", WHEN_ASKING, asks),
    WATCH("execve", WHEN_ASKING, asks),
    WATCH("execveat", WHEN_ASKING, asks),
};

const size_t syscall_table_count = sizeof(syscall_table) / sizeof(syscall_table[0]);
