#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # $0 and $@ are the inner shell's
# Standard output that cannot be written, and standard streams that are closed.

load common

setup() {
    cli_setup
}

@test "a full disk is noticed" {
    local words

    for words in --help --version 'check --isolated read x' 'policy show --isolated' detect; do
        # shellcheck disable=SC2086 # the words of the command
        run -125 bash -c '"$0" "$@" 2>&1 >/dev/full' "$BAWN" $words
        [[ $output == 'bawn: write standard output: No space left on device'* ]]
        # shellcheck disable=SC2086
        run -125 bash -c '"$0" "$@" --json 2>&1 >/dev/full' "$BAWN" $words
        [[ $output == *'No space left on device'* ]]
    done
}

@test "a full disk is noticed for errors as JSON" {
    run -125 bash -c '"$0" nothing --json 2>&1 >/dev/full' "$BAWN"
    [[ $output == *'No space left on device'* ]]
}

# Closes the reading end before bawn writes.
into_closed_pipe() {
    python3 -c '
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stdout=writer).returncode)' "$@"
}

@test "a closed pipe ends bawn quietly" {
    run --separate-stderr -125 into_closed_pipe "$BAWN" --help
    [ -z "$stderr" ]
    run --separate-stderr -125 into_closed_pipe "$BAWN" check --isolated --json read x
    [ -z "$stderr" ]
}

@test "closed standard streams are no files for others to fall into" {
    run -125 bash -c '"$0" --help 2>&1 >&-' "$BAWN"
    [[ $output == *'Bad file descriptor'* ]]
    run -0 bash -c '"$0" check --isolated read x <&- 2>&-' "$BAWN"
    run -125 bash -c '"$0" check --isolated read x >&- 2>&- <&-' "$BAWN"
}

@test "errors go to standard error, answers to standard output" {
    run --separate-stderr -125 "$BAWN" plan --zzz
    [ -z "$output" ]
    run --separate-stderr -0 "$BAWN" check --isolated read x
    [ -z "$stderr" ]
}
