# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-18 files of /proc that tell of whoever opens them are not opened by the launcher
# layers: launch
source "$ESCAPE/lib.bash"

# Through the launcher these are the host's IPC objects, interfaces and limits.
paths=(/proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem /proc/sys/net/ipv4/conf/lo/forwarding
    /proc/sys/user/max_user_namespaces /proc/sys/kernel/shmmax)
attempts < <(
    for path in "${paths[@]}"; do
        echo "ENOSYS sys openat2 cwd s:$path how:O_RDONLY,0,0 24"
        echo "ENOSYS sys openat2 cwd s:$path how:O_RDONLY,0,RESOLVE_NO_SYMLINKS 24"
        echo "EACCES sys open s:$path O_RDONLY|O_CREAT 0600"
        echo "ok read $path"
    done
    # Its own are, by any name.
    echo "ok sys openat2 cwd s:/proc/self/status how:O_RDONLY,0,0 24"
    echo "ok sys openat2 cwd s:/proc/thread-self/comm how:O_WRONLY,0,0 24"
)
