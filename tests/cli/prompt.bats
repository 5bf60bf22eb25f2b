#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # words of the shells inside
# Questions on the user's terminal: what is shown, what answers, and the screen afterwards.

load common
load panes

setup() {
    sessions_setup
    panes_setup
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'sandbox:\n  confirm: ["**/asked*"]\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    # The plan is made before anybody watches the clock.
    "$BAWN" run -- true
}

teardown() {
    panes_teardown
    sessions_teardown
}

@test "once: the file is written, and the next write asks again" {
    pane_start
    keys "$BAWN run -- sh -c 'echo one >asked; echo two >asked; echo status \$?'"
    asked 'wants    to write .*/work/asked$'
    pane_has '^process  .*/[a-z]*sh, pid [0-9]*'
    pane_has '^command  sh -c '
    pane_has '^why      confirm \*\*/asked\*; by open'
    key o
    asked 'wants    to write .*/work/asked$'
    [ "$(<asked)" = one ]
    key n
    pane_has '^status 2'
    [ "$(<asked)" = one ]
}

@test "session: the same thing is not asked again, another is" {
    pane_start
    keys "$BAWN run -- sh -c 'for i in 1 2 3; do echo \$i >asked; done; echo x >asked2; echo status \$?'"
    asked 'wants    to write .*/work/asked$'
    key s
    asked 'wants    to write .*/work/asked2$'
    [ "$(<asked)" = 3 ]
    key Escape
    pane_has '^status 2'
    [ ! -e asked2 ]
}

@test "Enter, Escape and Ctrl-C are no; N is no for the session, q for all" {
    pane_start
    for no in Enter Escape C-c n N q; do
        keys "clear; $BAWN run -q -- sh -c 'echo x >asked; echo status \$?'"
        asked 'wants    to write'
        key "$no"
        pane_has '^status 2'
        [ ! -e asked ]
    done
    keys "clear; $BAWN run -q -- sh -c 'echo x >asked; echo x >asked; echo status \$?'"
    asked 'wants    to write'
    key N
    pane_has '^status 2'
    keys "clear; $BAWN run -q -- sh -c 'echo x >asked; echo x >asked2; echo status \$?'"
    asked 'wants    to write'
    key q
    pane_has '^status 2'
    [ ! -e asked ]
    [ ! -e asked2 ]
}

@test "what is typed ahead, and pasted, answers nothing" {
    pane_start
    keys "$BAWN run -- sh -c 'echo ready; sleep 1; echo x >asked; echo status \$?'"
    pane_has '^ready'
    for _ in {1..20}; do
        key o
        sleep 0.1
    done
    pane_has 'bawn asks:'
    [ ! -e asked ]
    sleep 0.8
    tmux_at set-buffer -- osdpa
    tmux_at paste-buffer -p
    sleep 0.3
    pane_has 'bawn asks:'
    [ ! -e asked ]
    key o
    pane_has 'status 0'
    [ -e asked ]
}

@test "vim: its screen is as it was, and typing goes on" {
    pane_start
    keys "$BAWN run -- vim -u NONE -N -n -i NONE asked.txt"
    pane_has '"asked.txt" \[New\]'
    key ione Enter two Escape
    keys ":set number"
    pane_has '^ *2 two'
    keys ":silent write"
    pane_has 'wants    to write .*/work/asked.txt$'
    sleep 0.8
    key o
    pane_lacks 'bawn asks'
    pane_has '^ *1 one'
    pane_has '^ *2 two'
    pane_has '^~'
    key othree Escape
    pane_has '^ *3 three'
    # Another of its programs asks, while it is in the middle of a word.
    keys ":call job_start(['sh', '-c', 'sleep 1; echo x >asked2'])"
    key ofour
    pane_has 'wants    to write .*/work/asked2$'
    before=$(pane_before)
    sleep 0.8
    key n
    pane_lacks 'bawn asks'
    pane_has '^ *4 four'
    key five Escape
    pane_has '^ *4 fourfive'
    keys ":quit!"
    pane_has '^\$ *$'
    [ "$(<asked.txt)" = $'one\ntwo' ]
    [ ! -e asked2 ]
    [ -n "$before" ]
}

@test "less and a program that draws once: the screen is the same, byte by byte" {
    pane_start
    seq 100 | sed 's/^/line /' >long
    printf '%s\n' 'printf "\033[?1049h\033[H\033[2J\033[3;5H\033[31mred\033[m\033[5;5H"; printf "\033(0lqk\033(B"' \
        'touch drawn; until [ -e go ]; do sleep 0.05; done; (echo x >asked) 2>/dev/null; touch answered; sleep 100' >draw.sh
    keys "$BAWN run -- sh draw.sh"
    wait_for test -e drawn
    sleep 0.3
    before=$(pane_colours)
    touch go
    asked 'wants    to write'
    key n
    wait_for test -e answered
    pane_lacks 'bawn asks'
    [ "$(pane_colours)" = "$before" ]
    key C-c
    keys "$BAWN run -- sh -c '(sleep 1.5; echo x >asked) 2>/dev/null & less long'"
    pane_has '^line 23'
    before=$(pane_colours)
    asked 'wants    to write'
    key n
    pane_lacks 'bawn asks'
    [ "$(pane_colours)" = "$before" ]
    key Space
    pane_has '^line 46'
    key q
}

@test "a Python prompt and a shell that prints: nothing is lost, nothing is mixed" {
    pane_start
    keys "$BAWN run -- python3 -q"
    pane_has '^>>>'
    keys "open('asked', 'w').write('abc')"
    asked 'wants    to write'
    key o
    pane_has '^3$'
    keys "6 * 7"
    pane_has '^42$'
    key C-d
    pane_has '^\$$'
    keys "clear; $BAWN run -- sh -c '(sleep 0.5; echo x >asked) & seq 1 20; sleep 1; seq 21 200000 | tail -n 180000; wait' >/dev/tty; echo all"
    asked 'wants    to write'
    key n
    pane_has '^all'
    run -0 tmux_at capture-pane -p -S -50
    [[ $output == *$'\n199999\n200000\n'* ]]
}

@test "a narrow window, one that is too small, and one that changes" {
    pane_start 40 10
    name=asked$(printf 'x%.0s' {1..150})END
    keys "$BAWN run -- sh -c 'echo x >$name; echo status \$?'"
    asked 'END$'
    pane_has '^wants    to write /'
    pane_has '^ +[0-9]'
    pane_has '\[q\]uiet$'
    key v
    pane_has '^1-[0-9]* of [0-9]* lines'
    key End
    pane_has '^rule '
    tmux_at resize-window -x 240 -y 24
    pane_has "$name\$"
    tmux_at resize-window -x 20 -y 5
    pane_has '^window larger'
    key o
    sleep 0.8
    [ ! -e "$name" ]
    tmux_at resize-window -x 80 -y 24
    pane_has 'bawn asks: if'
    sleep 0.8
    key o
    pane_has '^status 0'
    [ -e "$name" ]
}

@test "hostile names are shown escaped, and nothing of them is obeyed" {
    pane_start 160 24
    printf '%s\n' 'import os, sys' 'for name in "asked\x1b[2J\x1b]0;evil\x07x", "asked\nwants    to read y", "asked\u202egpj.x\u200b":' \
        '    try: open(name, "w")' '    except OSError as e: print("status", e.errno)' >hostile.py
    keys "$BAWN run -- python3 hostile.py"
    asked 'asked\\x1b\[2J\\x1b\]0;evil\\x07x$'
    [ "$(tmux_at display-message -p '#{pane_title}')" != evil ]
    key n
    asked 'asked\\nwants    to read y$'
    [ "$(tmux_at capture-pane -p | grep -c '^wants')" = 1 ]
    key n
    asked 'asked\\u{202e}gpj.x\\u{200b}$'
    key n
    pane_has '^status 13'
}

@test "Ctrl-Z stops it with its question, which is there again afterwards" {
    pane_start
    keys "$BAWN run -- sh -c 'echo x >asked; echo status \$?'"
    asked 'wants    to write'
    key C-z
    pane_has 'Stopped'
    keys 'stty -a | grep -o " echo "'
    pane_has '^ echo'
    keys fg
    asked 'wants    to write'
    key o
    pane_has '^status 0'
}

@test "several wait; one whose command is killed goes away, and its window closed is no" {
    pane_start
    keys "$BAWN run -q -- sh -c 'sh -c \"echo x >asked1\" & one=\$!; sh -c \"echo x >asked2\" & sleep 2; kill -9 \$one; wait; echo all'"
    asked '1 more waits'
    pane_has 'to write .*/asked2$'
    pane_lacks 'more waits'
    sleep 0.8
    key o
    pane_has '^all'
    [ -e asked2 ]
    [ ! -e asked1 ]
    keys "$BAWN run -q -- sh -c 'trap \"\" HUP; echo x >asked1; echo \$? >status'"
    asked 'asked1$'
    tmux_at kill-server
    wait_for test -s status
    [ "$(<status)" = 2 ]
    [ ! -e asked1 ]
}

@test "what is printed into a pipe is asked about in lines, on the terminal" {
    pane_start
    keys "$BAWN run -q -- sh -c 'echo x >asked; echo status \$?; echo x >asked2; echo status \$?' | tee log"
    pane_has 'Enter alone is no:$'
    sleep 0.8
    keys zzz
    pane_has 'one letter and Enter'
    keys o
    pane_has 'to write .*/asked2$'
    pane_has 'status 0' # tee prints when it likes
    sleep 0.8
    key Enter
    pane_has '^status 2'
    [ -e asked ]
    [ ! -e asked2 ]
    [ "$(<log)" = $'status 0\nstatus 2' ]
    # A terminal of which nobody knows what it can do.
    keys "clear; TERM=dumb $BAWN run -q -- sh -c 'echo x >asked2; echo status \$?'"
    pane_has 'Enter alone is no:$'
    sleep 0.8
    keys s
    pane_has '^status 0'
}

@test "nobody is asked: in the background, behind a pager, with --prompt never, detached, without a terminal" {
    pane_start
    keys "$BAWN run -q -- sh -c 'echo x >asked; echo status \$?' &"
    pane_has '^status 2'
    keys "clear; $BAWN run -q --prompt never -- sh -c 'echo x >asked; echo status \$?'"
    pane_has '^status 2'
    keys "clear; $BAWN run -q -- sh -c 'sleep 1; echo x >asked; echo status \$?' | less"
    pane_has '(END)' # the screen is less's, and nothing of the commands before is on it
    pane_has 'status 2' # the shell's error message does not go through less, and may stand on the same line
    key q
    run -0 timeout 20 setsid "$BAWN" run -q -- sh -c 'echo x >asked; echo status $?' </dev/null
    [[ $output == *"status 2"* ]]
    "$BAWN" run -q --detach -- sh -c 'echo x >asked; echo $? >status'
    wait_for test -s status
    [ "$(<status)" = 2 ]
    [ ! -e asked ]
}

@test "--prompt takes auto and never" {
    run -0 "$BAWN" run --prompt auto -- true
    run --separate-stderr -125 "$BAWN" run --prompt maybe -- true
    has_error_and_hint
}
