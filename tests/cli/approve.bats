#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# shellcheck disable=SC2030,SC2031 # each test has variables of its own
# bawn approve: what waits in sessions, listed and answered from elsewhere.

load common
load panes

setup() {
    sessions_setup
    panes_setup
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'sandbox:\n  confirm: ["**/asked*"]\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    "$BAWN" run -- true
    approver=
}

teardown() {
    if [[ -n $approver ]] && kill "$approver" 2>/dev/null; then
        wait "$approver" || true
    fi
    panes_teardown
    sessions_teardown
}

# Somebody who can be asked, in the background: what it prints is in the file said.
watch_sessions() {
    "$BAWN" approve --json "$@" >said 3>&- &
    approver=$!
}

# A session that asks when it is told to go: detach COMMAND. Sets sid.
detach() {
    sid=$("$BAWN" run -q --detach -- sh -c "until [ -e go ]; do sleep 0.05; done; $1")
}

id_of() {
    python3 -c 'import json, sys
for line in open("said"):
    one = json.loads(line)
    if one["type"] == "event.fs_request" and one["path"].endswith(sys.argv[1]): print(one["id"]); break' "$1"
}
has_asked() {
    [[ -n $(id_of "$1") ]]
}

@test "questions come as lines, --list has them too, --yes and --no answer" {
    detach 'echo x >asked1; echo $? >status1; echo x >asked2; echo $? >status2; sleep 100'
    watch_sessions
    sleep 1.5
    touch go
    wait_for has_asked asked1
    run -0 "$BAWN" approve --list
    [[ $output == "$sid:1, no in "*"wants    to write $WORK/asked1"* ]]
    run -0 "$BAWN" approve --list --json
    is_json "$output"
    [ "$(json_get "$output" 'd["id"], d["op"], d["path"], d["argv"][0]')" = "('$sid:1', 'write', '$WORK/asked1', 'sh')" ]
    run -0 "$BAWN" approve --yes "$sid:1"
    [ "$output" = "$sid:1: allowed once" ]
    wait_for test -s status1
    [ "$(<status1)" = 0 ]
    wait_for has_asked asked2
    run -0 "$BAWN" approve --no 2 --scope session --json "$sid"
    [ "$(json_get "$output" 'd["answer"], d["scope"], d["by"]')" = "('deny', 'session', 'client')" ]
    wait_for test -s status2
    [ "$(<status2)" = 2 ]
    [ -e asked1 ]
    [ ! -e asked2 ]
    run -0 "$BAWN" approve --list
    [ "$output" = "nothing waits for an answer" ]
    wait_for grep -q '"by": "client"' said
    # Of a session that ends while it is watched, nothing is left.
    "$BAWN" stop --timeout 0 "$sid" >/dev/null
}

@test "an answer for the session holds, from whoever it came" {
    detach 'for i in 1 2 3; do echo $i >asked; done; echo $? >status'
    watch_sessions "$sid"
    sleep 1
    touch go
    wait_for has_asked asked
    "$BAWN" approve --yes "$sid:1" --scope session
    wait_for test -s status
    [ "$(<asked)" = 3 ]
    # It has ended, and so has who watched it alone.
    wait "$approver"
    approver=
    [ "$(grep -c fs_request said)" = 1 ]
}

@test "who only lists is nobody who can be asked; when the last one leaves, the answer is no" {
    "$BAWN" run -q --detach -- sh -c 'until [ -e go ]; do sleep 0.05; done; echo x >asked; echo $? >status; sleep 100'
    "$BAWN" approve --list
    touch go
    wait_for test -s status
    [ "$(<status)" = 2 ]
    rm go
    detach 'echo x >asked; echo $? >status2; sleep 100'
    watch_sessions
    sleep 1.5
    touch go
    wait_for has_asked asked
    [ ! -e status2 ]
    kill "$approver"
    wait_for test -s status2
    [ "$(<status2)" = 2 ]
    [ ! -e asked ]
}

@test "a question of the very first moment is asked, too" {
    watch_sessions
    sleep 1
    sid=$("$BAWN" run -q --detach -- sh -c 'echo x >asked; echo $? >status')
    wait_for has_asked asked
    "$BAWN" approve --yes "$sid:1"
    wait_for test -s status
    [ "$(<status)" = 0 ]
}

@test "what makes no sense is refused, with a hint" {
    for words in "--yes x" "--yes 99999999999" "--list --yes a:1" "--yes a:1 --no a:1" "--scope once" "--save user" \
        "--yes a:1 --save user --scope once" "--yes nosuch:1" "--yes a:1 --scope x" "nosuch"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr -125 "$BAWN" approve $words
        has_error_and_hint
    done
    detach 'echo x >asked; sleep 100'
    watch_sessions
    sleep 1.5
    touch go
    wait_for has_asked asked
    for words in "--yes $sid:77" "--yes $sid:1 --save user" "--yes $sid:1 --scope directory"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr -125 "$BAWN" approve $words
        has_error_and_hint
    done
    [ ! -e asked ]
}

@test "on a terminal: a list that follows all sessions, details, answers" {
    pane_start
    keys "$BAWN approve"
    pane_has '^bawn approve: 0 wait, 0 sessions'
    detach 'echo x >asked1; sh -c "echo x >asked2"; sleep 100'
    one=$sid
    detach 'echo x >asked3; sleep 100'
    pane_has '2 sessions'
    touch go
    pane_has "$one:1 *write .*/asked1 "
    pane_has "$sid:1 *write .*/asked3 "
    pane_has '2 wait, 2 sessions'
    # The mark is on one; keys that answer do nothing here.
    pane_has '^> '
    key o
    sleep 0.5
    [ ! -e asked1 ]
    [ ! -e asked3 ]
    if pane_matches "^> $one:1"; then key Down; else key k; key k; key Down; pane_matches "^> $sid:1" || key Up; fi
    pane_has "^> $sid:1"
    sleep 0.5
    key Enter
    pane_has "^bawn asks for $sid: if nobody answers, no in "
    sleep 0.5
    key o
    wait_for test -e asked3
    pane_has "$sid:1: allowed once"
    pane_has "^> $one:1"
    sleep 0.5
    key Enter
    pane_has "^bawn asks for $one"
    sleep 0.5
    key b
    pane_has '^bawn approve: 1 waits'
    sleep 0.5
    key Enter
    pane_has "^bawn asks for $one"
    sleep 0.5
    key n
    pane_has "$one:2 *write .*/asked2 "
    "$BAWN" stop --timeout 0 "$one" >/dev/null
    pane_has '^bawn approve: 0 wait, 1 session'
    sleep 0.5
    key q
    pane_has '^\$'
    [ ! -e asked1 ]
    [ ! -e asked2 ]
}

@test "the terminal is given back on every way out" {
    pane_start 40 10
    keys 'PS1="> "; stty -a >before; clear'
    for way in q C-c Escape TERM HUP; do
        keys "clear; sh -c 'echo \$\$ >pid; exec $BAWN approve'; echo left"
        pane_has '^bawn approve: 0 wait'
        case $way in
        TERM | HUP)
            kill "-$way" "$(<pid)"
            ;;
        *)
            sleep 0.4
            key "$way"
            ;;
        esac
        pane_has '^left'
        keys 'stty -a >after; cmp before after && echo as it was'
        pane_has '^as it was'
    done
    keys "clear; $BAWN approve"
    pane_has '^bawn approve: 0 wait'
    key C-z
    pane_has 'Stopped'
    keys 'stty -a >after; cmp before after && echo as it was'
    pane_has '^as it was'
    keys fg
    pane_has '^bawn approve: 0 wait'
    sleep 0.5
    key q
    pane_has 'fg$'
    # With a session that ends.
    detach 'sleep 100'
    keys "clear; $BAWN approve $sid"
    pane_has '^bawn approve: 0 wait'
    "$BAWN" stop --timeout 0 "$sid" >/dev/null
    pane_has 'the session has ended'
}

@test "in 40 columns, and without colours" {
    pane_start 40 10
    keys "NO_COLOR=1 $BAWN approve"
    name=asked$(printf 'x%.0s' {1..100})END
    detach "echo x >$name; sleep 100"
    pane_has '1 session'
    touch go
    pane_has '^> .*<x*END .*[0-9]:[0-9][0-9]$'
    [[ $(pane_colours) != *$'\033[7m'* ]]
    sleep 0.5
    key Enter
    pane_has '^bawn asks for'
    pane_has 'END$'
    pane_has '\[b\]ack'
    tmux_at resize-window -x 100 -y 24
    pane_has '^rule  '
    sleep 0.5
    key N
    pane_has 'denied for the session'
    [ ! -e "$name" ]
}

@test "terminal and approve: the first answer counts, and the other dialogue goes away" {
    pane_start
    keys "$BAWN run -q -- sh -c 'echo x >asked; echo status \$?; sleep 2; echo x >asked2; echo status \$?'"
    pane_has 'bawn asks:'
    watch_sessions
    wait_for has_asked asked
    "$BAWN" approve --yes "$(id_of asked)"
    pane_has '^status 0'
    wait_for has_asked asked2
    pane_has 'bawn asks:'
    sleep 0.5
    key n
    pane_has '^status 2'
    wait_for grep -q '"by": "terminal"' said
    [ -e asked ]
    [ ! -e asked2 ]
}
