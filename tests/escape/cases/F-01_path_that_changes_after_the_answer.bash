# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# F-01 an answer is to the path that was asked about, whatever is in the caller's memory by then
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"
export SANDBOX_SECONDS=50

asks yes-a.txt yes-b.txt
answering <<END
default: deny
rules:
- {op: write, path: "$WS/yes-a.txt", answer: allow, scope: once}
END
sandbox -- "$BIN/f_ask" "$WS/yes-a.txt" "$WS/yes-b.txt" 15
sandbox_ran
read -r let_in refused others <"$T/stdout"
((${let_in:-0} >= 100 && ${refused:-0} >= 10)) ||
    broken "only ${let_in:-0} were let in and ${refused:-0} refused: $(tail -n2 "$T/answers.err")"
echo "# note: $let_in let in, $refused refused, $others others"
equal "$let_in" "$(stat -c %s "$WS/yes-a.txt")" "what was written to the one that is allowed"
equal no "$([[ -e $WS/yes-b.txt ]] && echo yes || echo no)" "the other one is there"
