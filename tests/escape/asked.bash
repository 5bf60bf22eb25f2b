# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Cases in which somebody is asked: who answers, and where.

export XDG_RUNTIME_DIR=$T/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
# For those who answer in Python: asking.py.
export PYTHONPATH=$ESCAPE PYTHONDONTWRITEBYTECODE=1

# answering [SUPERVISE-OPTION]... <<END: answers by these rules until the case ends; $ANSWERING is its pid.
answering() {
    cat >"$T/rules.yaml"
    "$BAWN" supervise --rules "$T/rules.yaml" "$@" >"$T/answers" 2>"$T/answers.err" &
    ANSWERING=$!
    at_end "kill -9 $ANSWERING"
    wait_for 10 test -e "$XDG_RUNTIME_DIR/bawn" || broken "nobody answers: $(head -n2 "$T/answers.err")"
    sleep 0.3
}

# asks NAME...: the policy asks about writing these.
asks() {
    mkdir -p "$WS/.bawn"
    (
        IFS=,
        echo "sandbox: {confirm: [$*]}"
    ) >"$WS/.bawn/policy.yaml"
}

# supervising [OPTION]...: a supervisor for whoever connects; $SUPERVISOR is its socket.
supervising() {
    SUPERVISOR=$XDG_RUNTIME_DIR/bawn/supervisor
    "$BAWN" supervise "$@" >"$T/answers" 2>"$T/answers.err" &
    ANSWERING=$!
    at_end "kill -9 $ANSWERING"
    wait_for 10 test -S "$SUPERVISOR" || broken "no supervisor: $(head -n2 "$T/answers.err")"
}

# session_of WORD: the name of the session whose command has that word in it.
session_of() {
    "$BAWN" ps --json | python3 -c '
import json, sys
for one in json.load(sys.stdin)["sessions"]:
    if sys.argv[1] in " ".join(one["command"]): print(one["sid"])' "$1"
}
