#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# The debug log, sessions as data, and what is said to who waits.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-waiting.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
    LOG=$BATS_TEST_TMPDIR/log
}

teardown() {
    "$BAWN" stop --timeout 0 >/dev/null 2>&1 || true
    rmdir "$XDG_RUNTIME_DIR"
}

@test "--debug-log tells what was decided and how it ended, and no secret" {
    export SECRET_OF_MINE=abc123
    run -7 "$BAWN" run --debug-log "$LOG" -- sh -c 'exit 7 # hidden-word'
    [ "$(stat -c %a "$LOG")" = 600 ]
    grep -q ' start version=.* command=sh ' "$LOG"
    grep -q " plan from=.* workspace=$WORK enforcement=full proven=yes" "$LOG"
    grep -q ' sandbox init=' "$LOG"
    tail -1 "$LOG" | grep -q ' end status=7$'
    run ! grep -e hidden-word -e abc123 "$LOG"
    # A breach and a command that cannot be run are in it.
    run -124 "$BAWN" run --debug-log "$LOG" --timeout 1s -- sleep 10
    grep -q ' said code=limit.time ' "$LOG"
    run -127 "$BAWN" run --debug-log "$LOG" -- no-such-program
    tail -1 "$LOG" | grep -q 'status=127 .*no-such-program'
}

@test "--log-format json: each line is an object" {
    run -3 "$BAWN" run --debug-log "$LOG" --log-format json -- sh -c 'exit 3'
    run -0 python3 -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
assert events[0]["event"] == "start" and events[-1] == dict(events[-1], event="end", status="3")
assert all(e["time"].endswith("Z") and e["launcher"] > 0 for e in events)
assert "plan" in [e["event"] for e in events]' "$LOG"
    run --separate-stderr -125 "$BAWN" run --log-format json -- true
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" run --debug-log "$LOG" --log-format xml -- true
    has_error_and_hint
}

@test "--debug-log: a link, a pipe, or another name of a file is not written to" {
    echo before >"$BATS_TEST_TMPDIR/mine"
    ln -s "$BATS_TEST_TMPDIR/mine" link
    ln "$BATS_TEST_TMPDIR/mine" hard
    mkfifo pipe
    for file in link hard pipe . /dev/null; do
        run --separate-stderr -125 timeout 5 "$BAWN" run --debug-log "$file" -- touch ran
        has_error_and_hint
    done
    [ ! -e ran ]
    [ "$(<"$BATS_TEST_TMPDIR/mine")" = before ]
    # The command does not inherit it.
    run -0 "$BAWN" run --debug-log "$LOG" -- sh -c 'ls /proc/self/fd | wc -l'
    [ "$output" -le 4 ]
    run -0 --separate-stderr "$BAWN" run --debug-log - -- true
    [[ $stderr == *" end status=0"* ]]
}

@test "attach --json: what is said, and the status, as data" {
    "$BAWN" run --detach -- sh -c 'sleep 0.5; printf "\303\244\0\377\"\n"; printf "\303"; sleep 0.3; printf "\266\n"; exit 6'
    run --separate-stderr -6 "$BAWN" attach --json
    run -0 python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.argv[1].splitlines()]
assert set(lines[-1]) == {"sid", "status"} and lines[-1]["status"] == 6, lines
said = "".join(line["output"] for line in lines[:-1])
assert said == "\u00e4\\x00\\xff\"\n\u00f6\n", repr(said)' "$output"
}

@test "what takes longer than a second says so on a terminal, and only there" {
    # A program of another sandbox that takes its time is looked for there.
    local slow=(unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o mode=755 none /usr/local/bin &&
        printf "#!/bin/sh\nexec sleep 2\n" >/usr/local/bin/bwrap && chmod +x /usr/local/bin/bwrap && exec "$@"' sh)

    run on_terminal "${slow[@]}" "$BAWN" detect </dev/null
    [[ $output == *"bawn: detect: trying what this host can do"*Backends* ]]
    run on_terminal "${slow[@]}" "$BAWN" detect --quiet </dev/null
    [[ $output != *"trying what"* && $output == *Backends* ]]
    run "${slow[@]}" "$BAWN" detect
    [[ $output != *"trying what"* && $output == *Backends* ]]
}

@test "stop: who waits for more than a second is told what for" {
    "$BAWN" run --detach -- sh -c 'trap "" TERM; while :; do sleep 0.1; done'
    sleep 0.3
    run -0 on_terminal "$BAWN" stop --timeout 2s </dev/null
    [[ $output == *"was asked to end; what still runs after 2 s is killed"*stopped* ]]
    "$BAWN" run --detach -- sleep 100
    run -0 on_terminal "$BAWN" stop --timeout 2s </dev/null
    [[ $output != *"was asked to end"* ]]
}
