# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-23 a command that stops itself, and the launcher with it, is held by its limits all the same
# layers: launch
# no mutant: it is about what the launcher does while it is stopped, no layer around the command
# not: nested, where no session can be found
# seconds: 90
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# job OPTION... -- COMMAND: a job of a shell on a terminal, which it stops. $first is what the shell saw
# then; $is_over, what bawn said when it ended by itself.
job() {
    timeout -k 2 25 "$BIN/t_host" "$T/screen" bash -c 'set -m
        "$@"; echo "first=$?"
        pid=$(jobs -p %1); echo "$pid" >launcher
        for ((i = 0; i < 80; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        ((i < 80)) || echo "it is left to itself"' bash "$BAWN" run -C "$WS" --ro "$BIN" "$@" >"$T/report"
    first=$(sed -n 's/^first=\([0-9]*\).*/\1/p' "$T/screen")
    is_over=$(grep -oE 'the time limit of . s was reached|it is left to itself' "$T/screen" | head -1)
    [[ ! -e /proc/$(cat launcher)/stat ]] || kill -9 "$(cat launcher)"
}

ended() { [[ $(ps -o stat= -p "$1") != [!Z]* ]]; }

job --set sandbox.limits.time=1s -- sh -c '"$0" tree beat; kill -STOP $$' "$BIN/r_orphans"
is 148 "$first" "the shell sees that it is stopped"
equal "the time limit of 1 s was reached" "$is_over" "the end of a command that stopped itself"
silent beat "a daemon outlived the time limit, for the launcher was stopped"

# Stopped again as often as it is continued.
job --set sandbox.limits.time=1s -- sh -c '"$0" tree beat; while :; do kill -TSTP $$; done' "$BIN/r_orphans"
equal "the time limit of 1 s was reached" "$is_over" "the end of a command that never goes on"
silent beat "a daemon outlived the time limit of a command that never goes on"

# Where the kernel counts no memory, somebody has to look.
job --set sandbox.limits.memory=96MiB --set sandbox.limits.time=4s -- sh -c '
    (sleep 1; (head -c 300M /dev/zero; echo; echo >taken; sleep 100) | tail) & kill -STOP $$'
is 148 "$first" "the shell sees that it is stopped"
equal no "$(test -e taken && sleep 1 && [[ $is_over ]] && echo yes || echo no)" \
    "memory past the limit was kept for as long as the launcher was stopped"

# Nobody typed anything: those beside it in its process group go on.
"$BIN/t_host" "$T/screen" bash -c 'set -m; sh -c "\"\$@\" & while ! test -e stops-itself; do sleep 0.1; done; sleep 0.7; echo >alive; kill -9 \$!" sh "$@"; :' \
    bash "$BAWN" run -C "$WS" -- sh -c 'echo >stops-itself; kill -TSTP $$' >"$T/report"
is yes "$(test -e stops-itself && echo yes)" "a command that stops itself runs"
equal yes "$(test -e alive && echo yes)" "a script beside a command that stops itself goes on"

# Without keys of the user's, and detached, nobody outside is stopped.
export XDG_RUNTIME_DIR=$T/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
timeout -k 2 25 "$BAWN" run -C "$WS" --ro "$BIN" -- sh -c 'echo >stops; kill -TSTP $$' </dev/null >/dev/null 2>&1 &
launcher=$!
at_end "kill -9 $launcher"
wait_for 10 test -e stops || broken "the sandbox did not start"
sleep 1
equal S "$(ps -o stat= -p "$launcher" | cut -c1)" "the state of who waits for the launcher"
equal S "$(ps -o stat= --ppid "$launcher" | head -1 | cut -c1)" "the state of a launcher without keys"
kill -TERM "$launcher"
wait_for 5 ended "$launcher" || escaped "SIGTERM does not end it"

"$BAWN" run -C "$WS" --detach --rows 20 --set sandbox.limits.time=3s -- sh -c 'kill -STOP $$' >/dev/null
equal 0 "$("$BAWN" status >/dev/null 2>&1; echo $?)" "the answer of a detached session whose command is stopped"
wait_for 8 test ! -e "$XDG_RUNTIME_DIR/bawn" || escaped "a detached session whose command is stopped never ends"
