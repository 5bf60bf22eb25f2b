#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # run sets stderr; each test has its own variables; lines are for shells inside
# What is kept of a detached run: what it said and how it ended, while it runs and afterwards.

load common

setup() {
    sessions_setup
    kept=$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/sessions
}

teardown() { sessions_teardown; }

# start [OPTION...] LINE: a detached shell; its name is $sid.
start() {
    sid=$("$BAWN" run --detach "${@:1:$#-1}" -- sh -c "${!#}")
}

# age SID SECONDS: it has ended so long ago.
age() {
    python3 -c '
import struct, sys, time
with open(sys.argv[1], "r+b") as end:
    end.seek(16)
    end.write(struct.pack("=Q", int(time.time()) - int(sys.argv[2])))' "$kept/$1/end" "$2"
}

@test "logs and wait: while it runs, at its end, and afterwards" {
    start 'echo one; echo two >&2; while [ ! -e go ]; do sleep 0.02; done; echo three; exit 7'
    for _ in {1..100}; do
        run --separate-stderr -0 "$BAWN" logs "$sid"
        [ "$output" = $'one\ntwo' ] && break
        sleep 0.02
    done
    [ "$output" = $'one\ntwo' ]
    run --separate-stderr -0 "$BAWN" logs --json
    [ "$(json_get "${lines[-1]}" '[d["sid"], d["state"], d["status"], d["dropped"]]')" = "['$sid', 'running', None, 0]" ]
    run --separate-stderr -125 "$BAWN" wait --timeout 0 "$sid"
    has_error_and_hint
    [ "$(json_get "$("$BAWN" metrics --json)" 'd["viewers"]')" = 0 ]
    "$BAWN" logs --follow "$sid" >followed &
    (sleep 0.2 && touch go) &
    run --separate-stderr -7 timeout 20 "$BAWN" wait "$sid"
    [ "$output" = "$sid ended, status 7" ]
    wait
    [ "$(<followed)" = $'one\ntwo\nthree' ]
    # It has ended.
    run --separate-stderr -7 "$BAWN" wait "${sid:0:5}"
    run --separate-stderr -7 "$BAWN" wait --json "$sid"
    [ "$output" = "{\"sessions\": [{\"sid\": \"$sid\", \"status\": 7}]}" ]
    run --separate-stderr -0 timeout 20 "$BAWN" logs --follow "$sid"
    [ "$output" = $'one\ntwo\nthree' ]
    run --separate-stderr -0 "$BAWN" logs --tail 2 "$sid"
    [ "$output" = $'two\nthree' ]
    run --separate-stderr -0 "$BAWN" logs --tail 0 "$sid"
    [ "$output" = '' ]
    run --separate-stderr -0 "$BAWN" logs --tail 9 "$sid"
    [ "$output" = $'one\ntwo\nthree' ]
    run --separate-stderr -0 "$BAWN" logs --json "$sid"
    [ "$(json_get "${lines[0]}" 'd["output"]')" = $'one\ntwo\nthree' ]
    [ "$(json_get "${lines[-1]}" '[d["state"], d["status"]]')" = "['ended', 7]" ]
    run --separate-stderr -125 "$BAWN" attach "$sid"
    run --separate-stderr -0 "$BAWN" ps
    [[ $output != *"$sid"* ]]
    run --separate-stderr -0 "$BAWN" ps --all
    [[ $output == *"$sid "*'exit 7'*full*'sh -c echo one'* ]]
    # By a pipe: others of this user may have long ones.
    [ "$("$BAWN" ps --all --json | python3 -c 'import json, sys
print([(s["state"], s["status"]) for s in json.load(sys.stdin)["sessions"] if s["sid"] == sys.argv[1]])' "$sid")" = "[('ended', 7)]" ]
}

@test "wait: the status is what run would end with; several, one that is not detached" {
    local first

    start --timeout 1s --cols 80 'sleep 100'
    first=$sid
    start --timeout 1s 'sleep 100'
    run --separate-stderr -124 timeout 20 "$BAWN" wait "$sid"
    # What bawn says at the end is there, too.
    for sid in "$sid" "$first"; do
        run -0 timeout 20 "$BAWN" logs --follow "$sid"
        [[ ${lines[0]} == 'bawn: the time limit of 1 s was reached'* && ${lines[1]} == hint:* ]]
    done
    start 'kill -9 $$'
    run --separate-stderr -137 timeout 20 "$BAWN" wait "$first" "$sid"
    [ "$output" = "$first ended, status 124"$'\n'"$sid ended, status 137" ]
    run --separate-stderr -124 "$BAWN" wait "$sid" "$first"
    start 'sleep 100'
    (sleep 0.3 && "$BAWN" stop "$sid") &
    run --separate-stderr -143 timeout 20 "$BAWN" wait
    wait
    "$BAWN" run -- sh -c 'while [ ! -e go ]; do sleep 0.02; done; exit 5' &
    for _ in {1..100}; do
        [ -z "$(ls "$XDG_RUNTIME_DIR/bawn" 2>/dev/null)" ] || break
        sleep 0.02
    done
    (sleep 0.3 && touch go) &
    run --separate-stderr -5 timeout 20 "$BAWN" wait
    wait || true
    # Found by what is kept, where the session is registered elsewhere.
    start 'sleep 0.5; echo said; exit 6'
    run --separate-stderr -6 env XDG_RUNTIME_DIR="$WORK" timeout 20 "$BAWN" wait "$sid"
    # A command that could not be run was never a session. Others of this user's may come and go.
    grep -qaF 'echo said; exit 6' "$kept/$sid/record.json"
    run -127 "$BAWN" run --detach -- "no-such-program-$BASHPID"
    run ! grep -rqaF "no-such-program-$BASHPID" "$kept"
}

@test "logs and wait: a name that is none, and values that are none" {
    local verb word

    for verb in logs wait; do
        for word in zzzzzz ../../../../etc / a/b . .. '*' "$kept" $'a\e[31m'; do
            run --separate-stderr -125 "$BAWN" "$verb" "$word"
            has_error_and_hint
            [[ $stderr != *$'\e'* ]]
            run --separate-stderr -125 "$BAWN" "$verb" --json "$word"
            [[ $output == *'"code": "session.unknown"'* ]]
        done
    done
    run --separate-stderr -125 "$BAWN" logs --tail some
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" wait --timeout 3weeks
    has_error_and_hint
    for word in 1 4095 2G many -1; do
        run --separate-stderr -125 "$BAWN" run --detach --log-size "$word" -- true
        has_error_and_hint
    done
    run --separate-stderr -125 "$BAWN" run --log-size 64K -- touch ran
    has_error_and_hint
    [ ! -e ran ]
    # What a run says that is not detached is nowhere else.
    "$BAWN" run -- sleep 100 &
    for _ in {1..100}; do
        [ -z "$(ls "$XDG_RUNTIME_DIR/bawn" 2>/dev/null)" ] || break
        sleep 0.02
    done
    run --separate-stderr -125 "$BAWN" logs --json
    [ "$(json_get "$output" 'd["error"]["code"]')" = session.not_kept ]
    "$BAWN" stop
    wait || true
}

@test "logs: the newest is kept, no more than was asked for, and it is said" {
    start --log-size 64K 'seq 30000'
    run -0 timeout 20 "$BAWN" wait "$sid"
    size=$(cat "$kept/$sid"/output.* | wc -c)
    [ "$size" -le 65536 ]
    [ "$size" -ge 32768 ]
    run --separate-stderr -0 "$BAWN" logs "$sid"
    [[ $stderr == "bawn: $(($(seq 30000 | wc -c) - size)) bytes that were said before this are no longer kept"*hint:* ]]
    [ "$output" = "$(seq 30000 | tail -c "$size")" ]
    run --separate-stderr -0 "$BAWN" logs --tail 5000 "$sid"
    [ "$output" = "$(seq 25001 30000)" ]
    [ -z "$stderr" ]
    run --separate-stderr -0 "$BAWN" logs --tail 20000 "$sid"
    [[ $stderr == *'no longer kept'* ]]
    run --separate-stderr -0 "$BAWN" logs --json "$sid"
    [ "$(json_get "${lines[-1]}" 'd["dropped"]')" = "$(($(seq 30000 | wc -c) - size))" ]
    # Who follows from the start sees all of it, as long as it keeps up.
    start --log-size 64K 'for i in 1 2 3 4 5 6; do seq "$i"0000 "$i"3000; sleep 0.3; done'
    "$BAWN" logs --follow "$sid" >followed
    [ "$(<followed)" = "$(for i in 1 2 3 4 5 6; do seq "$i"0000 "$i"3000; done)" ]
    # Nothing at all, but for the status.
    start --log-size 0 'echo said; exit 3'
    run -3 timeout 20 "$BAWN" wait "$sid"
    run --separate-stderr -0 "$BAWN" logs "$sid"
    [ -z "$output" ]
    [[ $stderr == *--log-size* ]]
    # Eight million where nothing is said of it.
    start 'yes 0123456789012345678901234567890 | head -c 20000000'
    run -0 timeout 60 "$BAWN" wait "$sid"
    size=$(cat "$kept/$sid"/output.* | wc -c)
    [ "$size" -le 8388608 ]
    [ "$size" -ge 4194304 ]
}

@test "logs: what a terminal would obey is only shown; into a pipe all goes as it is" {
    local said=$'\e[1;31mred\e[0m\e]0;title\a\e]52;c;AAAA\a\e[2J\u202eback\e[999\r\n50%\r60%\r\n\x9b31m\xff\tend\e'

    printf '%s' "$said" >said
    start --cols 80 'stty raw; cat said'
    run -0 timeout 20 "$BAWN" wait "$sid"
    "$BAWN" logs "$sid" | cmp - said
    on_terminal "$BAWN" logs --raw "$sid" </dev/null | tr -d '\r' | cmp - <(tr -d '\r' <said)
    run -0 on_terminal "$BAWN" logs "$sid" </dev/null
    [ "${lines[0]}" = $'\e[1;31mred\e[0m\\x1b]0;title\\x07\\x1b]52;c;AAAA\\x07\\x1b[2J\\u{202e}back\\x1b[999\r' ]
    [ "${lines[1]}" = $'50%\r' ]
    [ "${lines[2]}" = $'60%\r' ]
    [ "${lines[3]}" = $'\\x9b31m\\xff\tend\\x1b\e[0m' ]
    run --separate-stderr -0 "$BAWN" logs --json "$sid"
    is_json "${lines[0]}"
    [[ $output != *$'\e'* ]]
}

@test "kill -9: of the launcher, there is no status, and that is said; of who keeps it, the command goes on" {
    start 'echo said; exec sleep 100'
    pid=$("$BAWN" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["sessions"][0]["pid"])')
    for _ in {1..100}; do
        [ -s "$kept/$sid/output.0" ] && break
        sleep 0.02
    done
    "$BAWN" logs --follow "$sid" >followed &
    (sleep 0.3 && kill -9 "$pid") &
    run --separate-stderr -125 timeout 20 "$BAWN" wait "$sid"
    has_error_and_hint
    [[ $stderr == *killed* ]]
    wait
    [ "$(<followed)" = said ]
    run --separate-stderr -125 "$BAWN" wait --json "$sid"
    [ "$(json_get "$output" 'd["error"]["code"]')" = session.lost ]
    run --separate-stderr -0 "$BAWN" logs --json "$sid"
    [ "$(json_get "${lines[-1]}" '[d["state"], d["status"]]')" = "['lost', None]" ]
    run --separate-stderr -0 "$BAWN" ps --all
    [[ $output == *"$sid "*lost* ]]

    start 'echo first; while [ ! -e go ]; do sleep 0.02; done; yes | head -c 1000000; exit 4'
    pid=$("$BAWN" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["sessions"][0]["pid"])')
    recorder=$(pgrep -P "$pid" -x 'bawn: recorder')
    for _ in {1..100}; do
        [ -s "$kept/$sid/output.0" ] && break
        sleep 0.02
    done
    kill -9 "$recorder"
    touch go
    run -4 timeout 20 "$BAWN" wait "$sid"
    run --separate-stderr -0 "$BAWN" logs "$sid"
    [ "$output" = first ]
    [[ $stderr == *'not kept'* ]]
}

@test "what is kept is gone after a day, and of those that ended the last 256 stay" {
    local i first

    start 'echo old'
    run -0 timeout 20 "$BAWN" wait "$sid"
    age "$sid" 86000
    run -0 "$BAWN" ps
    [ -d "$kept/$sid" ]
    age "$sid" 86500
    run -0 "$BAWN" ps
    [ ! -e "$kept/$sid" ]
    start 'echo old'
    run -0 timeout 20 "$BAWN" wait "$sid"
    age "$sid" 86500
    run -125 "$BAWN" logs "$sid"
    [ ! -e "$kept/$sid" ]
    start 'echo old'
    run -0 timeout 20 "$BAWN" wait "$sid"
    age "$sid" 86500
    first=$sid
    start 'sleep 100'
    [ ! -e "$kept/$first" ]
    # One that runs stays, whatever its age.
    age "$sid" 100000
    run -0 "$BAWN" ps
    [ -d "$kept/$sid" ]
    [ "$(id -u)" -eq 0 ] || return 0
    # In a home of its own, for others of this user may be kept.
    kept=$BATS_TEST_TMPDIR/home/.local/state/bawn/sessions
    sid=$(at_home "$BAWN" run --detach -- true)
    at_home "$BAWN" wait "$sid"
    age "$sid" 5000
    for i in {1000..1299}; do
        cp -r "$kept/$sid" "$kept/zz$i"
    done
    age "$sid" 4000
    at_home "$BAWN" ps
    [ "$(find "$kept" -mindepth 1 -maxdepth 1 | wc -l)" -eq 256 ]
    [ -e "$kept/$sid" ]
}

@test "what cannot be kept is said, and the command runs" {
    local place

    [ "$(id -u)" -eq 0 ] || return 0
    place=$BATS_TEST_TMPDIR/home/.local/state/bawn
    mkdir -p "${place%/*}" victim
    # A link is not followed; a file is no place; nor is what others can write.
    for kind in link file open; do
        case $kind in
        link) ln -s "$WORK/victim" "$place" ;;
        file) touch "$place" ;;
        open) mkdir -m 777 "$place" ;;
        esac
        run --separate-stderr -0 at_home "$BAWN" run --detach -- sh -c 'sleep 0.5; touch ran'
        sid=$output
        echo "$kind: $stderr"
        [[ $stderr == "bawn: what the command says, and its exit status, are not kept: $place: "*hint:*"$place"*"bawn: this run is not recorded: $place: "*hint:* ]]
        run --separate-stderr -125 at_home "$BAWN" logs "$sid"
        has_error_and_hint
        run --separate-stderr -0 timeout 20 "$BAWN" wait "$sid"
        [ -e ran ]
        rm -rf ran "$place"
        [ -z "$(ls victim)" ]
    done
}

@test "a full disk: the command goes on, its status is kept, and that its output is not is said" {
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir -p "$BATS_TEST_TMPDIR/home/.local/state"
    run -0 at_home sh -c '
        mount -t tmpfs -o size=256k,mode=700 none "$HOME/.local/state" || exit 1
        sid=$("$0" run --detach -- sh -c "yes | head -c 1000000; echo done >done; exit 9")
        "$0" wait "$sid" && exit 2
        test $? -eq 9 && test -e done || exit 3
        "$0" logs "$sid" 2>said | wc -c
        cat said
        # Not even the record finds room now.
        cat /dev/zero >"$HOME/.local/state/fill" 2>/dev/null
        sid=$("$0" run --detach -- sh -c "exit 8" 2>&1 >sid)
        echo "$sid"; "$0" wait "$(cat sid)" && exit 4
        exit 0' "$BAWN"
    [ "${lines[1]}" -gt 100000 ]
    [[ ${lines[2]} == *'what was said after this is not kept: No space left on device' ]]
    [[ ${lines[3]} == 'bawn: what the command says, and its exit status, are not kept: '*'No space left on device' ]]
}

@test "what is kept is nobody's inside, and links in it lead nowhere" {
    local home=${kept%/.local/state/bawn/sessions}

    start 'echo secret words'
    run -0 timeout 20 "$BAWN" wait "$sid"
    for policy in "--rw /" "--rw $home" "--ro $kept" "--rw $kept/$sid"; do
        # shellcheck disable=SC2086 # words
        run -1 "$BAWN" check $policy read "$kept/$sid/output.0"
        # shellcheck disable=SC2086 # words
        run -1 "$BAWN" check $policy write "$kept/$sid/end"
    done
    run -1 "$BAWN" check --rw / write "$kept"
    run -0 "$BAWN" check --rw / write "$home/.local/state/other"
    run "$BAWN" run --rw "$home" -- sh -c '
        cat "$1/$2/output.0"; ls "$1"; echo x >"$1/$2/end"; mkdir "$1/planted"
        mv "$1" "$1.moved"; mv "${1%/sessions}" "${1%/sessions}.moved"; true' - "$kept" "$sid"
    [[ $output != *secret* && $output != *"$sid"$'\n'* ]]
    run -0 "$BAWN" logs "$sid"
    [ "$output" = 'secret words' ]
    # Links of any kind.
    ln -s /etc "$kept/llllll"
    mv "$kept/$sid/output.0" out
    ln -s "$PWD/out" "$kept/$sid/output.0"
    run --separate-stderr -0 "$BAWN" logs "$sid"
    [ -z "$output" ]
    run --separate-stderr -125 "$BAWN" logs llllll
    rm "$kept/llllll" "$kept/$sid/output.0"
    mkfifo "$kept/$sid/output.0"
    run --separate-stderr -0 timeout 5 "$BAWN" logs "$sid"
    [ -z "$output" ]
    ln -sf "$PWD/out" "$kept/$sid/end"
    run --separate-stderr -125 timeout 5 "$BAWN" wait "$sid"
    has_error_and_hint
    [ "$(<out)" = 'secret words' ]
}
