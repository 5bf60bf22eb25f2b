# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-04 path sockets of the host are out of reach, also below what is read-only
# layers: mount
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

mkdir -p "$OUT/run" "$OUT/hidden"
listeners=("$OUT/run/s" "$OUT/run/d:dgram" "$OUT/hidden/s")
"$BIN/e_listen" "${listeners[@]}" >"$T/reached" 2>/dev/null &
listener=$!
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
ln -s "$OUT/run/s" "$WS/link"

# Not granted: not there.
sandbox -- "$BIN/e_connect" "$OUT/hidden/s" link
sandbox_ran
answers <<END
ENOENT $OUT/hidden/s
ENOENT link
END

# Granted for reading: a read-only mount does not stop connect.
sandbox --ro "$OUT/run" -- "$BIN/e_connect" "$OUT/run/s" "$OUT/run/d:dgram" link \
    "/proc/self/root$OUT/run/s"
sandbox_ran
answers <<END
EACCES $OUT/run/s
EACCES $OUT/run/d:dgram
EACCES $OUT/run/d:dgram-sendto
EACCES link
EACCES /proc/self/root$OUT/run/s
END
# The socket itself, granted for reading.
sandbox --ro "$OUT/run/s" -- "$BIN/e_connect" "$OUT/run/s"
sandbox_ran
answers <<<"EACCES|ECONNREFUSED|ENOENT $OUT/run/s"
sandbox --reads static -- "$BIN/e_connect" "$OUT/run/s"
sandbox_ran
answers <<<"EACCES|ENOENT $OUT/run/s"
equal ready "$(cat "$T/reached")" "what the host's sockets saw"
kill "$listener"

# In the workspace they work.
# shellcheck disable=SC2016
sandbox -- sh -c '"$0/e_listen" inner >seen & while ! grep -q ready seen; do sleep 0.05; done
    "$0/e_connect" inner' "$BIN"
sandbox_ran
answers <<<"ok inner"
