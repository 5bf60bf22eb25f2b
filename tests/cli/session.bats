#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# Sessions that run: each verb, what it refuses, and that nothing of them stays.

load common

setup() {
    sessions_setup
}

teardown() { sessions_teardown; }

# A field of the only session.
only() {
    "$BAWN" ps --json | python3 -c 'import json, sys
print(json.load(sys.stdin)["sessions"][0][sys.argv[1]])' "$1"
}

# wait_for COMMAND...: until it succeeds, half a minute at most: the machine may have much to do.
wait_for() {
    local i

    for ((i = 0; i < 600; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "in vain: $*" >&2
    return 1
}

# ended PID: waits for a job of this shell; its status as run would give it.
ended() {
    status=0
    wait "$1" || status=$?
}

registered() {
    [ -n "$(ls "$XDG_RUNTIME_DIR/bawn" 2>/dev/null)" ]
}

none_left() {
    [ ! -e "$XDG_RUNTIME_DIR/bawn" ]
}

gone() {
    ! kill -0 "$1" 2>/dev/null
}

@test "ps: without a session, and with one" {
    run --separate-stderr -0 "$BAWN" ps
    [ "$output" = 'no session is running' ]
    run --separate-stderr -0 "$BAWN" --json ps
    [ "$output" = '{"sessions": []}' ]
    sid=$("$BAWN" run --detach -- sleep 100)
    [[ $sid =~ ^[a-z0-9]{6}$ ]]
    run --separate-stderr -0 "$BAWN" ps
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == SID* ]]
    [[ ${lines[1]} == "$sid "*detached*full*'sleep 100' ]]
    run --separate-stderr -0 "$BAWN" ps --json
    is_json "$output"
    [ "$(json_get "$output" 'len(d["sessions"])')" = 1 ]
    [ "$(json_get "$output" 'd["sessions"][0]["command"]')" = "['sleep', '100']" ]
    [ "$(json_get "$output" 'd["sessions"][0]["workspace"]')" = "$WORK" ]
    [ "$(json_get "$output" 'd["sessions"][0]["enforcement"]')" = full ]
    [ "$(json_get "$output" 'd["sessions"][0]["detached"]')" = True ]
    kill -0 "$(json_get "$output" 'd["sessions"][0]["pid"]')"
}

@test "ps: what a command is called cannot deceive" {
    "$BAWN" run --detach -- sh -c $'sleep 100 # \e]0;x\a\u202e \"q\" \\' >sid
    run --separate-stderr -0 "$BAWN" ps
    [[ $output != *$'\e'* && $output != *$'\u202e'* ]]
    [ "${#lines[@]}" -eq 2 ]
    run --separate-stderr -0 "$BAWN" ps --json
    is_json "$output"
    [ "$(json_get "$output" 'd["sessions"][0]["command"][2][:9]')" = 'sleep 100' ]
}

@test "an attached run is found after a moment, and not before" {
    "$BAWN" run -- true
    none_left
    "$BAWN" run -- sleep 100 &
    wait_for registered
    [ "$(only pid)" = "$!" ]
    [ "$(only detached)" = False ]
    run --separate-stderr -125 "$BAWN" attach
    has_error_and_hint
    run --separate-stderr -0 "$BAWN" stop
    [[ $output == *'stopped, status 143' ]]
    none_left
    ended "$!"
    [ "$status" -eq 143 ]
}

@test "the registry is the user's alone" {
    sid=$("$BAWN" run --detach -- sleep 100)
    [ "$(stat -c %a "$XDG_RUNTIME_DIR/bawn")" = 700 ]
    [ "$(stat -c %a "$XDG_RUNTIME_DIR/bawn/$sid")" = 700 ]
    [ "$(stat -c %a "$XDG_RUNTIME_DIR/bawn/$sid/control")" = 600 ]
    [ "$(stat -c %a "$XDG_RUNTIME_DIR/bawn/$sid/record.json")" = 600 ]
}

@test "a registry that others could change is refused" {
    mkdir "$XDG_RUNTIME_DIR/bawn"
    chmod 770 "$XDG_RUNTIME_DIR/bawn"
    run --separate-stderr -125 "$BAWN" run --detach -- sleep 100
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" ps
    has_error_and_hint
    # A run that nobody needs to find goes on.
    run -0 "$BAWN" run -- sleep 0.1
    rmdir "$XDG_RUNTIME_DIR/bawn"
    mkdir "$XDG_RUNTIME_DIR/other"
    ln -s other "$XDG_RUNTIME_DIR/bawn"
    run --separate-stderr -125 "$BAWN" run --detach -- true
    has_error_and_hint
    rm "$XDG_RUNTIME_DIR/bawn"
    [ -z "$(ls "$XDG_RUNTIME_DIR/other")" ]
    rmdir "$XDG_RUNTIME_DIR/other"
}

@test "a SID may be shortened, or left out where there is one session" {
    sid=$("$BAWN" run --detach -- sleep 100)
    run --separate-stderr -0 "$BAWN" status "${sid:0:3}"
    [[ ${lines[0]} == *"$sid" ]]
    run --separate-stderr -0 "$BAWN" status
    [[ ${lines[0]} == *"$sid" ]]
    "$BAWN" run --detach -- sleep 100
    run --separate-stderr -125 "$BAWN" status
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" status --json
    [ "$(json_get "$output" 'd["error"]["code"]')" = session.ambiguous ]
}

@test "an unknown SID is refused by every verb, with what to do" {
    local verb

    for verb in status metrics stop attach; do
        run --separate-stderr -125 "$BAWN" "$verb" zzzzzz
        has_error_and_hint
        [[ $stderr == *zzzzzz* ]]
        if [ "$verb" != status ]; then
            run --separate-stderr -125 "$BAWN" "$verb" --json zzzzzz
            is_json "$output"
            [ "$(json_get "$output" 'd["error"]["code"]')" = session.unknown ]
        fi
        run --separate-stderr -125 "$BAWN" "$verb" --json
        [ "$(json_get "$output" 'd["error"]["code"]')" = session.none ]
        run --separate-stderr -125 "$BAWN" "$verb" a b
        has_error_and_hint
    done
    run --separate-stderr -125 "$BAWN" exec zzzzzz -- true
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" exec '../../x' -- true
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" exec
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" stop --timeout 3weeks
    has_error_and_hint
}

@test "status and metrics tell what is used" {
    sid=$("$BAWN" run --detach -- sh -c 'sleep 100 & sleep 100 & wait')
    run --separate-stderr -0 "$BAWN" status "$sid"
    [[ $output == *"workspace    $WORK"* ]]
    [[ $output == *'enforced     full'* ]]
    run --separate-stderr -0 "$BAWN" status --json "$sid"
    is_json "$output"
    [ "$(json_get "$output" 'd["metrics"]["exec_jobs"]')" = 0 ]
    run --separate-stderr -0 "$BAWN" metrics "$sid"
    [[ $output == *processes* ]]
    run --separate-stderr -0 "$BAWN" metrics --json "$sid"
    is_json "$output"
    [ "$(json_get "$output" 'd["sid"]')" = "$sid" ]
    [ "$(json_get "$output" '3 <= d["pids_current"] <= 6')" = True ]
    [ "$(json_get "$output" 'd["memory_current"] > 0')" = True ]
    [ "$(json_get "$output" 'd["hosts"], d["net_connections"], d["net_refused"]')" = "([], 0, 0)" ]
}

@test "status: the state in a word, and the backend" {
    local answer

    sid=$("$BAWN" run --detach -- sleep 100)
    run --separate-stderr -0 "$BAWN" status "$sid"
    [[ $output == *'state        running'*'backend      native'* ]]
    run --separate-stderr -0 "$BAWN" status --json "$sid"
    [ "$(json_get "$output" 'd["state"], d["backend"]')" = "('running', 'native')" ]
    [ "$(json_get "$output" 'd["auto_allow"]')" = True ]
    run --separate-stderr -0 "$BAWN" stop --timeout 0 "$sid"
    # Without the whole policy there is no reason to ask nobody.
    sid=$("$BAWN" run --detach --best-effort --profile untrusted -- sleep 100 2>/dev/null)
    run --separate-stderr -0 "$BAWN" status --json "$sid"
    [ "$(json_get "$output" 'd["auto_allow"] == (d["enforcement"] == "full")')" = True ]
    run --separate-stderr -0 "$BAWN" stop --timeout 0 "$sid"
    # As data, the absence of a session is an answer.
    for answer in "$sid" zz ../../x; do
        run --separate-stderr -0 "$BAWN" status --json "$answer"
        [ "$(json_get "$output" 'set(d.values()), len(d) > 6')" = "({None}, True)" ]
        run --separate-stderr -125 "$BAWN" status "$answer"
        has_error_and_hint
    done
    for answer in starting:starting:0 gone:stopped:0 short:error:125 kind:error:125; do
        python3 "$BATS_TEST_DIRNAME/broken_session.py" "$XDG_RUNTIME_DIR" "${answer%%:*}" 3>&- &
        pid=$!
        wait_for test -s "$XDG_RUNTIME_DIR/bawn/broken/record.json"
        run --separate-stderr "-${answer##*:}" "$BAWN" status --json broken
        echo "$output"
        [ "$(json_get "$output" 'd["state"] + ":" + str(int("error" in d) * 125)')" = "${answer#*:}" ]
        [ "$(json_get "$output" 'd["sid"]')" = broken ]
        kill "$pid"
        wait "$pid" || true
        # Nobody answers any more, and the record is still there.
        run --separate-stderr -0 "$BAWN" status --json broken
        [ "$(json_get "$output" 'd["sid"], d["state"]')" = "('broken', 'stopped')" ]
        rm -r "$XDG_RUNTIME_DIR/bawn"
    done
}

@test "stop: asked first, killed after the time that was given" {
    "$BAWN" run --detach -- sh -c 'trap "exit 5" TERM; touch ready; while :; do sleep 0.02; done' >sid
    wait_for test -e ready
    run --separate-stderr -0 "$BAWN" stop --json "$(<sid)"
    [ "$(json_get "$output" 'd["status"]')" = 5 ]
    none_left
    "$BAWN" run --detach -- sh -c 'trap "" TERM; setsid sleep 100 & touch deaf; while :; do sleep 0.02; done' >sid
    wait_for test -e deaf
    pid=$(only pid)
    SECONDS=0
    run --separate-stderr -0 "$BAWN" stop --timeout 1s "$(<sid)"
    [[ $output == "$(<sid) stopped, status 137" ]]
    ((SECONDS >= 1 && SECONDS < 30))
    none_left
    wait_for gone "$pid"
}

@test "exec: status, streams, directory and arguments" {
    sid=$("$BAWN" run --detach -- sleep 100)
    run --separate-stderr -0 "$BAWN" exec "$sid" -- sh -c 'echo out; echo err >&2'
    [ "$output" = out ]
    [ "$stderr" = err ]
    run -7 "$BAWN" exec -- sh -c 'exit 7'
    run -143 "$BAWN" exec "$sid" -- sh -c 'kill -TERM $$'
    run -0 "$BAWN" exec "$sid" echo --json -- x
    [ "$output" = '--json -- x' ]
    run -0 "$BAWN" exec "$sid" -- pwd
    [ "$output" = "$WORK" ]
    run sh -c "seq 100000 | '$BAWN' exec '$sid' -- wc -l"
    [ "$output" = 100000 ]
    run --separate-stderr -127 "$BAWN" exec "$sid" -- no-such-program
    has_error_and_hint
    echo text >file
    run --separate-stderr -126 "$BAWN" exec "$sid" -- ./file
    has_error_and_hint
}

@test "exec: what it says to a file outside is there when it has ended, and what is left may go on" {
    log=$BATS_TEST_TMPDIR/log
    sid=$("$BAWN" run --detach -- sleep 100)
    "$BAWN" exec "$sid" -- sh -c 'stat -Lc %F /dev/fd/3 3>&1 >&2; seq 200000' >"$log" 2>kind
    [ "$(<kind)" = fifo ]
    cmp "$log" <(seq 200000)
    run -7 sh -c "'$BAWN' exec '$sid' -- sh -c 'echo out; echo err >&2; exit 7' >'$log' 2>&1"
    [ "$(paste -sd' ' "$log")" = "out err" ]
    "$BAWN" exec "$sid" -- sh -c '(until [ -e go ]; do sleep 0.1; done; echo late; touch gone) & echo now' >>"$log"
    [ "$(tail -n1 "$log")" = now ]
    touch go
    for _ in {1..600}; do [ "$(tail -n1 "$log")" != late ] || break; sleep 0.05; done
    [ "$(tail -n1 "$log")" = late ]
    # Whoever is left and says ever more does not hold up the end.
    : >"$log"
    # shellcheck disable=SC2016 # the words are the shell's inside
    timeout 60 "$BAWN" exec "$sid" -- sh -c 'while :; do echo y; done & until [ -s said ]; do sleep 0.05; done' \
        >"$log" &
    pid=$!
    wait_for test -s "$log"
    echo >said
    wait "$pid"
    [ -s "$log" ]
    run -0 timeout 60 "$BAWN" stop "$sid"
}

@test "exec: in the same sandbox, with the same boundaries and environment policy" {
    sid=$("$BAWN" run --detach -- sh -c 'echo kept >/tmp/kept; exec sleep 100')
    run -0 "$BAWN" exec "$sid" -- timeout 10 sh -c 'until [ -s /tmp/kept ]; do sleep 0.1; done; cat /tmp/kept'
    [ "$output" = kept ]
    run -0 env SECRET_TOKEN=x LD_PRELOAD= LANG=C "$BAWN" exec "$sid" -- env
    [[ $output != *SECRET_TOKEN* && $output != *LD_PRELOAD* ]]
    [[ $output == *LANG=C* ]]
    run "$BAWN" exec "$sid" -- sh -c 'echo x >/usr/outside'
    [ "$status" -ne 0 ]
    run -0 "$BAWN" exec "$sid" -- sh -c "echo x >'$HOME/outside'"
    [ ! -e "$HOME/outside" ]
    run -0 "$BAWN" exec "$sid" -- grep -E '^(NoNewPrivs|Seccomp|CapEff|CapBnd)' /proc/self/status
    [[ $output == *'NoNewPrivs:'*1* && $output == *'Seccomp:'*2* ]]
    [[ $output == *$'CapEff:\t0000000000000000'* && $output == *$'CapBnd:\t0000000000000000'* ]]
}

@test "exec: a client that dies is not survived for longer because others die too" {
    local i

    sid=$("$BAWN" run --detach -- sleep 100)
    "$BAWN" exec "$sid" -- sh -c 'trap "" HUP; echo >first; exec sleep 771' &
    pid=$!
    wait_for test -e first
    wait_for "$BAWN" exec "$sid" -- pgrep -f '^sleep 771'
    kill -9 "$pid"
    for i in 1 2 3 4 5 6 7; do
        "$BAWN" exec "$sid" -- sh -c "trap '' HUP; echo >more$i; exec sleep 772" &
        pid=$!
        wait_for test -e "more$i"
        kill -9 "$pid"
        sleep 0.4
    done
    run "$BAWN" exec "$sid" -- pgrep -f '^sleep 771'
    [ "$status" -eq 1 ]
}

@test "exec: signals are passed on, and a client that dies takes its command along" {
    sid=$("$BAWN" run --detach -- sleep 100)
    "$BAWN" exec "$sid" -- sh -c 'trap "exit 9" USR1; echo >ready; while :; do sleep 0.02; done' &
    pid=$!
    wait_for test -e ready
    kill -USR1 "$pid"
    ended "$pid"
    [ "$status" -eq 9 ]
    "$BAWN" exec "$sid" -- sh -c 'trap "" HUP; echo >again; exec sleep 77' &
    pid=$!
    wait_for test -e again
    kill -9 "$pid"
    jobs_left() {
        [ "$("$BAWN" metrics --json "$sid" | python3 -c \
            'import json, sys; print(json.load(sys.stdin)["exec_jobs"])')" = 0 ]
    }
    run ! jobs_left
    wait_for jobs_left
}

@test "exec: a terminal of the sandbox's own" {
    sid=$("$BAWN" run --detach -- sleep 100)
    run -0 on_terminal "$BAWN" exec "$sid" -- sh -c 'tty; stty size >/dev/null && echo sized' </dev/null
    [[ $output == */dev/pts/0* && $output == *sized* ]]
    run -3 on_terminal "$BAWN" exec "$sid" -- sh -c 'exit 3' </dev/null
}

@test "exec: ends with the session" {
    sid=$("$BAWN" run --detach -- sleep 100)
    "$BAWN" exec "$sid" -- sh -c 'echo >ready; exec sleep 100' &
    pid=$!
    wait_for test -e ready
    "$BAWN" stop --timeout 0 "$sid"
    ended "$pid"
    [ "$status" -ge 128 ]
}

@test "detach: what cannot run is told at once, and nothing stays" {
    run --separate-stderr -127 "$BAWN" run --detach -- no-such-program
    has_error_and_hint
    run --separate-stderr -127 "$BAWN" run --detach --json -- no-such-program
    is_json "$output"
    [[ $(json_get "$output" 'd["error"]["message"]') == *no-such-program* ]]
    run --separate-stderr -125 "$BAWN" run --detach --profile nonsense -- true
    has_error_and_hint
    none_left
}

@test "detach: returns at once, keeps no stream open, and forgets the terminal's session" {
    SECONDS=0
    sid=$("$BAWN" run --detach -- sh -c 'sleep 100')
    ((SECONDS < 3))
    pid=$(only pid)
    [ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ]
    # The launcher hides itself from others of the same user.
    [ "$(id -u)" -ne 0 ] || [ "$(readlink "/proc/$pid/cwd")" = / ]
    run --separate-stderr -0 "$BAWN" run --detach --json -- sleep 100
    is_json "$output"
    [[ $(json_get "$output" 'd["sid"]') =~ ^[a-z0-9]{6}$ ]]
}

@test "attach: what was said, what is said, and the status at the end" {
    sid=$("$BAWN" run --detach -- sh -c 'echo before; while ! [ -e go ]; do sleep 0.02; done; echo after >&2; exit 6')
    "$BAWN" attach "$sid" >seen &
    pid=$!
    wait_for grep -q before seen
    touch go
    ended "$pid"
    [ "$status" -eq 6 ]
    [ "$(<seen)" = $'before\nafter' ]
    none_left
}

@test "attach: only the last 64 KiB are kept" {
    sid=$("$BAWN" run --detach -- sh -c 'seq 100000; echo the end; touch said; while ! [ -e go ]; do sleep 0.02; done')
    wait_for test -e said
    # And the launcher has read it.
    # shellcheck disable=SC2016 # words of that shell
    wait_for sh -c '"$0" logs "$1" | grep -q "the end"' "$BAWN" "$sid"
    "$BAWN" attach "$sid" >seen &
    pid=$!
    wait_for grep -q 'the end' seen
    touch go
    wait "$pid"
    [ "$(stat -c %s seen)" = 65536 ]
}

@test "attach: a terminal, its keys, and the key that detaches" {
    # shellcheck disable=SC2016 # for the shell inside
    on_terminal "$BAWN" run --detach -- sh -c 'tty; read -r line; echo "got $line"; sleep 100' \
        </dev/null >sid
    sid=$(tr -d '\r\n' <sid)
    [[ $sid =~ ^[a-z0-9]{6}$ ]]
    [ "$(only terminal)" = True ]
    # shellcheck disable=SC2094 # what is typed depends on what is seen
    on_terminal "$BAWN" attach "$sid" >seen < <(
        wait_for grep -q /dev/pts/0 seen
        printf 'hello\r'
        wait_for grep -q 'got hello' seen
        printf '\034'
        wait_for grep -q 'detached from' seen
    )
    output=$(<seen)
    [[ $output == *'Ctrl-\ detaches'* && $output == */dev/pts/0* && $output == *'got hello'* ]]
    [[ $output == *"detached from $sid"* ]]
    [ "$(only sid)" = "$sid" ]
}

@test "attach: a launcher that is killed is no end of the command" {
    sid=$("$BAWN" run --detach -- sh -c 'echo said; exec sleep 100')
    pid=$(only pid)
    "$BAWN" attach "$sid" >seen 2>told &
    client=$!
    wait_for grep -q said seen
    kill -9 "$pid"
    ended "$client"
    [ "$status" -eq 125 ]
    grep -q '^bawn: .' told && grep -q '^hint: .' told
    [ "$(<seen)" = said ]
}

@test "ps: a command is listed, however long and whatever is in it" {
    sid=$("$BAWN" run --detach -- sh -c 'exec sleep 100' "$(head -c 100000 /dev/zero | tr '\0' '\001')")
    run --separate-stderr -0 "$BAWN" ps
    [[ $output == *"$sid "* ]]
    run --separate-stderr -0 "$BAWN" status --json "$sid"
    is_json "$output"
}

@test "kill -9 of the launcher leaves nothing: no process, no entry, no control group" {
    "$BAWN" run --detach -- sh -c 'setsid sleep 4321 & sleep 4321' >sid
    pid=$(only pid)
    cgroups=$("$BAWN" status --json | python3 -c '
import json, sys
print("\n".join(json.load(sys.stdin)["cgroups"]))')
    [ "$(id -u)" -ne 0 ] || [ -n "$cgroups" ] || [ ! -d /sys/fs/cgroup/memory ]
    pgrep -f '^sleep 4321'
    keeper=$(pgrep -P "$pid" -x 'bawn: keeper')
    kill -9 "$pid"
    wait_for none_left
    no_sleep() { ! pgrep -f '^sleep 4321'; }
    wait_for no_sleep
    for group in $cgroups; do
        [ ! -e "$group" ]
    done
    wait_for gone "$keeper"
}

@test "kill -9 of the launcher and of its keeper: the next look sweeps" {
    "$BAWN" run --detach -- sleep 4322 >sid
    pid=$(only pid)
    cgroups=$("$BAWN" status --json | python3 -c '
import json, sys
print("\n".join(json.load(sys.stdin)["cgroups"]))')
    keeper=$(pgrep -P "$pid" -x 'bawn: keeper')
    kill -9 "$keeper"
    kill -9 "$pid"
    wait_for gone "$pid"
    [ -e "$XDG_RUNTIME_DIR/bawn/$(<sid)" ]
    run --separate-stderr -125 "$BAWN" status "$(<sid)"
    has_error_and_hint
    run --separate-stderr -0 "$BAWN" ps
    [ "$output" = 'no session is running' ]
    none_left
    for group in $cgroups; do
        [ ! -e "$group" ]
    done
}

@test "an entry of a process that has another's number is swept, a living one is not" {
    sid=$("$BAWN" run --detach -- sleep 100)
    mkdir -m 700 "$XDG_RUNTIME_DIR/bawn/aaaaaa"
    sed "s/\"sid\": \"$sid\"/\"sid\": \"aaaaaa\"/; s/\"start\": [0-9]*/\"start\": 1/" \
        "$XDG_RUNTIME_DIR/bawn/$sid/record.json" >"$XDG_RUNTIME_DIR/bawn/aaaaaa/record.json"
    mkdir -m 700 "$XDG_RUNTIME_DIR/bawn/bbbbbb" "$XDG_RUNTIME_DIR/bawn/.new-1-1"
    echo 'no record' >"$XDG_RUNTIME_DIR/bawn/bbbbbb/record.json"
    run --separate-stderr -0 "$BAWN" ps
    [ "${#lines[@]}" -eq 2 ]
    [ "$(ls -A "$XDG_RUNTIME_DIR/bawn")" = "$sid" ]
}

@test "with as many clients as there can be one more is refused, and stop still stops" {
    sid=$("$BAWN" run --detach -- sleep 100)
    for ((i = 0; i < 20; i++)); do
        # shellcheck disable=SC2016 # for the shell inside
        "$BAWN" exec "$sid" -- sh -c 'echo >"$0"; exec sleep 100' "up-$i" </dev/null >/dev/null 3>&- &
    done
    for ((i = 0; i < 100 && $(find . -name 'up-*' | wc -l) < 20; i++)); do
        sleep 0.1
    done
    [ "$(find . -name 'up-*' | wc -l)" -eq 20 ]
    for _ in once twice; do
        run --separate-stderr -125 "$BAWN" exec "$sid" -- true
        [[ $stderr == *"20 clients already"* ]]
    done
    run -0 "$BAWN" metrics "$sid"
    run -0 "$BAWN" stop "$sid"
    wait
}

@test "no policy opens the registry, or the plans that are kept" {
    run -1 "$BAWN" check --rw / read "$XDG_RUNTIME_DIR/bawn/abcdef/control"
    run -1 "$BAWN" check --rw "$XDG_RUNTIME_DIR" read "$XDG_RUNTIME_DIR/bawn"
    run -1 "$BAWN" check --rw / write "$HOME/.cache/bawn/plans/x"
    place=/tmp/bawn-$(id -u)
    [ "$(id -u)" -ne 0 ] || place=/run/bawn
    run -1 "$BAWN" check --rw / read "$place/abcdef/control"
    run -0 "$BAWN" check --rw / write "$HOME/.cache/other"
}

@test "no policy opens them where the next bawn, with other variables, would look" {
    usual=$(getent passwd "$(id -u)" | cut -d: -f6)
    run -1 "$BAWN" check --rw / write "$usual/.cache/bawn/plans/x"
    run -1 "$BAWN" check --rw "$usual" write "$usual/.config/bawn/policy.yaml"
    run -1 "$BAWN" check --rw / read "/run/user/$(id -u)/bawn/abcdef/control"
    run -0 "$BAWN" check --rw / write "$usual/.cache/other"
}

@test "the registry cannot be seen from inside" {
    sid=$("$BAWN" run --detach -- sleep 100)
    run "$BAWN" run --rw /tmp -- ls "$XDG_RUNTIME_DIR/bawn"
    [ "$status" -ne 0 ]
    [[ $output != *"$sid"* ]]
}

@test "a client inside is refused, though it has the user's id" {
    # The directory is not there when the plan is made, so nothing hides it.
    "$BAWN" run --rw "$XDG_RUNTIME_DIR" --detach -- sleep 100 >sid
    run "$BAWN" exec "$(<sid)" -- python3 -c '
import socket, sys
one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    one.connect(sys.argv[1])
    sys.exit(0 if one.recv(1) else 42)
except OSError:
    sys.exit(42)' "$XDG_RUNTIME_DIR/bawn/$(<sid)/control"
    [ "$status" -eq 42 ]
    run -0 python3 -c '
import select, socket, sys
one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
one.connect(sys.argv[1])
sys.exit(bool(select.select([one], [], [], 0.3)[0]))' "$XDG_RUNTIME_DIR/bawn/$(<sid)/control"
}

@test "a client that talks nonsense is dropped, and the session lives on" {
    sid=$("$BAWN" run --detach -- sleep 100)
    run -0 python3 -c '
import os, socket, struct, sys
def answer(data, fds=()):
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.connect(sys.argv[1])
    one.settimeout(5)
    socket.send_fds(one, [data], fds)
    return one.recv(4096)
def talk(data, fds=()):
    assert answer(data, fds) == b"", "not dropped"
def head(kind, job=1, value=0, args=0, envs=0, version=5):
    return struct.pack("=IIIIiII", version, kind, job, 0, value, args, envs).ljust(96, b"\0")
null = os.open("/dev/null", os.O_RDWR)
root = os.open("/", os.O_RDONLY)
talk(b"x")
talk(head(0, version=2))
talk(head(99))
talk(head(0, args=1) + b"true\0")                    # no streams
talk(head(0, args=1) + b"true\0", [null, null])      # too few
talk(head(0, args=1) + b"true\0", [null] * 4)        # too many
told = answer(head(0, args=1) + b"true\0", [root, null, null]) # a way out
assert told[4:8] == b"\x08\0\0\0" and b"run.stream" in told, "not refused"
talk(head(0, args=9) + b"true\0", [null] * 3)
talk(head(0, job=0, args=1) + b"true\0", [null] * 3) # the number of the session itself
talk(head(1, value=1000))
talk(head(2, value=-1))
talk(head(5))                                        # not attached
talk(head(7))                                        # an answer
' "$XDG_RUNTIME_DIR/bawn/$sid/control"
    run -0 "$BAWN" exec "$sid" -- true
    [ "$("$BAWN" metrics --json "$sid" | python3 -c \
        'import json, sys; print(json.load(sys.stdin)["exec_jobs"])')" = 0 ]
}

@test "a session that breaks its word is no success, for no verb" {
    local answer verb

    for answer in short version kind unasked stranger no-error cut-error empty-error wild-error rude-error long gone; do
        python3 "$BATS_TEST_DIRNAME/broken_session.py" "$XDG_RUNTIME_DIR" "$answer" 3>&- &
        pid=$!
        wait_for test -s "$XDG_RUNTIME_DIR/bawn/broken/record.json"
        for verb in "exec broken true" "metrics broken" "stop broken" "attach broken" "wait broken"; do
            # Being gone is how a stop ends.
            [ "$answer $verb" = "gone stop broken" ] && continue
            # shellcheck disable=SC2086 # words
            run --separate-stderr timeout 10 "$BAWN" $verb </dev/null
            echo "$answer: $verb: $status $output $stderr"
            [ "$status" -eq 125 ]
            [[ -z $output && $stderr == "bawn: "* ]]
            [[ $stderr != *[^[:print:][:space:]]* ]]
        done
        kill "$pid"
        rm -r "$XDG_RUNTIME_DIR/bawn"
    done
}

@test "ps: a record that bawn did not write is not shown" {
    local place=$XDG_RUNTIME_DIR/bawn fields rest

    fields='"sid":"plants","pid":'$$',"start":'$(awk '{print $22}' /proc/$$/stat)
    fields+=',"started":1,"command":["x"]'
    for rest in ',"enforcement":"\u001b[31m"}' ',"a":1],"b":[{}' $',"a":"\e[31m"}' '} {"c":1}' '"a":1}'; do
        (umask 077 && mkdir -p "$place/plants")
        echo "{$fields$rest" >"$place/plants/record.json"
        run -0 "$BAWN" ps --json
        [[ $output != *plants* ]]
        (umask 077 && mkdir -p "$place/plants")
        echo "{$fields$rest" >"$place/plants/record.json"
        run -0 "$BAWN" ps
        [ "$output" = "no session is running" ]
    done
    (umask 077 && mkdir -p "$place/plants")
    echo "{$fields}" >"$place/plants/record.json"
    run -0 "$BAWN" ps
    rm -r "$place"
    [[ $output == *plants* ]]
}
