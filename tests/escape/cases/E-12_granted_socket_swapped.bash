# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-12 a granted socket that was swapped for a link carries the grant nowhere
# layers: launch
# no mutant: the set-up opens a socket that is granted without links, and no build of it does otherwise
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

plant "$WS/.env" secret-text
mkdir -p "$WS/run" "$OUT/run"
"$BIN/e_listen" "$WS/run/s" "$OUT/run/s" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
options=(--deny "$WS/.env" --set "sandbox.network.unix_sockets=$WS/run/s")

# Twice, so that the plan is one that was kept.
for _ in cold warm; do
    sandbox "${options[@]}" -- "$BIN/e_connect" "$WS/run/s"
    sandbox_ran
    answers <<<"ok $WS/run/s"
done
before=$(witness "$WS/.env")
sandbox "${options[@]}" -- /bin/sh -c 'rm -f run/s; ln -s ../.env run/s'
rm -f "$WS/run/s"
ln -s ../.env "$WS/run/s"
attempts "${options[@]}" <<END
EACCES read $WS/.env
EACCES read $WS/run/s
END
unchanged "$before" "$WS/.env"

# The directory around it, on the way to a socket that nobody granted.
rm -rf "$WS/run"
ln -s "$OUT/run" "$WS/run"
sandbox --ro "$OUT/run" "${options[@]}" -- "$BIN/e_connect" "$OUT/run/s" "$WS/run/s"
sandbox_ran
answers <<END
EACCES $OUT/run/s
EACCES $WS/run/s
END
equal 0 "$(grep -c "$OUT/run/s" "$T/reached")" "what the host's socket saw"
