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

@test "libbawn(3) has every function and type of the headers, and groff has no complaint" {
    local page headers name count=0

    page=$(dirname "$DOCGEN")/libbawn.3
    headers=$(dirname "$BATS_TEST_DIRNAME")/../include/bawn
    [[ -f $page && -d $headers ]]
    for name in $(grep -hoE '\bbawn_[a-z_]+ ?\(' "$headers"/*.h | tr -d ' (' | sort -u) \
        $(grep -hoE '^(struct|enum) bawn_[a-z_]+' "$headers"/*.h | cut -d ' ' -f 2 | sort -u); do
        grep -qw "$name" "$page" || { echo "missing: $name"; return 1; }
        count=$((count + 1))
    done
    [ "$count" -gt 50 ]
    run ! grep -e BAWN_API -e __cplusplus "$page"
    for section in NAME SYNOPSIS DESCRIPTION EXAMPLES 'SEE ALSO'; do
        grep -q "^\.SH $section\$" "$page"
    done
    # What it shows as an example is a program.
    sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$page" |
        sed -n '/^\.nf/,/^\.fi/p' | sed '/^\.[nf][fi]/d; s/\\e/\\/g; s/\\-/-/g' >example.c
    cc -fsyntax-only -Wall -Werror -I"${headers%/*}" example.c
    command -v groff >/dev/null || skip "no groff"
    run -0 groff -man -ww -Tutf8 -z "$page"
    [ -z "$output" ]
}
