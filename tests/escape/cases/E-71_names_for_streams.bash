# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-71 a connection that is a stream gets no name in the host's network
# layers: notify
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

name=bawn-escape-$$
timeout -k 2 20 "$BIN/e_stream" with unix "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/e_stream" name "$name" \
    >"$T/stdout" 2>"$T/stderr" &
running=$!
wait_for 10 test -s "$T/stdout" || broken "no answer: $(cat "$T/stderr")"
equal "" "$(grep -o "@$name\$" /proc/net/unix)" "names in the host's network"
wait "$running"
STATUS=$?
sandbox_ran
answers <<END
EACCES stream
ok own
END
