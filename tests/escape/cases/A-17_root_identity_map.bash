# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-17 the files by which root rules the machine cannot be opened for writing, even if root starts it
# not: nested, its ids are those of the outer sandbox
# layers: mount+notify
source "$ESCAPE/lib.bash"

mapfile -t switches < <(find /proc/sys -type f -perm -200 2>/dev/null | grep -v -e /net/ipv6/ -e /net/ipv4/ | head -n 400)
attempts < <(
    for path in "${switches[@]}"; do
        echo "EROFS|EACCES|ENOENT sys open s:$path O_WRONLY"
    done
    cat <<END
EROFS|EACCES|ENOENT sys open s:/proc/sys/kernel/core_pattern O_WRONLY
EROFS|EACCES|ENOENT sys open s:/proc/sys/kernel/modprobe O_RDWR
EROFS|EACCES|ENOENT sys open s:/proc/self/root/proc/sys/kernel/core_pattern O_WRONLY
EROFS|EACCES|ENOENT sys open s:/proc/sysrq-trigger O_WRONLY
EROFS|EACCES|ENOENT sys open s:/proc/irq/default_smp_affinity O_WRONLY
EROFS|EACCES|ENOENT sys open s:/proc/bus/pci/devices O_WRONLY
EROFS|EACCES|ENOENT sys open s:/proc/mtrr O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/kernel/uevent_helper O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/power/state O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/fs/cgroup/release_agent O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/fs/cgroup/memory/release_agent O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/fs/cgroup/memory/cgroup.procs O_WRONLY
EROFS|EACCES|ENOENT sys open s:/sys/fs/cgroup/cgroup.procs O_WRONLY
EROFS|EACCES|ENOENT sys open s:/dev/cpu_dma_latency O_WRONLY
EROFS|EACCES|ENOENT read /etc/shadow
ok read /proc/sys/kernel/osrelease
ok sys open s:/proc/self/comm O_WRONLY
ok sys open s:/proc/self/oom_score_adj O_WRONLY
END
)
# Whoever it is inside, it is not the host's root.
sandbox -- cat /proc/self/uid_map
sandbox_ran
equal "" "$(awk '$2 == 0' "$T/stdout")" "ids that are root's on the host"
