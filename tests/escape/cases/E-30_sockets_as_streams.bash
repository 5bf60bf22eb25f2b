# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-30 a connection that is a stream is that connection and no more; other handles are no streams
# layers: launch
# no mutant: streams are judged before there is any layer, by who starts the command
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

"$BIN/e_tcp" >"$T/reached" &
listener=$!
at_end "kill $listener"
wait_for 5 test -s "$T/reached" || broken "no listener"
port=$(head -n1 "$T/reached")

# with KIND [OPTION]... -- COMMAND...: as sandbox.
with() {
    local kind=$1
    shift
    STATUS=0
    timeout -k 2 20 "$BIN/e_stream" with "$kind" "$BAWN" run -C "$WS" --ro "$BIN" "$@" \
        >"$T/stdout" 2>"$T/stderr" || STATUS=$?
}

# What comes and goes by it is the other side, for both kinds.
for kind in tcp unix; do
    with "$kind" -- sh -c 'tr a-z A-Z >&0'
    sandbox_ran
    wait_for 5 grep -q HELLO "$T/stderr" || broken "$kind: what went back and forth: $(cat "$T/stderr")"
done

with tcp -- "$BIN/e_stream" try "$port"
sandbox_ran
answers <<END
EINVAL disconnect
EINVAL connect
END
sleep 0.2
equal "$port" "$(cat "$T/reached")" "what the host's service saw"

for kind in unix-datagram unix-new tcp-new tcp-listening udp netlink path namespace pidfd epoll eventfd; do
    with "$kind" -- touch ran
    sandbox_refused "standard stream 0 is"
done
equal "$port" "$(cat "$T/reached")" "what the host's service saw"

# With the host's network (where that can be had) it is as everywhere.
[[ ${BAWN_TEST_NESTED:-} ]] && exit 0
"$BAWN" run -C "$WS" --net host -- true 2>/dev/null || exit 0
with tcp --net host -- "$BIN/e_stream" try "$port"
sandbox_ran
answers <<<"ok connect"
