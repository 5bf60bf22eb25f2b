#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# What is said of limits, with control groups and without.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-limits.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
}

teardown() {
    "$BAWN" stop --timeout 0 >/dev/null 2>&1 || true
    rmdir "$XDG_RUNTIME_DIR"
}

# Where nobody may make a control group: root too, without the mounts.
without_groups() {
    if ((UID == 0)); then
        unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh "$@"
    else
        "$@"
    fi
}

BURN='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'

@test "CPU time is counted or sampled, and never nothing" {
    run -0 --separate-stderr "$BAWN" run --stats -- sh -c "$BURN"
    [[ $stderr != *" 0.00 s of CPU"* && $stderr == *"s of CPU"* ]]
    sid=$("$BAWN" run --detach -- sh -c "$BURN; sleep 100")
    for _ in {1..100}; do
        run -0 "$BAWN" metrics --json "$sid"
        (($(json_get "$output" 'd["cpu_usec"]') > 20000)) && break
        sleep 0.1
    done
    (($(json_get "$output" 'd["cpu_usec"]') > 20000))
}

@test "too many processes: the limit is named, without a control group too" {
    local many='for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do sleep 5 & done; exit 3'

    for how in "" without_groups; do
        run --separate-stderr $how "$BAWN" run --set sandbox.limits.pids=18 -- sh -c "$many"
        [ "$status" -ne 0 ]
        echo "$how: $stderr"
        [[ $stderr == *"the limit of 18 processes and threads was reached"* ]]
        # A failure with few of them is another's.
        run --separate-stderr -3 $how "$BAWN" run --set sandbox.limits.pids=18 -- sh -c 'sleep 5 & exit 3'
        [[ $stderr != *"processes and threads"* ]]
    done
}

@test "strict limits: run and plan say that the CPU's is left out without a control group" {
    run -0 without_groups "$BAWN" plan --limits strict
    [[ $output == *"cpu "*"left out"* ]]
    run -0 --separate-stderr without_groups "$BAWN" run --limits strict -- true
    [[ $stderr == "bawn: sandbox.limits.cpu: 80 % of one CPU of the strict limits is left out"* ]]
    run -0 --separate-stderr without_groups "$BAWN" run --quiet --limits strict -C . -- true
    [ -z "$stderr" ]
    run -0 --separate-stderr without_groups "$BAWN" run -- true
    [ -z "$stderr" ]
    # Asked for by name it is no wish.
    run -125 --separate-stderr without_groups "$BAWN" run --set sandbox.limits.cpu=50 -- true
    has_error_and_hint
}

@test "private directories without a limit are not told to be full" {
    run -3 --separate-stderr "$BAWN" run --limits none -- sh -c 'exit 3'
    [ -z "$stderr" ]
}
