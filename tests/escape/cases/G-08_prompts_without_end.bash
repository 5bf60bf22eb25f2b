# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-08 a thousand requests are one question, and where nobody can be asked all are denied
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

asks '"asked*"'
cat >"$WS/ask.py" <<'END'
import os, sys, threading
refused = [0]
def ask(same, k):
    for i in range(20):
        try:
            os.close(os.open("asked" if same else f"asked-{k}-{i}", os.O_WRONLY | os.O_CREAT))
        except OSError as error:
            refused[0] += error.errno == 13
threads = [threading.Thread(target=ask, args=(sys.argv[1] == "same", k)) for k in range(50)]
for one in threads: one.start()
for one in threads: one.join()
print(refused[0])
END
# No terminal, no input, nobody else: at once.
began=$SECONDS
for what in same others; do
    sandbox -- python3 ask.py $what </dev/null
    sandbox_ran
    equal 1000 "$(cat "$T/stdout")" "refusals without a terminal"
    sandbox -- python3 ask.py $what <&-
    sandbox_ran
    equal 1000 "$(cat "$T/stdout")" "refusals without any input"
done
((SECONDS - began < 20)) || broken "it took $((SECONDS - began)) s"
# Somebody is there. While one waits the same of others wait with it; a no for the session is for all.
cat >"$T/answer.py" <<'END'
import os, time
from asking import Supervisor
asked = set()
with Supervisor() as one:
    open(os.environ["T"] + "/ready", "w").close()
    while (event := one.hear(15)) and not (event["type"] == "event.session" and event["state"] == "end"):
        if event["type"].endswith("_request"):
            asked.add(event["id"])
            time.sleep(1)
            one.say(type="cmd.deny", id=event["id"], scope="file")
print(len(asked))
END
python3 "$T/answer.py" >"$T/asked" 2>&1 &
answering=$!
at_end "kill $answering"
wait_for 20 test -e "$T/ready" || broken "nobody answers"
sandbox -- python3 ask.py same
sandbox_ran
wait "$answering"
equal 1000 "$(cat "$T/stdout")" "refusals of one question"
equal 1 "$(cat "$T/asked")" "questions that were asked"
equal '' "$(find "$WS" -name 'asked*')" "what was written"
