# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-03 an answer is to the call that waits: not to what has the same number by then, nor to another program that wants the same
# layers: notify asking answers
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"
source "$ESCAPE/asked.bash"

asks 'asked*'
cat >"$T/answer.py" <<'END'
import os, sys
from asking import Supervisor
with Supervisor() as one:
    open(os.environ["T"] + "/ready", "w").close()
    first = one.question(8)
    # Both wait, or the first did: the process has been replaced, and asks about something else.
    second = one.question(8)
    if second:
        print("same number" if first["pid"] == second["pid"] else "other numbers")
        print("same program" if first["exe"] == second["exe"] else "other programs")
    one.command(type="cmd.approve", id=first["id"], scope="once")
    if second and one.settled(second["id"], 1):
        print("# not contained: the second question ended with the first one's answer")
    if second:
        one.command(type="cmd.deny", id=second["id"])
    one.until(lambda event: event["type"] == "event.session" and event["state"] == "end", 20)
END
# answered [OPTION]... -- COMMAND: the first question is answered yes when there is a second, which is denied.
answered() {
    rm -f "$T/ready"
    python3 "$T/answer.py" >"$T/said" 2>&1 &
    local answering=$!
    at_end "kill $answering"
    wait_for 20 test -e "$T/ready" || broken "nobody answers: $(tail -n1 "$T/said")"
    sandbox "$@"
    wait "$answering"
    grep '^# ' "$T/said"
    BROKEN=$((BROKEN + $(grep -c '^# [nb]' "$T/said")))
}

# The same process number, another program, another file.
answered -- "$BIN/g_replace" "$WS/asked1" "$WS/asked2"
sandbox_ran
is "same number" "$(head -n1 "$T/said")" "the process was replaced"
answers <<<"EACCES $WS/asked2"
equal no "$([[ -e $WS/asked1 || -e $WS/asked2 ]] && echo yes || echo no)" "what a process wrote that nobody said yes to"

# The same file, another program: whoever answers judges by the program.
cp "$BIN/try" "$BIN/other"
answered -- sh -c "\"$BIN/g_replace\" \"$WS/asked3\" >first & sleep 1; echo 'sys open s:$WS/asked3 O_WRONLY|O_CREAT 0644' | \"$BIN/other\"; wait"
sandbox_ran
is "other programs" "$(sed -n 2p "$T/said")" "two programs asked"
is "ok" "$(cut -f1 "$WS/first")" "the one that was allowed"
equal written "$(cat "$WS/asked3")" "what was written"
equal EACCES "$(cut -f1 "$T/stdout")" "the one that was not"
