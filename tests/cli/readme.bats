# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # backquotes are what is looked for
# What the README shows is what happens, to a user with an ordinary home.
load common

setup() {
    cli_setup
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    README=$BATS_TEST_DIRNAME/../../README.md
    PATH=$(dirname "$BAWN"):$PATH
    # What a test that was ended left behind.
    "$BAWN" -q discard fix 2>/dev/null || true
}

@test "README: each block of commands prints what it says" {
    run python3 "$BATS_TEST_DIRNAME/readme.py" "$README" "$BATS_TEST_TMPDIR/ada"
    echo "$output"
    [ "$status" -eq 0 ]
}

teardown() {
    WORK=$BATS_TEST_TMPDIR/ada/src/app forget_kept
}

# words PATTERN: what the README has of it, each once.
words() { grep -oE -- "$1" "$README" | sort -u; }

@test "README: each make command is one of the Makefile's" {
    local command target

    while read -r command; do
        target=${command##* }
        [[ $target == make ]] || grep -qE "^$target:" "$BATS_TEST_DIRNAME/../../Makefile"
    done < <(words '^(sudo )?make( [A-Z]+=[^ ]+)*( [a-z-]+)?')
}

@test "README: each verb and each option that it names is there" {
    local word

    for word in run shell diff apply undo discard gc rm audit approve supervise check plan policy 'policy import' 'policy export' 'policy show' 'policy save' 'gen nft'; do
        # shellcheck disable=SC2086 # two words
        "$BAWN" help $word
    done >"$BATS_TEST_TMPDIR/help"
    while read -r word; do
        grep -q -- "$word" "$BATS_TEST_TMPDIR/help" || { echo "no option $word" && false; }
    done < <(words '[`](bawn|--)[^`]*[`]' | grep -oE -- '--[a-z][a-z-]+')
    while read -r _ word; do
        "$BAWN" help "$word" >/dev/null || { echo "no verb $word" && false; }
    done < <(words '[`]bawn [a-z]+')
}
