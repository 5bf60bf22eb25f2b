#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# Wrong command lines: each is refused with 125, says why, and what was meant.

load common

setup() {
    cli_setup
}

# refused CODE HINT ARGUMENT...: both for people and as JSON.
refused() {
    local code=$1 hint=$2

    shift 2
    run --separate-stderr -125 "$BAWN" "$@"
    [ -z "$output" ]
    has_error_and_hint
    [[ $stderr == *"$hint"* ]]
    run --separate-stderr -125 "$BAWN" --json "$@"
    is_json "$output"
    [ "$(json_get "$output" 'd["error"]["code"]')" = "$code" ]
    [[ $(json_get "$output" 'd["error"]["hint"]') == *"$hint"* ]]
}

@test "an unknown verb gives the nearest one" {
    refused usage.unknown_verb "'check'" chekc
    refused usage.unknown_verb "'policy'" polcy show
    refused usage.unknown_verb "'bawn --help'" zzzzzzzz
    refused usage.unknown_verb "'lint'" policy lnt
    refused usage.unknown_verb "'check'" help chek
}

@test "no verb is an error too" {
    refused usage.missing_verb "'bawn --help'"
    refused usage.missing_verb "'bawn policy --help'" policy
}

@test "an unknown option gives the nearest one" {
    refused usage.unknown_option --quiet plan --quite
    refused usage.unknown_option --policy check read x --polcy=y
    refused usage.unknown_option "'bawn detect --help'" detect --zzzzzzzz
    refused usage.unknown_option "'bawn plan --help'" plan -z
    refused usage.unknown_option "'bawn plan --help'" plan -qz
}

@test "a value that is missing, not wanted or given twice" {
    refused usage.missing_value '--policy FILE' plan --policy
    refused usage.missing_value '--workspace DIR' plan -C
    refused usage.unexpected_value '--quiet alone' plan --quiet=yes
    refused usage.repeated_option 'keep one --profile' plan --profile strict --profile static
}

@test "a word that is not one of those an option takes" {
    refused usage.bad_word "'strict'" plan --reads stirct
    refused usage.bad_word 'none, proxy, isolated, veth or host' plan --net zzzzzz
    refused usage.bad_word "'srt'" policy export --format srr
    refused usage.bad_value 'sandbox.reads=strict' plan --set nothing
    refused usage.bad_value 'sandbox.reads=strict' plan --set =nothing
}

@test "arguments that are missing or too many" {
    refused usage.missing_argument 'OPERATION WHAT' check
    refused usage.missing_argument 'OPERATION WHAT' why read
    refused usage.extra_argument 'usage: bawn plan' plan extra
    refused usage.extra_argument '[FILE]' policy approve one two
    refused usage.bad_word "'read'" check raed x
    refused usage.bad_word 'read, write, exec or connect' why resolve x
    refused usage.missing_option '--size 64K' check size x
    refused usage.bad_value '64K' check size x --size many
}

@test "--size belongs to 'check size'" {
    run --separate-stderr -125 "$BAWN" check read x --size 5
    [[ $stderr == *'--size'* ]]
}

@test "options stand before, between and after arguments, together or apart" {
    run -0 "$BAWN" check --isolated read --rw . x -q
    run -0 "$BAWN" check read x --isolated --rw=.
    run -0 "$BAWN" check -qC. read x --isolated
    run -0 "$BAWN" check -q -C . read x --isolated
    run -0 "$BAWN" --json check read x --isolated
    is_json "$output"
}

@test "-- ends the options, - is an argument" {
    run -0 "$BAWN" check --isolated read -- --json
    [[ $output == *--json* ]]
    run -0 "$BAWN" check --isolated read -
    [[ $output == *"$WORK/-"* ]]
    run -125 "$BAWN" check --isolated read --jsno
}

@test "a name in a complaint is shown escaped" {
    run --separate-stderr -125 "$BAWN" $'ver\e[31mb\n\xff'
    [[ $stderr == *'ver\x1b[31mb\n\xff'* ]]
    [[ $stderr != *$'\e'* ]]
    run --separate-stderr -125 "$BAWN" plan $'--\e]0;x\a'
    [[ $stderr != *$'\e'* ]]
    run --separate-stderr -125 "$BAWN" plan --reads $'\xe2\x80\xae'
    [[ $stderr == *'\u{202e}'* ]]
    run --separate-stderr -125 "$BAWN" --json $'ver\e[31mb\n\xff'
    is_json "$output"
}
