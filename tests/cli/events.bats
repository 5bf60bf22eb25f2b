#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the words are of other shells, and of rules
# What bawn's own processes tell the launcher: refusals, and why they fail.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-events.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
    LOG=$BATS_TEST_TMPDIR/log
}

teardown() {
    rmdir "$XDG_RUNTIME_DIR"
}

# begin COMMAND [OPTION]...: a run whose command waits for a line in the pipe 'go'.
begin() {
    mkfifo go
    "$BAWN" run --debug-log "$LOG" "${@:2}" -- sh -c "read -r _ <go; $1" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
    PID=$!
    # The command has the pipe open to read when it can be opened to write. What is written waits for a
    # command that opens it again, because it is open to read here, too.
    exec 8>go
    exec 9<go
}

# aide NAME: the number of such a process of bawn's, as soon as it has its name.
aide() {
    for _ in {1..600}; do
        ! pgrep -P "$PID" -x "bawn: $1" || return 0
        sleep 0.05
    done
    return 1
}

# in_log PATTERN: there is such a line, soon; on a machine with much to do, later.
in_log() {
    for _ in {1..600}; do
        ! grep -q -e "$1" "$LOG" || return 0
        sleep 0.05
    done
    return 1
}

# finish STATUS: what the run ends with.
finish() {
    local status=0

    wait "$PID" || status=$?
    exec 8>&- 9<&-
    [ "$status" -eq "$1" ]
}

@test "events: a refused write is in the log, with path, rule and verdict" {
    git init -q .
    "$BAWN" run --debug-log "$LOG" --log-format json -- \
        sh -c 'for i in 1 2 3; do echo x >.git/config; done 2>&-; echo fine >made; exit 0'
    run -0 python3 -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
refused = [e for e in events if e["event"] == "refused"]
path = sys.argv[2] + "/.git/config"
assert all(e["path"] == path and e["verdict"] == "deny" for e in refused), refused
assert all(e["rule"] == "protected $WORKSPACE/.git/config" for e in refused), refused
assert all(e["by"] == "calls" and e["call"].startswith("open") for e in refused), refused
assert [e.get("times", 1) for e in refused] == [1, 2], refused
assert refused[0]["comm"] == "sh" and refused[0]["pid"] > 0 and "argv" not in refused[0]' "$LOG" "$WORK"
}

@test "events: names and paths cannot forge a line of the log" {
    git init -q .
    mkdir $'.git/hooks/a\n2026 1 end status=0'
    run -0 "$BAWN" run --debug-log "$LOG" -- \
        sh -c 'echo x >"$1" || exit 0' sh $'.git/hooks/a\n2026 1 end status=0/x'
    grep -q ' refused .*path=".*/a\\n2026 1 end status=0/x" rule="protected ' "$LOG"
    run ! grep '^2026 1' "$LOG"
}

@test "events: who makes the command's calls says why it fails" {
    begin 'echo x >made; sleep 10'
    # It is started by the first call, and can allocate nothing.
    prlimit --pid "$PID" --data=0
    echo >&8
    finish 125
    run -0 cat "$BATS_TEST_TMPDIR/err"
    [[ $output == "bawn: the process that makes the command's calls has failed: allocate: "* ]]
    grep -q ' failed by=calls .*code=system message="allocate: ' "$LOG"
    [ ! -e made ]
}

@test "events: who makes the command's calls is told of when it is killed" {
    begin 'echo x >made; sleep 10'
    echo >&8
    for _ in {1..600}; do [ ! -e made ] || break; sleep 0.05; done
    kill -9 "$(aide calls)"
    finish 137
    grep -q ' ended by=calls$' "$LOG"
}

@test "events: what appears and is masked is in the log, and the watcher's end ends it all" {
    printf 'sandbox: {deny: [secret]}\n' >"$BATS_TEST_TMPDIR/policy.yaml"
    begin 'sleep 10' --policy "$BATS_TEST_TMPDIR/policy.yaml"
    echo hidden >secret
    in_log " masked by=watch path=$WORK/secret rule=\"deny secret\" verdict=deny$"
    kill -9 "$(aide watch)"
    finish 125
    grep -q 'the process that masks hidden names that appear has ended' "$BATS_TEST_TMPDIR/err"
    grep -q ' ended by=watch$' "$LOG"
}

@test "events: the keeper's end is told, and the command goes on" {
    begin 'exit 4'
    kill -9 "$(aide keeper)"
    in_log ' ended by=keeper$'
    echo >&8
    finish 4
}

@test "events: what cannot be written any more is told at once" {
    begin 'head -c 9999999 /dev/zero; read -r _ <go; exit 0' --set sandbox.limits.file_size=4096
    echo >&8
    in_log ' stream by=scribe .*message="write what the command says to standard stream 1: File too '
    echo >&8
    finish 125
}

@test "events: without who writes what the command says, it ends with 125" {
    begin 'exit 0'
    kill -9 "$(aide scribe)"
    echo >&8
    finish 125
    grep -q 'standard stream [12]: Broken pipe' "$BATS_TEST_TMPDIR/err"
}

@test "events: more directories than can be watched are told once, while the command runs" {
    mkdir many
    (cd many && seq 17000 | xargs mkdir)
    begin 'exit 0' --deny '**/*.hidden'
    in_log ' full by=watch path=.*/many/.* code=run.watches '
    echo >&8
    finish 0
    [ "$(grep -c 'too many directories to watch' "$BATS_TEST_TMPDIR/err")" -eq 1 ]
}
