# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-01 processes and threads are bounded, and the host does not notice
# layers: cgroup
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

for way in fork thread; do
    sandbox --set sandbox.limits.pids=40 -- "$BIN/r_fork" "$way" 300
    sandbox_ran
    answers <<<"EAGAIN refusal"
    made=$(awk '$2 == "made" { print $1 }' "$T/stdout")
    ((${made:-999} <= 40)) || escaped "$made made by $way where 40 is the limit"
    ((${made:-0} >= 20)) || broken "only ${made:-0} made by $way where 40 is the limit"
done

# A real one, only where the limit was just seen to hold.
if ((BROKEN == 0)); then
    "$BAWN" run -C "$WS" --ro "$BIN" --set sandbox.limits.pids=60 -- "$BIN/r_fork" bomb \
        >"$T/stdout" 2>"$T/stderr" &
    outer=$!
    sleep 1
    SECONDS=0
    for _ in 1 2 3 4 5; do /bin/true; done
    ((SECONDS <= 2)) || escaped "the host needs $SECONDS s for five programs"
    inside=$(descendants "$outer")
    equal yes "$( (($(wc -w <<<"$inside") <= 65)) && echo yes)" "the bomb is bounded"
    # It is deaf to SIGTERM, which is passed on; the launcher's death ends it.
    kill -9 "$outer"
    sleep 1
    # shellcheck disable=SC2086
    gone $inside
    wait "$outer" 2>/dev/null || true
fi
