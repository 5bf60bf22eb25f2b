# SPDX-License-Identifier: Apache-2.0
# What the README shows is what happens, to a user with an ordinary home.
load common

setup() {
    cli_setup
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    README=$BATS_TEST_DIRNAME/../../README.md
    PATH=$(dirname "$BAWN"):$PATH
}

@test "README: each block of commands prints what it says" {
    run python3 "$BATS_TEST_DIRNAME/readme.py" "$README" "$BATS_TEST_TMPDIR/ada"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "README: each make command is one of the Makefile's" {
    local target

    for target in $(grep -oE '^(sudo )?make( [A-Z]+=[^ ]+)*( [a-z-]+)?' "$README" | awk '{print $NF}' | sort -u); do
        [[ $target == make ]] || grep -qE "^$target:" "$BATS_TEST_DIRNAME/../../Makefile"
    done
}

@test "README: each verb and long option that it names is there" {
    local word

    for word in $(grep -oE '`(bawn|--)[^`]*`' "$README" | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
        grep -q -- "$word" <(for verb in run shell check plan policy; do "$BAWN" help "$verb"; done
            "$BAWN" help policy import; "$BAWN" help policy export; "$BAWN" help policy show) ||
            { echo "no option $word" && false; }
    done
    for word in $(grep -oE '`bawn [a-z]+' "$README" | awk '{print $2}' | sort -u); do
        "$BAWN" help "$word" >/dev/null || { echo "no verb $word" && false; }
    done
}
