# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-50 a socket in a read-only tree is out of reach where the file system does not list types
# layers: mount
# only: root
# when: command -v mkfs.ext4 >/dev/null
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

own_mounts "$0"
truncate -s 20M "$T/image"
mkfs.ext4 -q -O ^filetype "$T/image" >/dev/null 2>&1 || skip "mkfs.ext4 failed"
mkdir "$OUT/granted"
mount -o loop "$T/image" "$OUT/granted" || skip "no loop device"
mkdir "$OUT/granted/sub" "$WS/own"
chmod -R a+rwX "$OUT/granted"
"$BIN/e_listen" "$OUT/granted/sub/s" "$WS/own/s" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
sandbox --ro "$OUT/granted" -- "$BIN/e_connect" "$OUT/granted/sub/s" "$WS/own/s"
sandbox_ran
answers <<END
EACCES $OUT/granted/sub/s
ok     $WS/own/s
END
