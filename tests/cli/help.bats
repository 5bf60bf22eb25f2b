#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Help, version and the list of verbs.

load common

setup() {
    cli_setup
}

@test "help lists exactly the verbs that work" {
    local listed

    run --separate-stderr -0 "$BAWN" --help
    listed=$(sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' <<<"$output" | sort)
    [ "$listed" = "$(cli_verbs | cut -d' ' -f1 | sort -u)" ]
    run --separate-stderr -0 "$BAWN" policy --help
    listed=$(sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' <<<"$output" | sort)
    [ "$listed" = "$(cli_verbs | sed -n 's/^policy //p' | sort)" ]
}

@test "every verb has --help, -h and 'help VERB', which agree" {
    local verb words by_option

    while read -r verb; do
        read -ra words <<<"$verb"
        run --separate-stderr -0 "$BAWN" "${words[@]}" --help
        [ -z "$stderr" ]
        [[ ${lines[0]} == "Usage: bawn $verb"* ]]
        by_option=$output
        run --separate-stderr -0 "$BAWN" "${words[@]}" -h
        [ "$output" = "$by_option" ]
        run --separate-stderr -0 "$BAWN" help "${words[@]}"
        [ "$output" = "$by_option" ]
        run --separate-stderr -0 "$BAWN" --help "${words[@]}"
        [ "$output" = "$by_option" ]
    done < <(cli_verbs)
}

@test "help needs no policy and no arguments" {
    mkdir .bawn
    echo 'no: [such, key' >.bawn/policy.yaml
    run -0 "$BAWN" check --help
    run -0 "$BAWN" policy import --help
}

@test "help as JSON names the options" {
    run --separate-stderr -0 "$BAWN" check --help --json
    is_json "$output"
    [ "$(json_get "$output" '"policy" in [o["name"] for o in d["options"]]')" = True ]
    run --separate-stderr -0 "$BAWN" help --json
    [ "$(json_get "$output" '"check" in d["verbs"]')" = True ]
}

@test "version is one line, and JSON when asked" {
    run --separate-stderr -0 "$BAWN" --version
    [[ $output =~ ^bawn\ [0-9]+\.[0-9]+\.[0-9]+ ]]
    [ "${#lines[@]}" -eq 1 ]
    run --separate-stderr -0 "$BAWN" -V --json
    is_json "$output"
}

@test "help is wrapped at COLUMNS, between 40 and 100" {
    local columns

    for columns in 40 60 100; do
        COLUMNS=$columns run -0 "$BAWN" check --help
        [ "$(wc -L <<<"$output")" -le "$columns" ]
        [ "$(wc -L <<<"$output")" -gt $((columns - 20)) ]
    done
    COLUMNS=500 run -0 "$BAWN" check --help
    [ "$(wc -L <<<"$output")" -le 100 ]
    COLUMNS=nonsense run -0 "$BAWN" check --help
    [ "$(wc -L <<<"$output")" -le 80 ]
}

@test "help is bold on a terminal only, and never with NO_COLOR" {
    run -0 "$BAWN" --help
    [[ $output != *$'\e'* ]]
    TERM=xterm run -0 on_terminal "$BAWN" --help </dev/null
    [[ $output == *$'\e[1m'* ]]
    TERM=xterm NO_COLOR=1 run -0 on_terminal "$BAWN" --help </dev/null
    [[ $output != *$'\e'* ]]
    TERM=dumb run -0 on_terminal "$BAWN" --help </dev/null
    [[ $output != *$'\e'* ]]
}
