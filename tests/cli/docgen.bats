#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The man page and the completions. $BAWN_TEST_DOCGEN names docgen; else it is looked for beside $BAWN.

load common

setup() {
    cli_setup
    DOCGEN=${BAWN_TEST_DOCGEN:-$(dirname "$BAWN")/docgen}
    [ -x "$DOCGEN" ] || skip "no docgen"
}

# complete_bash WORD...: what bash offers for the last word.
complete_bash() {
    # shellcheck disable=SC2016 # for the inner shell
    "$DOCGEN" bash | bash -c '
        source /dev/stdin
        compopt() { :; }
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _bawn
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

@test "the man page has every verb and option, and groff has no complaint" {
    local verb option

    "$DOCGEN" man >bawn.1
    for verb in check why plan detect doctor 'policy lint' 'policy approve'; do
        grep -q "^\.SS bawn $verb" bawn.1
    done
    for section in NAME SYNOPSIS DESCRIPTION VERBS OPTIONS 'EXIT STATUS' ENVIRONMENT FILES \
        EXAMPLES 'SEE ALSO'; do
        grep -q "^\.SH $section\$" bawn.1
    done
    "$BAWN" check --help | grep -o -- '--[a-z-]*' | while read -r option; do
        grep -qF -- "\\fB${option//-/\\-}" bawn.1
    done
    command -v groff >/dev/null || skip "no groff"
    run -0 groff -man -ww -Tutf8 -z bawn.1
    [ -z "$output" ]
}

@test "bash completion passes shellcheck" {
    "$DOCGEN" bash >bawn.bash
    bash -n bawn.bash
    command -v shellcheck >/dev/null || skip "no shellcheck"
    run -0 shellcheck bawn.bash
}

@test "bash offers verbs, options, words and files" {
    touch file.yaml
    mkdir dir
    [ "$(complete_bash bawn che)" = check ]
    [ "$(complete_bash bawn policy li)" = lint ]
    [ "$(complete_bash bawn check re | tr '\n' ' ')" = 'read resolve ' ]
    [ "$(complete_bash bawn check read 'fi')" = file.yaml ]
    [ "$(complete_bash bawn plan --pol)" = --policy ]
    [ "$(complete_bash bawn plan --policy f)" = file.yaml ]
    [ "$(complete_bash bawn plan -C d)" = dir ]
    [ "$(complete_bash bawn plan --profile = un)" = untrusted ]
    [ "$(complete_bash bawn plan --preset py)" = python ]
    [ "$(complete_bash bawn plan --policy check --isol)" = --isolated ]
    [ "$(complete_bash bawn policy import --format s | tr '\n' ' ')" = 'srt sandboxes ' ]
    [ "$(complete_bash bawn policy export --format s)" = srt ]
    [ "$(complete_bash bawn help pl)" = plan ]
}

@test "zsh and fish read their completions" {
    "$DOCGEN" zsh >_bawn
    "$DOCGEN" fish >bawn.fish
    [ "$(head -n 1 _bawn)" = '#compdef bawn' ]
    grep -q -- '-l policy ' bawn.fish
    command -v zsh >/dev/null || skip "no zsh"
    zsh -n _bawn
    command -v fish >/dev/null || skip "no fish"
    fish -n bawn.fish
}
