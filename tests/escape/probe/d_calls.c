/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call that changes the kernel, the machine or another process, by
 * number. The arguments are such that a kernel that does perform the call does
 * no harm and answers anything but EPERM to root: what says EPERM was refused.
 */
#include "d_attempt.h"

#include <fcntl.h>
#include <sys/mman.h>

#define NO                    ((unsigned long)-1)
#define NOWHERE               1UL /* an address that is never mapped */
#define PATH(s)               (unsigned long)(s)
#define KEYCTL_GET_KEYRING_ID 0
#define SYSLOG_SIZE_BUFFER    10
#define ADDR_NO_RANDOMIZE     0x0040000
#define UFFD_USER_MODE_ONLY   1

static char buffer[4096];

static const struct attempt attempts[] = {
    {"bpf", SYS_bpf, {9999, PATH(buffer), 64}},
    {"perf_event_open", SYS_perf_event_open, {NOWHERE, 0, NO, NO}},
    {"userfaultfd", SYS_userfaultfd, {O_CLOEXEC}},
    {"userfaultfd-user-mode", SYS_userfaultfd, {O_CLOEXEC | UFFD_USER_MODE_ONLY}},
    {"kexec_load", SYS_kexec_load, {0, 999, 0, 0xffff}},
    {"kexec_file_load", SYS_kexec_file_load, {NO, NO, 0, 0, 0xffff}},
    {"init_module", SYS_init_module, {NOWHERE, 0, NOWHERE}},
    {"finit_module", SYS_finit_module, {NO, NOWHERE, 0xffff}},
    {"delete_module", SYS_delete_module, {PATH("no-such-module"), O_NONBLOCK}},
    {"reboot", SYS_reboot, {0, 0, 0, 0}},
    {"swapon", SYS_swapon, {PATH("/nowhere/at/all"), 0}},
    {"swapoff", SYS_swapoff, {PATH("/nowhere/at/all")}},
    {"acct", SYS_acct, {PATH("/nowhere/at/all")}},
    {"quotactl", SYS_quotactl, {0xffffff00, PATH("/nowhere/at/all"), 0, 0}},
    {"quotactl_fd", SYS_quotactl_fd, {NO, 0xffffff00, 0, 0}},
    {"iopl", SYS_iopl, {4}},
    {"ioperm", SYS_ioperm, {65536, 65536, 1}},
    {"modify_ldt", SYS_modify_ldt, {0, PATH(buffer), sizeof(buffer)}},
    {"settimeofday", SYS_settimeofday, {NOWHERE, 0}},
    {"clock_settime", SYS_clock_settime, {999, NOWHERE}},
    {"adjtimex", SYS_adjtimex, {NOWHERE}},
    {"clock_adjtime", SYS_clock_adjtime, {0, NOWHERE}},
    {"syslog", SYS_syslog, {SYSLOG_SIZE_BUFFER, 0, 0}},
    {"process_madvise", SYS_process_madvise, {NO, PATH(buffer), 1, MADV_COLD, 0}},
    {"lookup_dcookie", SYS_lookup_dcookie, {0, PATH(buffer), sizeof(buffer)}},
    {"memfd_secret", SYS_memfd_secret, {O_CLOEXEC}},
    {"personality", SYS_personality, {ADDR_NO_RANDOMIZE}},
    {"personality-high-bits", SYS_personality, {ADDR_NO_RANDOMIZE | 1UL << 32}},
    {"vmsplice", SYS_vmsplice, {NO, PATH(buffer), 0, 0}},
    {"fanotify_init", SYS_fanotify_init, {0, 0}},
    {"add_key", SYS_add_key, {PATH("user"), PATH("probe"), PATH(buffer), 1, NO - 1}},
    {"request_key", SYS_request_key, {PATH("user"), PATH("probe"), 0, 0}},
    {"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, NO - 2, 0}},
    {"sethostname", SYS_sethostname, {NOWHERE, NO}},
    {"setdomainname", SYS_setdomainname, {NOWHERE, NO}},
    {"chroot", SYS_chroot, {PATH("/")}},
    {"setns", SYS_setns, {NO, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {PATH("/"), NOWHERE, 0, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, {NO, NOWHERE, 0}},
};

/* Calls beside the refused ones that programs need: the same entry, other arguments. */
static const struct attempt needed[] = {
    {"personality-query", SYS_personality, {0xffffffff}},
    {"personality-zero", SYS_personality, {0}},
    {"clock_gettime", SYS_clock_gettime, {0, PATH(buffer)}},
    {"uname", SYS_uname, {PATH(buffer)}},
    {"memfd_create", SYS_memfd_create, {PATH("probe"), 0}},
    {"madvise", SYS_madvise, {0, 0, 0}},
};

int main(void)
{
    int status;
    pid_t child;

    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        attempt_run(&attempts[i]);

    /* kcmp wants living pids; vhangup must find no terminal to hang up. */
    child = fork();
    if (child == 0) {
        setsid();
        say("kcmp", syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0));
        say("vhangup", syscall(SYS_vhangup));
        _exit(0);
    }
    waitpid(child, &status, 0);

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        attempt_run(&needed[i]);
    return 0;
}
