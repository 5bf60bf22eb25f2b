# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-09 calls that change the kernel, the machine or another process are EPERM
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_calls"
sandbox_ran
for call in bpf perf_event_open userfaultfd userfaultfd-user-mode kexec_load kexec_file_load \
    init_module finit_module delete_module reboot swapon swapoff acct quotactl quotactl_fd iopl \
    ioperm modify_ldt settimeofday clock_settime adjtimex clock_adjtime syslog process_madvise \
    lookup_dcookie memfd_secret personality personality-high-bits vmsplice fanotify_init add_key \
    request_key keyctl sethostname setdomainname chroot setns name_to_handle_at open_by_handle_at \
    kcmp vhangup; do
    answers <<<"EPERM $call"
done
for call in personality-query personality-zero clock_gettime uname memfd_create madvise; do
    answers <<<"ok $call"
done
