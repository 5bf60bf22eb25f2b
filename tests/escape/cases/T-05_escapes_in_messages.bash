# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# T-05 what bawn itself prints has no control characters in it
# layers: words
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

evil=$'no\e]52;c;ZXZpbA==\a\e[31m\x9b2J\u202esuch\rname\nbawn: all is well'
# clean FILE WHAT: no C0 but the newline, no DEL, no C1, no bidi; no line of the attacker's own.
clean() {
    CHECKED=$((CHECKED + 1))
    LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1" &&
        escaped "$2: $(head -c 200 "$1" | od -An -c | head -n4 | tr -s ' \n' ' ')"
    grep -q '^bawn: all is well' "$1" && escaped "$2: a line of the attacker's own"
    return 0
}
sandbox -- "$evil"
equal 127 "$STATUS" "the status of a command that is not there"
clean "$T/stderr" "the name of a command"
for options in "--policy=$evil" "--rw=$evil/x" "--profile=$evil" "--set=$evil=1"; do
    sandbox "$options" -- sh -c 'echo >ran'
    clean "$T/stderr" "an option"
done
mkdir -p "$WS/$evil"
STATUS=0
(cd "$WS/$evil" && timeout 20 "$BAWN" run -- "./$evil") >"$T/stdout" 2>"$T/stderr"
clean "$T/stderr" "the working directory"
