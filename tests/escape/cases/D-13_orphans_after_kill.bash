# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-13 the launcher killed by SIGKILL leaves nobody behind
# layers: pidns+cgroup
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# kill -9 at once, after a while, and while it is stopped.
for wait in 0 0.2 stop; do
    rm -f beat
    # shellcheck disable=SC2016
    "$BAWN" run -C "$WS" --ro "$BIN" -- sh -c '"$0" tree beat; sleep 100' "$BIN/r_orphans" \
        >"$T/stdout" 2>"$T/stderr" &
    outer=$!
    if ! wait_for 10 test -s beat; then
        [[ ${BAWN_TEST_NESTED:-} ]] && grep -q '^bawn: ' "$T/stderr" && { CHECKED=1; exit 0; }
        broken "nothing beats: $(head -n2 "$T/stderr")"
        break
    fi
    launcher=$outer
    for pid in $outer $(descendants "$outer"); do
        [[ $(cat "/proc/$pid/comm" 2>/dev/null) == bawn* ]] && launcher=$pid && break
    done
    inside=$(descendants "$launcher")
    is yes "$(beats beat && echo yes)" "the daemons beat while the sandbox runs"
    if [[ $wait == stop ]]; then kill -STOP "$launcher"; else sleep "$wait"; fi
    kill -9 "$launcher"
    sleep 1
    # shellcheck disable=SC2086
    gone $inside
    silent beat "a daemon is alive a second after the launcher's end ($wait)"
    wait "$outer" 2>/dev/null || true
done
