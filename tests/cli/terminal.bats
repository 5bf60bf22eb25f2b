#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# The size of a command's terminal.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-terminal.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
}

teardown() {
    "$BAWN" stop --timeout 0 >/dev/null 2>&1 || true
    rmdir "$XDG_RUNTIME_DIR"
}

@test "--cols and --rows are the size of the command's terminal, not of the user's" {
    run -0 on_terminal sh -c 'stty rows 11 cols 44; "$0" run -- stty size; "$0" run --rows 33 --cols 99 -- stty size
        "$0" run --cols 77 -- stty size; stty size' "$BAWN" </dev/null
    [[ $output == *"11 44"*"33 99"*"11 77"*"11 44"* ]]
}

@test "--cols stays when the user's terminal is resized" {
    run -0 python3 - "$BAWN" <<'EOF'
import fcntl, os, pty, struct, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["bawn", "run", "--cols", "99", "--", "sh", "-c",
             "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"])
said = b""
while b"ready" not in said:
    said += os.read(master, 1024)
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 21, 43, 0, 0))
os.kill(pid, 28)
try:
    while True:
        part = os.read(master, 1024)
        if not part:
            break
        said += part
except OSError:
    pass
assert b"21 99" in said, said
EOF
}

@test "exec: --cols and --rows" {
    "$BAWN" run --detach -- sleep 100
    run -0 on_terminal sh -c 'stty rows 11 cols 44; "$0" exec -- stty size; "$0" exec --rows 5 -- stty size' \
        "$BAWN" </dev/null
    [[ $output == *"11 44"*"5 44"* ]]
}

@test "--detach with a size gives the command a terminal, though there is none outside" {
    "$BAWN" run --detach --cols 120 -- sh -c 'stty size; tty; until [ -e go ]; do sleep 0.05; done' </dev/null
    run -0 "$BAWN" status --json
    [ "$(json_get "$output" 'd["terminal"]')" = True ]
    "$BAWN" attach </dev/null >said 3>&- &
    pid=$!
    for _ in {1..600}; do
        ! grep -q /dev/pts/ said || break
        sleep 0.05
    done
    touch go
    wait "$pid"
    [[ $(<said) == *"24 120"*/dev/pts/* ]]
}

@test "a size without a terminal, and one that is no number, are refused" {
    run --separate-stderr -125 "$BAWN" run --cols 80 -- true </dev/null
    has_error_and_hint
    [[ $stderr == *"no terminal"* ]]
    "$BAWN" run --detach -- sleep 100
    run --separate-stderr -125 "$BAWN" exec --rows 80 -- true </dev/null
    [[ $stderr == *"no terminal"* ]]
    for size in 0 -1 x 65536; do
        run --separate-stderr -125 "$BAWN" run --detach --rows "$size" -- true
        has_error_and_hint
    done
}

@test "a terminal where the sandbox has no /dev of its own: the hint says what to do, and that works" {
    local bare=(--profile none --rw "$PWD" --ro /usr --ro /bin --ro /lib --ro /lib64)
    run -125 on_terminal "$BAWN" run "${bare[@]}" -- tty </dev/null
    [[ $output == *"make a terminal: No such file"*"hint: "*"--private /dev"* ]]
    run -125 on_terminal "$BAWN" shell "${bare[@]}" --ro /dev </dev/null
    [[ $output == *"make a terminal: Permission denied"*"hint: "*"--private /dev"* ]]
    run -0 on_terminal "$BAWN" run "${bare[@]}" --private /dev -- tty </dev/null
    [[ $output == */dev/pts/* ]]
    run -0 on_terminal "$BAWN" run "${bare[@]}" --ro / --private /dev -- tty </dev/null
    [[ $output == */dev/pts/* ]]
}
