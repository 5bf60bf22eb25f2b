# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-07 what /proc and /sys tell of the machine and its kernel is not there or empty
# layers: mount
source "$ESCAPE/lib.bash"

paths=(/proc/kcore /proc/keys /proc/timer_list /proc/kallsyms /proc/sysrq-trigger
    /proc/kmsg /proc/kpagecount /proc/kpageflags /proc/kpagecgroup /proc/vmallocinfo /proc/sched_debug
    /proc/latency_stats /proc/timer_stats /proc/config.gz
    /sys/kernel/security/lsm /sys/kernel/debug/sched /sys/kernel/tracing/trace
    /sys/firmware/memmap /sys/firmware/acpi/tables/DSDT /sys/devices/virtual/powercap
    /sys/fs/cgroup/release_agent /sys/kernel/vmcoreinfo /sys/kernel/notes)
attempts < <(
    for path in "${paths[@]}"; do
        [[ $path == /proc/config.gz ]] && continue
        echo "ENOENT|EACCES read $path"
        echo "ENOENT|EACCES|EROFS sys open s:$path O_WRONLY"
    done
    for dir in /sys/firmware /sys/kernel/security /sys/kernel/debug /sys/kernel/tracing /sys/module \
        /sys/bus /sys/class /sys/block; do
        echo "ENOENT|EACCES list $dir"
    done
    echo "ok read /proc/self/status"
    echo "ok read /proc/meminfo"
    echo "ok read /proc/cpuinfo"
    echo "ok read /proc/sys/kernel/osrelease"
)
