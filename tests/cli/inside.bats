#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn itself inside a sandbox.

load common

setup() {
    cli_setup
}

@test "detect ends with 1 where nothing can start: inside a sandbox" {
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" detect --json
    [ "$(json_get "$output" 'd["ok"], d["best"]')" = "(False, None)" ]
    [[ $(json_get "$output" 'd["backends"]["native"]["reason"]') == needs* ]]
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" detect
    [[ $output == *"bawn would use: none, and refuse"* ]]
    run --separate-stderr -0 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" plan --isolated
    [[ $output == *"'run' would refuse"* ]]
    # Nor does doctor promise a backend that bawn does not have.
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" doctor
    [[ $output != *"would use"* && $output == *"bawn refuses to run commands"* ]]
}
