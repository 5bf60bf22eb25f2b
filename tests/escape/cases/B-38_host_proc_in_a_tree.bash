# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-38 a procfs of the host in a granted tree lends nothing that the launcher could open
# layers: lending
# not: nested, whose tree with a procfs in it the outer one cannot map
source "$ESCAPE/lib.bash"

# As below a directory for chroot.
own_mounts "$0"
mkdir "$OUT/proc"
mount --rbind /proc "$OUT/proc" || skip "no mount of /proc"
TOKEN=secret-text sleep 60 &
host=$!
at_end "kill $host"
wait_for 5 grep -q ^sleep "/proc/$host/comm" || broken "no process of the host"
attempts --ro "$OUT" < <(
    for name in environ maps mem auxv; do
        echo "ENOSYS sys openat2 cwd s:$OUT/proc/$host/$name how:O_RDONLY,0,0 24"
        echo "ENOSYS sys openat2 fd:$OUT s:proc/$host/$name how:O_RDONLY,0,RESOLVE_BENEATH 24"
        echo "EACCES sys open s:$OUT/proc/$host/$name O_RDONLY|O_CREAT 0600"
        echo "EACCES|EPERM read $OUT/proc/$host/$name"
    done
    echo "EACCES|EROFS sys open s:$OUT/proc/$host/mem O_RDWR"
    echo "EACCES sys openat2 cwd s:$OUT/proc/$host/root/etc/passwd how:O_RDONLY,0,0 24"
    echo "ok read $OUT/proc/uptime"
    echo "ok sys open s:/proc/self/comm O_WRONLY"
)
# Where the tree may be written, so may a process of the same user.
rw=(--rw "$OUT")
((UID != 0)) || rw+=(--as-root)
attempts "${rw[@]}" <<END
EACCES sys open s:$OUT/proc/$host/mem O_RDWR
EACCES sys open s:$OUT/proc/$host/mem O_WRONLY
EACCES sys open s:$OUT/proc/$host/oom_score_adj O_WRONLY
ok     sys creat s:$OUT/own 0644
END
