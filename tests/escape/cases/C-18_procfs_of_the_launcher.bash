# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-18 files of /proc that tell of whoever opens them are not opened by the launcher
# layers: lending
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
    # Of these the user's own entries would be shown, and who else there is.
    for path in /proc/key-users /proc/locks /proc/1/status /proc; do
        echo "ENOSYS sys openat2 cwd s:$path how:O_RDONLY,0,0 24"
        echo "ENOSYS sys openat2 cwd s:$path how:O_RDONLY,0,RESOLVE_NO_SYMLINKS 24"
    done
    echo "ENOSYS sys openat2 cwd s:/proc/self/status how:O_RDONLY,0,0 24"
    echo "ENOSYS sys openat2 cwd s:/proc/thread-self/comm how:O_WRONLY,0,0 24"
    echo "EACCES sys open s:/proc/key-users O_RDONLY|O_CREAT 0600"
    echo "EACCES sys open s:/proc/locks O_RDONLY|O_CREAT 0600"
    # Its own are written, by any name.
    echo "ok sys open s:/proc/thread-self/comm O_WRONLY"
    echo "ok read /proc/self/status"
)

# Nor is what is open already opened once more: it would be the launcher's.
sandbox -- "$BIN/openagain" /proc/locks
sandbox_ran
verdict ENOSYS "$(cut -f1 "$T/stdout")" "openat2 of a descriptor of /proc/locks"
plant "$WS/file"
sandbox -- "$BIN/openagain" "$WS/file"
sandbox_ran
verdict ok "$(cut -f1 "$T/stdout")" "openat2 of a descriptor of a file"
