# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-71 a file that is open for writing does not lend that to one with its number in another subvolume
# layers: notify
# seconds: 60
# only: root
# when: command -v mkfs.btrfs >/dev/null && grep -q btrfs /proc/filesystems
source "$ESCAPE/lib.bash"

own_mounts "$0"
truncate -s 120M "$T/image"
mkfs.btrfs -q "$T/image" >/dev/null 2>&1 || skip "mkfs.btrfs failed"
mount -o loop "$T/image" "$WS" || skip "no loop device"
for name in sub mine; do
    btrfs -q subvolume create "$WS/$name" || broken "no subvolume"
done
# Protected further down, where no mount holds it.
plant "$WS/sub/.mcp.json"
plant "$WS/mine/own"
chmod -R a+rwX "$WS"
is "$(stat -c %i "$WS/sub/.mcp.json")" "$(stat -c %i "$WS/mine/own")" "the number of both files"
before=$(witness "$WS/sub")
sandbox -- "$BIN/fdswap" "$WS/sub/.mcp.json" "$WS/mine/own" 20000 8
sandbox_ran
read -r tries opened <"$T/stdout"
((${tries:-0} >= 500 && ${opened:-0} >= 100)) ||
    broken "only ${opened:-0} of ${tries:-0} tries opened anything"
echo "# note: $tries tries, $opened opened something"
unchanged "$before" "$WS/sub"
