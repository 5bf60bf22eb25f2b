# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-70 what a project grants without approval does not keep bawn from looking through what others grant
# layers: mount
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

plant "$WS/secret" private
plant "$WS/plain" original
ln "$WS/secret" "$WS/zz"
mkdir -p "$OUT/granted" "$WS/.bawn"
"$BIN/e_listen" "$OUT/granted/s" "$WS/s" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
before=$(witness "$WS/secret")
for mode in ro rw; do
    # More files than are looked through.
    printf 'version: 1\nsandbox:\n  paths: {all: {root: /, mode: %s}}\n' "$mode" >"$WS/.bawn/policy.yaml"
    attempts --deny "$WS/secret" --ro "$OUT/granted" <<END
EACCES read $WS/secret
EACCES read $WS/zz
ok     read $WS/plain original
END
    sandbox --ro "$OUT/granted" -- "$BIN/e_connect" "$OUT/granted/s" "$WS/s"
    sandbox_ran
    answers <<<"EACCES $OUT/granted/s"
    [ "$mode" = ro ] || answers <<<"ok $WS/s"
done
unchanged "$before" "$WS/secret"
