# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# T-01 nothing can be typed into a terminal
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

for streams in all input; do
    command=("$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/t_tty" type)
    [[ $streams == input ]] && command=(sh -c 'exec "$@" >answer 2>errors' sh "${command[@]}")
    timeout 20 "$BIN/t_host" "$T/screen" "${command[@]}" >"$T/report" 2>"$T/stderr"
    [[ $streams == input ]] && cp answer "$T/screen"
    tr -d '\r' <"$T/screen" >"$T/stdout"
    if [[ ${BAWN_TEST_NESTED:-} ]] && grep -q '^exit 125' "$T/report"; then
        CHECKED=1
        exit 0
    fi
    is "exit 0" "$(grep exit "$T/report")" "the command ran ($(head -n2 "$T/stdout"))"
    for fd in fd0 fd1 fd2 dev-tty after-setsid after-TIOCSCTTY; do
        answers <<END
EPERM $fd-TIOCSTI
EPERM $fd-TIOCSTI-high-bits
EPERM $fd-TIOCLINUX
END
    done
    equal "queued 0" "$(grep queued "$T/report")" "bytes typed into the user's terminal"
done
