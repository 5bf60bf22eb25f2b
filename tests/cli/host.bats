#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn detect, doctor and plan: they work on any host, and leave nothing behind.

load common

setup() {
    cli_setup
}

@test "detect lists backends, for people and as JSON" {
    run --separate-stderr -0 "$BAWN" detect
    [[ $output == *native* ]]
    run --separate-stderr -0 "$BAWN" detect --json
    is_json "$output"
    [ "$(json_get "$output" 'd["ok"], d["best"]')" = "(True, 'native')" ]
    [ "$(json_get "$output" 'all(b["reason"] for b in d["backends"].values())')" = True ]
    [ "$(json_get "$output" '[n for n, b in d["backends"].items() if b["usable"]]')" = "['native']" ]
}

@test "doctor ends with 0 or 1, the same for people and as JSON" {
    local found

    run --separate-stderr "$BAWN" doctor
    found=$status
    [ "$found" -le 1 ]
    run --separate-stderr "-$found" "$BAWN" doctor --json
    is_json "$output"
}

@test "plan prints what would be done" {
    run --separate-stderr -0 "$BAWN" plan --isolated
    [[ $output == *"$WORK"* ]]
    run --separate-stderr -0 "$BAWN" plan --isolated --json
    is_json "$output"
    [ -z "$(ls -A "$WORK")" ]
}
