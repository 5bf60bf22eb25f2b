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

# shellcheck disable=SC2016 # the words are the shell's inside
@test "--env lets a variable through, or gives it a value, which no plan keeps" {
    FOO=outside run -0 "$BAWN" run -- sh -c 'echo "[$FOO]"'
    [ "$output" = "[]" ]
    FOO=outside run -0 "$BAWN" run --env FOO -- sh -c 'echo "[$FOO]"'
    [ "$output" = "[outside]" ]
    for value in one=1 two; do
        FOO=outside run -0 "$BAWN" run --env "FOO=$value" --env BAR=first --env BAR=last -- sh -c 'echo "[$FOO] $BAR"'
        [ "$output" = "[$value] last" ]
    done
    run -0 "$BAWN" run --env HOME=/elsewhere -- sh -c 'echo "$HOME"'
    [ "$output" = /elsewhere ]
    run -125 "$BAWN" run --env LD_PRELOAD=x -- true
    [[ $output == *"never passed on"* ]]
    run -125 "$BAWN" run --env =x -- true
    if [[ $(id -u) -eq 0 ]]; then
        at_home "$BAWN" run --env FOO=not-to-be-kept -- true
        at_home "$BAWN" run --env FOO=nor-this-one -- true
        [ -n "$(ls "$HOME/.cache/bawn/plans")" ]
        # A plan may be renamed under grep's hands: its proof is made beside the command.
        for _ in {1..50}; do
            run grep -rlE 'not-to-be-kept|nor-this-one' "$HOME/.cache"
            [ "$status" -eq 2 ] || break
            sleep 0.1
        done
        [ "$status" -eq 1 ]
    fi
}

@test "a filtered network comes with the variables that tell of its proxy, unless the policy says otherwise" {
    local run=("$BAWN" run --best-effort --quiet --allow-host a.example)

    run -0 env http_proxy=http://b.example:1 HTTPS_PROXY=http://b.example:1 "${run[@]}" -- env
    [[ $'\n'$output$'\n' == *$'\nhttp_proxy=http://127.0.0.1:800\n'* ]]
    [[ $'\n'$output$'\n' == *$'\nHTTPS_PROXY=http://127.0.0.1:800\n'* ]]
    [[ $'\n'$output$'\n' == *$'\nNO_PROXY=localhost,127.0.0.1,::1\n'* ]]
    [[ $output != *b.example* ]]
    run -0 env http_proxy=http://b.example:1 "${run[@]}" --env http_proxy --env HTTP_PROXY=http://c.example:1 \
        --set sandbox.process.env.set.https_proxy=http://d.example:1 -- env
    [[ $'\n'$output$'\n' == *$'\nhttp_proxy=http://b.example:1\n'* ]]
    [[ $'\n'$output$'\n' == *$'\nHTTP_PROXY=http://c.example:1\n'* ]]
    [[ $'\n'$output$'\n' == *$'\nhttps_proxy=http://d.example:1\n'* ]]
    for words in '--set sandbox.network.proxy_env=false' --allow-containers '--net none'; do
        # shellcheck disable=SC2086 # several words
        run -0 env http_proxy=http://b.example:1 "${run[@]}" $words -- env
        [[ ${output,,} != *proxy* ]]
    done
}
