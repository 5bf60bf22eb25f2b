# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# F-08 a flood of questions and somebody who answers slowly: nobody grows, and others' calls do not wait
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 120
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"
export SANDBOX_SECONDS=100

asks 'asked-*'
python3 - "$T" >"$T/told" 2>&1 <<'END' &
import json, os, sys, time
from asking import Supervisor, size
place = sys.argv[1]
# Whoever makes the calls is a child of the launcher.
def all_of(launcher):
    found = {"launcher": launcher}
    for pid in open(f"/proc/{launcher}/task/{launcher}/children").read().split():
        if open(f"/proc/{pid}/comm").read().strip() == "bawn: calls":
            found["calls"] = int(pid)
    return found

def measure(who):
    return {name: size(pid) for name, pid in who.items()}

with Supervisor() as one:
    open(place + "/ready", "w").close()
    who, first, last, answered = {}, None, None, 0
    while (event := one.hear(30)):
        if event["type"] == "event.session":
            if event["state"] == "end":
                break
            launcher = event["pid"]
        if not event["type"].endswith("_request"):
            continue
        if not who:
            who = {**all_of(launcher), "supervisor": one.pid}
        one.say(type="cmd.approve" if answered % 10 == 0 else "cmd.deny", id=event["id"])
        answered += 1
        time.sleep(0.005)
        # With what the first questions needed.
        if answered == 300:
            first = measure(who)
        elif answered > 300 and answered % 100 == 0:
            last = measure(who)
    print(json.dumps({"answered": answered, "first": first, "last": last}))
END
asked=$!
at_end "kill $asked"
wait_for 20 test -e "$T/ready" || broken "nobody answers: $(head -n2 "$T/told")"
# More of them than questions may wait.
sandbox -- "$BIN/f_flood" "$WS" 100 100000 50
sandbox_ran
read -r let_in refused others longest <"$T/stdout"
wait "$asked"
echo "# note: $let_in let in, $refused refused, others waited for at most $longest ms; $(tail -n1 "$T/told")"
((let_in + refused > 2000)) || broken "only $((let_in + refused)) were asked"
equal 0 "$others" "other errors"
equal "$let_in" "$(find "$WS" -name 'asked-*' | wc -l)" "files that are there"
((let_in < refused)) || escaped "$let_in were let in, and $refused refused"
((longest < 2000)) || escaped "a call that nobody asks about took $longest ms"
python3 - "$T/told" >"$T/judged" 2>/dev/null <<'END' || broken "nobody measured: $(head -n2 "$T/told")"
import json, sys
told = json.loads(open(sys.argv[1]).read().splitlines()[-1])
for name, (memory, descriptors) in told["last"].items():
    was = told["first"][name]
    if memory > was[0] + 1024:
        print(f"{name}: {was[0]} KiB became {memory} KiB")
    if descriptors > was[1] + 4:
        print(f"{name}: {was[1]} descriptors became {descriptors}")
if sorted(told["last"]) != ["calls", "launcher", "supervisor"]:
    print("not all were measured:", *told["last"])
END
equal '' "$(cat "$T/judged")" "what grows"
