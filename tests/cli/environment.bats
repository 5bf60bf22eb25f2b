#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# The variables of a command.

load common

setup() {
    cli_setup
}

@test "HISTFILE is /dev/null inside, whatever a variable or a policy says" {
    # shellcheck disable=SC2016 # the variable is the sandbox's
    local show='echo "$HISTFILE"'

    run -0 env HISTFILE="$WORK/h" "$BAWN" run --set sandbox.process.env.pass=HISTFILE -- sh -c "$show"
    [ "$output" = /dev/null ]
    run --separate-stderr -125 "$BAWN" run --set "sandbox.process.env.set.HISTFILE=$WORK/h" -- sh -c "$show"
    [[ $stderr == *HISTFILE*"always /dev/null"* ]]
    echo "sandbox: {process: {env: {set: {HISTFILE: $WORK/h}}}}" >"$BATS_TEST_TMPDIR/p.yaml"
    run --separate-stderr -125 "$BAWN" run --policy "$BATS_TEST_TMPDIR/p.yaml" -- sh -c "$show"
    [[ $stderr == *"p.yaml:1:"*"always /dev/null"* ]]
    # Denying it unsets nothing either: without it shells choose a file of their own.
    run -0 "$BAWN" run --set sandbox.process.env.deny=HISTFILE -- sh -c "$show"
    [ "$output" = /dev/null ]
}
