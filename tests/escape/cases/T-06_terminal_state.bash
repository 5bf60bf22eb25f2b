# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# T-06 the user's terminal comes back as it was
# layers: launch
# no mutant: it is about what the launcher gives back, no layer around the command
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# restored STATUS COMMAND...: on a terminal; its report is in $T/report, its output in $T/screen.
restored() {
    local status=$1
    shift
    timeout 20 "$BIN/t_host" "$T/screen" "$BAWN" run -C "$WS" --ro "$BIN" -- "$@" >"$T/report"
    if [[ ${BAWN_TEST_NESTED:-} ]] && grep -q '^exit 125' "$T/report"; then
        CHECKED=1
        exit 0
    fi
    is "exit $status" "$(grep exit "$T/report")" "the status of $*"
    equal "state same" "$(grep state "$T/report")" "the terminal after $*"
}
raw='stty raw -echo -isig'
restored 0 sh -c "$raw"
restored 137 sh -c "$raw; kill -9 \$\$"
restored 143 sh -c "$raw; kill -TERM \$\$"
restored 3 sh -c "$raw; exit 3"
# Screens and modes that it had switched on are switched off.
restored 137 sh -c 'printf "\033[?1049h\033[?25l\033[?1000h\033[?2004h"; sleep 0.2; kill -9 $$'
for mode in '?1049l' '?25h' '?1000l' '?2004l'; do
    equal yes "$(grep -qF $'\e['"$mode" "$T/screen" && echo yes)" "the reset CSI $mode"
done
# Ended from outside, politely.
timeout 20 "$BIN/t_host" "$T/screen" sh -c 'echo $$ >launcher; exec "$@"' sh \
    "$BAWN" run -C "$WS" --ro "$BIN" -- sh -c "$raw; echo >started; sleep 20" >"$T/report" &
host=$!
wait_for 10 test -e started || broken "the sandbox did not start"
kill -TERM "$(cat launcher)"
wait "$host" || true
equal "state same" "$(grep state "$T/report")" "the terminal after SIGTERM to the launcher"
