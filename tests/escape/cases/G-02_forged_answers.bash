# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-02 an answer to another number, of another session, for the second time or too late counts for nothing, and is on record
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"
source "$ESCAPE/trail.bash"

asks 'asked*'
cat >"$T/forge.py" <<'END'
import os, sys, time
from asking import Control, Supervisor

def is_unknown(reply, what):
    if reply.get("error", {}).get("code") != "approve.unknown":
        print(f"# not contained: {what} was taken: {reply}")

with Supervisor() as one:
    open(os.environ["T"] + "/ready", "w").close()
    first = one.question(20)
    sid, number = first["id"].split(":")
    approve = lambda id, **more: one.command(type="cmd.approve", id=id, **more)
    # What is not waiting, in the supervisor's protocol.
    for what, id in (("another number", f"{sid}:{int(number) + 1}"), ("another session", f"aaaaaa:{number}"),
                     ("no number", f"{sid}:"), ("a negative one", f"{sid}:-1"), ("a large one", f"{sid}:{2**32 + int(number)}"),
                     ("zero", f"{sid}:0"), ("two numbers", f"{sid}:{number}:{number}"), ("a path", f"../{sid}:{number}")):
        is_unknown(approve(id), what)
    # The same beneath it, by packets of one's own.
    raw = Control(sid)
    for id in (0, int(number) + 1, 2**32 - 1):
        raw.answer(id)
    # What is no answer ends the connection: a scope that there is not, a file that there is not.
    for wrong in (dict(scope=3), dict(saved=5), dict(saved=-1)):
        bad = Control(sid)
        bad.answer(int(number), **wrong)
        if not bad.is_closed():
            print(f"# not contained: an answer with {wrong} was taken")
    # The first is still the question that it was. It is denied, and then allowed.
    one.command(type="cmd.deny", id=first["id"])
    one.settled(first["id"])
    raw.answer(int(number))
    is_unknown(approve(first["id"]), "a second answer")
    second = one.question(20)
    if second["path"] == first["path"]:
        print("# broken: the same was asked again")
    is_unknown(approve(first["id"]), "an answer that was used before")
    # The second runs out of time.
    end = one.settled(second["id"], 20)
    if not end or end["answer"] != "deny" or end["by"] != "time":
        print(f"# not contained: a question that nobody answered: {end}")
    is_unknown(approve(second["id"]), "an answer that came too late")
    raw.answer(int(second["id"].split(":")[1]))
    # And one that is answered, so that answers count at all.
    third = one.question(20)
    approve(third["id"])
    one.settled(third["id"])
    print("# forged")
END
python3 "$T/forge.py" >"$T/forged" 2>&1 &
forging=$!
at_end "kill $forging"
wait_for 20 test -e "$T/ready" || broken "nobody answers: $(tail -n2 "$T/forged")"
recorded --set sandbox.ask_timeout=4s -- sh -c 'echo x >asked1; echo x >asked2; echo x >asked3; exit 0'
sandbox_ran
wait "$forging"
grep '^# ' "$T/forged" | grep -v '^# forged'
BROKEN=$((BROKEN + $(grep -c '^# [nb]' "$T/forged")))
is "# forged" "$(tail -n1 "$T/forged")" "all was tried"
equal no "$([[ -e $WS/asked1 || -e $WS/asked2 ]] && echo yes || echo no)" "what was written"
is yes "$([[ -e $WS/asked3 ]] && echo yes || echo no)" "what was allowed is written"
# Each answer to nothing that the session got, and the three questions.
equal 5 "$(grep -c '"event": "settled".*"code": "ask.unknown".*which does not wait' "$TRAIL")" "forged answers on record"
equal 3 "$(grep -c '"event": "settled".*"path": "[^"]*/asked[123]"' "$TRAIL")" "questions on record"
equal 1 "$(grep -c '"event": "settled".*"verdict": "allow"' "$TRAIL")" "those that were allowed"
equal 0 "$(verified)" "the trail"
