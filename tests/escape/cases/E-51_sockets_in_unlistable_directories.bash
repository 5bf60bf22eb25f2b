# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-51 a socket in a read-only tree is out of reach in a directory that can be entered but not listed
# layers: mount
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

mkdir -p "$OUT/granted/sub" "$OUT/granted/above/sub" "$WS/own"
plant "$OUT/granted/file" original
"$BIN/e_listen" "$OUT/granted/sub/s" "$OUT/granted/above/sub/s" "$WS/own/s" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
chmod 111 "$OUT/granted/sub" "$OUT/granted/above" "$WS/own"
sandbox --ro "$OUT/granted" -- "$BIN/e_connect" "$OUT/granted/sub/s" "$OUT/granted/above/sub/s" "$WS/own/s"
sandbox_ran
answers <<END
EACCES|ENOENT $OUT/granted/sub/s
EACCES|ENOENT $OUT/granted/above/sub/s
ok     $WS/own/s
END
attempts --ro "$OUT/granted" <<END
ok read $OUT/granted/file original
END
chmod 755 "$OUT/granted/sub" "$OUT/granted/above" "$WS/own"
