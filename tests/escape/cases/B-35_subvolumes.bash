# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-35 where directories are subvolumes, none is made or removed at a protected name
# layers: seccomp
# only: root
# when: command -v mkfs.btrfs >/dev/null && grep -q btrfs /proc/filesystems
source "$ESCAPE/lib.bash"

own_mounts "$0"
truncate -s 120M "$T/image"
mkfs.btrfs -q "$T/image" >/dev/null 2>&1 || skip "mkfs.btrfs failed"
mount -o loop,user_subvol_rm_allowed "$T/image" "$WS" || skip "no loop device"
mkdir "$WS/sub"
for name in own sub/.githooks; do
    btrfs -q subvolume create "$WS/$name" || broken "no subvolume"
    plant "$WS/$name/tasks.json"
done
chmod -R a+rwX "$WS"
before=$(witness "$WS")
sandbox -- "$BIN/subvolume" "$WS/sub" "$WS/own"
sandbox_ran
while IFS=$'\t' read -r got what; do
    verdict EPERM "$got" "$what"
done <"$T/stdout"
is 6 "$(wc -l <"$T/stdout")" "attempts"
unchanged "$before" "$WS"
attempts <<END
EACCES sys mkdir s:$WS/sub/.vscode 0755
EBUSY  sys rmdir s:$WS/sub/.githooks
ok     sys mkdir s:$WS/sub/plain 0755
END
