# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-21 nothing can be mounted, unmounted or moved
# layers: seccomp
source "$ESCAPE/lib.bash"

mkdir a b
plant "$OUT/file"
before=$(witness "$OUT" && cat /proc/self/mountinfo)
attempts --ro "$OUT" <<END
EPERM sys mount s:none s:$WS/a s:tmpfs 0 null
EPERM sys mount s:$WS/b s:$WS/a null 0x1000 null
EPERM sys mount null s:$OUT null 0x1020 null
EPERM sys mount null s:/ null 0x20 null
EPERM sys umount2 s:$OUT 0
EPERM sys umount2 s:/etc 2
EPERM sys umount2 s:/proc 2
EPERM sys pivot_root s:$WS s:$WS/a
EPERM sys chroot s:$WS
EPERM|ENOSYS sys move_mount fd:$OUT s: cwd s:$WS/a 0x4
EPERM|ENOSYS sys open_tree cwd s:$OUT 1
EPERM|ENOSYS sys open_tree cwd s:/ 0x8001
EPERM|ENOSYS sys open_tree_attr cwd s:$OUT 1 buf 32
EPERM|ENOSYS sys fsopen s:tmpfs 0
EPERM|ENOSYS sys fsconfig 3 6 null null 0
EPERM|ENOSYS sys fsmount 3 0 0
EPERM|ENOSYS sys fspick cwd s:/ 0
EPERM|ENOSYS sys mount_setattr cwd s:$OUT 0 buf 32
EPERM sys unshare 0x20000
EPERM sys unshare 0x10000000
EPERM sys setns rd:/proc/self/ns/mnt 0
ok    sys mkdir s:$WS/a/b 0755
END
equal "$before" "$(witness "$OUT" && cat /proc/self/mountinfo)" "the host's mounts and files"
