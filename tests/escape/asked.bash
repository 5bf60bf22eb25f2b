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
