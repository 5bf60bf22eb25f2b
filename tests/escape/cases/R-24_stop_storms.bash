# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-24 a command that stops and goes on without end does not make the launcher spin, where nobody stops that
# layers: launch
# no mutant: it is about how often the launcher looks, no layer around the command
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

# storm NAME COMMAND...: on a terminal without a shell, where bawn cannot be stopped.
storm() {
    local name=$1 host pid before after
    shift
    rm -f started launcher
    timeout -k 2 20 "$BIN/t_host" "$T/screen" sh -c 'echo $$ >launcher; exec "$@"' sh \
        "$BAWN" run -C "$WS" --ro "$BIN" -- "$@" >"$T/report" &
    host=$!
    if ! wait_for 10 test -e started; then
        [[ ${BAWN_TEST_NESTED:-} ]] && { CHECKED=1; exit 0; }
        broken "the sandbox did not start"
    fi
    pid=$(cat launcher)
    before=$(ticks "$pid")
    sleep 1
    after=$(ticks "$pid")
    CHECKED=$((CHECKED + 1))
    ((after - before <= 20)) || escaped "$name: the launcher took $((after - before)) of 100 ticks"
    equal no "$([[ $(ps -o stat= -p "$pid") == T* ]] && echo yes || echo no)" "$name: the launcher is stopped"
    kill -TERM "$pid"
    wait "$host" || true
    equal "state same" "$(grep state "$T/report")" "$name: the terminal afterwards"
}
storm "the stop of the key" sh -c 'echo >started; while :; do kill -TSTP $$; done'
storm "wanting keys" sh -c 'echo >started; while :; do kill -TTIN $$; done'
storm "a sibling that stops it" sh -c 'p=$$; (echo >started; while :; do kill -STOP $p; kill -CONT $p; done) & wait'
