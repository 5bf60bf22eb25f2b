# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-11 limits, stop and SIGTERM need nothing from inside: pid 1 and who makes calls may be stopped
# layers: launch
# no mutant: it is about whom the launcher needs to end a command, no layer around it
# not: nested, where no session can be found
# seconds: 120
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

[[ ${BAWN_TEST_WITHOUT:-} ]] && skip "a control: there is no session"
export LARGE
printf -v LARGE '%060000d' 0

# deaf NAME [OPTION]...: a sandbox whose pid 1 is stopped and its socket full, and so is who makes its
# calls: $launcher, $session.
deaf() {
    local name=$1 i
    shift
    rm -f "$name"
    timeout -k 2 40 "$BAWN" run -C "$WS" --ro "$BIN" "$@" -- sh -c 'echo >"$0"; exec sleep 1000' "$name" \
        >"$T/stdout" 2>"$T/stderr" &
    running=$!
    at_end "kill -9 $running"
    wait_for 10 test -e "$name" || broken "the sandbox did not start"
    find_session() {
        read -r session launcher < <("$BAWN" ps | awk -v name="$name" '$NF == name { print $1, $2 }')
        [[ $session ]]
    }
    wait_for 10 find_session || broken "no session"
    for pid in $(descendants "$launcher"); do
        [[ $(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status" 2>/dev/null) == 1 ||
            $(cat "/proc/$pid/comm" 2>/dev/null) == "bawn: calls" ]] && kill -STOP "$pid"
    done
    for ((i = 0; i < 12; i++)); do
        timeout -k 1 3 "$BAWN" exec "$session" -- /bin/echo "$LARGE" >/dev/null 2>&1 &
    done
    sleep 1
}
# ended SECONDS STATUS WHAT
ended() {
    local status=0
    wait_for "$1" gone_quietly "$launcher" || escaped "$3: still there after $1 s"
    wait "$running" || status=$?
    equal "$2" "$status" "$3: the status"
}
gone_quietly() { [[ ! -e /proc/$1 ]]; }

deaf for-stop
timeout -k 1 15 "$BAWN" stop --timeout 1s "$session" >/dev/null 2>&1
equal 0 "$?" "bawn stop"
ended 5 137 "stop"

deaf for-term
kill -TERM "$launcher"
ended 10 137 "SIGTERM to bawn"

deaf for-time --set sandbox.limits.time=4s
ended 12 124 "the time limit"
