#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# 'bawn apply --interactive': what a command changed, taken piece by piece.
# shellcheck disable=SC2016,SC2154,SC2164 # words for the shell inside; run sets stderr; a cd that fails ends the test
load common
load panes

setup() {
    cli_setup
    seq 40 >lines
    session=i${BATS_SUITE_TEST_NUMBER:-0}-$$
}

teardown() {
    panes_teardown
    forget_changes
}

# inside WORDS...: in the overlay of this test's session.
inside() { "$BAWN" run -q --overlay . --session "$session" -- sh -c "$1"; }

# answered LINE...: the questions with these answers.
answered() { printf '%s\n' "$@" | "$BAWN" apply "$session" --interactive "${options[@]}"; }
options=()

# Lines of a file in one.
some() { sed -n "$1" "${2:-lines}" | xargs; }

# That nothing was left lying about.
place() { echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/changes/$session"; }

@test "interactive: y takes a hunk, n leaves it, and what is left can be taken later" {
    inside 'sed -i "s/^3$/x/;s/^20$/y/;s/^38$/z/" lines'
    run -0 --separate-stderr answered y n y
    [[ $output == "diff --git a/lines b/lines"*"@@ -1,6 +1,6 @@"*"(1/3) Take this hunk [y,n,q,a,d,j,J,g,/,e,?]? @@"* ]]
    [[ $output == *"(3/3) Take this hunk [y,n,q,a,d,K,g,/,e,?]? "*"applied 1 change of session $session, 1 of them in part" ]]
    [ "$(some '3p;20p;38p')" = "x 20 z" ]
    run -0 "$BAWN" diff "$session"
    [[ $output == *-20*+y* ]]
    [[ $output != *+x* ]]
    "$BAWN" undo "$session"
    [ "$(some '3p;20p;38p')" = "3 20 38" ]
    run -0 answered n y n
    [ "$(some '3p;20p;38p')" = "3 y 38" ]
    run -0 "$BAWN" apply "$session"
    [ "$(some '3p;20p;38p')" = "x y z" ]
    run -0 --separate-stderr "$BAWN" diff "$session"
    [[ $stderr == *"has no changes"* ]]
}

@test "interactive: all hunks are the whole, no hunk is nothing, the end of the answers is q" {
    inside 'sed -i "s/^3$/x/;s/^38$/z/" lines; echo new >new'
    run -0 answered n n n
    [[ $output == *"applied 0 changes of session $session; 2 stay in the session" ]]
    run -0 answered y
    [ "$(some '3p;38p')" = "x 38" ]
    [ ! -e new ]
    run -0 answered q y
    [ "$(some '3p;38p')" = "x 38" ]
    [ ! -e new ]
    run -0 --separate-stderr "$BAWN" apply "$session" -i </dev/null
    [ ! -e new ]
    run -0 answered y y
    [[ $output == *"applied 2 changes of session $session" ]]
    [ "$(some '3p;38p')" = "x z" ]
    [ "$(cat new)" = new ]
}

@test "interactive: a and d count for the rest of a file, q for all that comes" {
    for name in f g h; do seq 60 >$name; done
    inside 'sed -i "s/^3$/x/;s/^20$/y/;s/^40$/z/;s/^58$/w/" f g h'
    run -0 answered n a d y q
    [ "$(some '3p;20p;40p;58p' f)" = "3 y z w" ]
    [ "$(some '3p;20p;40p;58p' g)" = "3 20 40 58" ]
    [ "$(some '3p;20p;40p;58p' h)" = "x 20 40 58" ]
}

@test "interactive: s splits, j J k K g and / go about, and only keys that make sense are there" {
    inside 'sed -i "s/^3$/x/;s/^5$/y/;s/^7$/z/;s/^38$/w/" lines'
    run -0 --separate-stderr answered K k s s J j K g4 'g 9' gx /y '/nothing' '/[' 'g' 2 y q
    [[ $output == *"Split into 3 hunks."* ]]
    [[ $output == *" 1:  -1,4 +1,4          -3"*" 4:  -35,6 +35,6        -38"*"go to which hunk? "* ]]
    [[ $stderr == "No previous hunk
No previous hunk
Sorry, cannot split this hunk
Sorry, only 4 hunks available.
Invalid number: 'x'
No hunk matches the given pattern
Malformed search regexp [: "?* ]]
    [ "$(some '3p;5p;7p;38p')" = "3 y 7 38" ]
    run -0 --separate-stderr answered '?' s '?' n y /w y
    [[ $output == *"y - take this hunk"*"s - split"*"? - print help"* ]]
    [ "$(some '3p;5p;7p;38p')" = "3 y z w" ]
}

@test "interactive: e edits a hunk, in a directory that goes again; what does not apply is said and asked again" {
    inside 'sed -i "s/^3$/x/;s/^4$/y/" lines'
    printf '#!/bin/sh\nstat -c %%a "$(dirname "$1")" >"$MODE"\nsed -i "/^+y/d;s/^-4/ 4/" "$1"\n' >"$BATS_TEST_TMPDIR/ed"
    printf '#!/bin/sh\nsed -i "s/^ 2/ two/" "$1"\n' >"$BATS_TEST_TMPDIR/bad"
    printf '#!/bin/sh\n: >"$1"\n' >"$BATS_TEST_TMPDIR/nothing"
    chmod +x "$BATS_TEST_TMPDIR"/{ed,bad,nothing}
    export VISUAL='' EDITOR=$BATS_TEST_TMPDIR/bad MODE=$BATS_TEST_TMPDIR/mode
    run -0 answered e x y n n
    [ "$(grep -o 'Your edited hunk does not apply' <<<"$output" | wc -l)" = 3 ]
    [ "$(some '3p;4p')" = "3 4" ]
    EDITOR=$BATS_TEST_TMPDIR/nothing run -0 answered e n
    EDITOR=false run -0 --separate-stderr answered e n
    [ "$stderr" = "There was a problem with the editor 'false'." ]
    [ "$(some '3p;4p')" = "3 4" ]
    VISUAL="sh $BATS_TEST_TMPDIR/ed" run -0 answered e
    [ "$(some '3p;4p')" = "4 x" ]
    [ "$(cat "$MODE")" = 700 ]
    run -0 find "$(place)" -maxdepth 1 -name 'edit*'
    [ -z "$output" ]
    run -0 "$BAWN" apply "$session"
    [ "$(some '3p;4p')" = "x y" ]
}

@test "interactive: with the same answers git add -p asks the same and gives the same files" {
    command -v git
    for seed in 1 2 3 4; do
        mkdir "$seed"
        run -0 bash -c 'cd "$0" && "$@"' "$seed" python3 "$BATS_TEST_DIRNAME/git_add.py" "$BAWN" "$session-$seed" "$seed"
    done
}

@test "interactive: what is no text is one question; a mode is asked about before the lines" {
    printf 'a\0' >bin && echo x >gone && mkdir old && echo 1 >old/f && ln -s a link && seq 200 >moved
    chmod 640 lines
    inside 'printf "b\0" >bin; rm gone; rm -r old; ln -sfn b link; mkdir -p d/e; echo 1 >d/e/f; mv moved d/m
        sed -i "s/^3$/x/;s/^38$/z/" lines; chmod 755 lines; mkfifo pipe; echo t >was; rm was; mkdir was'
    # bin, d/e/f, d/m, gone, the mode and two hunks of lines, link, old, pipe, was
    run -0 answered y y n y n y n y n n y
    [[ $output == *"Binary files"*"Take this change ["*"+1"*"Take this addition ["*"rename from moved"*"Take this move ["* ]]
    [[ $output == *"deleted file mode"*"Take this deletion ["*"old mode 100640"$'\n'"new mode 100755"*"(1/3) Take this mode change ["* ]]
    printf 'b\0' | cmp - bin
    [ -e d/e/f ]
    [ -e moved ]
    [ ! -e d/m ]
    [ ! -e gone ]
    [ "$(readlink link)" = b ]
    [ -e old/f ]
    [ "$(stat -c %a lines)" = 640 ]
    [ "$(some '3p;38p')" = "x 38" ]
    [ ! -e pipe ]
    [ -d was ]
}

@test "interactive: protected paths, what is never taken, and conflicts are named and left" {
    mkdir -p .git/hooks && seq 40 >both && seq 40 >other
    inside 'echo evil >.git/hooks/post-commit; sed -i "s/^3$/x/" both; sed -i "s/^3$/x/;s/^38$/z/" other; echo ok >ok
        python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"'
    sed -i 's/^3$/host/' both
    run -0 --separate-stderr answered y y
    [[ $output != *"Take this"*"evil"* ]]
    [[ $output == *"3 stay in the session" ]]
    [[ $stderr == *"bawn: left: $WORK/.git/hooks/post-commit"*"--protected asks about it, too"* ]]
    [[ $stderr == *"bawn: left: $WORK/both was changed on the host"*"--conflicts mine or merge"* ]]
    [[ $stderr == *"bawn: left: $WORK/sock is a socket"* ]]
    [ "$(cat ok)" = ok ]
    [ ! -e .git/hooks/post-commit ]
    [ "$(some 3p both)" = host ]
    options=(--protected)
    run -0 answered y
    [ "$(cat .git/hooks/post-commit)" = evil ]
    options=(--conflicts mine both)
    run -0 answered y
    [ "$(some 3p both)" = x ]
}

@test "interactive: with merge the hunks are between your file and what is joined" {
    inside 'sed -i "s/^3$/x/;s/^30$/z/" lines'
    sed -i 's/^18$/host/' lines
    options=(--conflicts merge)
    run -0 answered n y
    [[ $output != *$'\n'[+-]host* ]]
    [[ $output != *$'\n'[+-]18* ]]
    [ "$(some '3p;18p;30p')" = "3 host z" ]
    options=()
    run -0 --separate-stderr answered y y
    [[ $stderr == *"was changed on the host"* ]]
    [ "$(some '3p;18p;30p')" = "3 host z" ]
    run -0 "$BAWN" apply "$session" --conflicts merge
    [ "$(some '3p;18p;30p')" = "x host z" ]
}

@test "interactive: paths and globs limit the questions; a dry run asks, and changes nothing; JSON is refused" {
    inside 'sed -i "s/^3$/x/;s/^38$/z/" lines; mkdir n; echo 1 >n/a.c; echo 2 >n/b'
    options=(--dry-run)
    run -0 answered y n y n
    [[ $output == *"partly   $WORK/lines"*"apply    $WORK/n"*"apply    $WORK/n/a.c"*"left     $WORK/n/b" ]]
    [ ! -e n ]
    [ "$(some '3p;38p')" = "3 38" ]
    options=(--file '*.c')
    run -0 answered y
    [ "$(ls n)" = a.c ]
    [ "$(some '3p;38p')" = "3 38" ]
    options=(n)
    run -0 answered y
    [ -e n/b ]
    [ "$(some '3p;38p')" = "3 38" ]
    options=(--json)
    run -125 --separate-stderr answered y
    [[ $output$stderr == *"--interactive and --json"* ]]
}

@test "interactive: names and contents that would steer a terminal are shown as text" {
    seq 20 >$'bad\033[31m\nname'
    inside '{ printf "\033]0;title\007\r\n\342\200\256bidi\n\202\n"; seq 19; printf "\033[2Jend\n"; } >"$(printf "bad\033[31m\nname")"
        printf "\033[2J" >"$(printf "new\r")"'
    run -0 --separate-stderr answered '?' g 1 /end $'/\033[' y y y
    [[ $output == *' 2:  '*'go to which hunk?'* ]]
    [[ $output == *'\x1b]0;title\x07\x0d'* ]]
    [[ $output == *'\u{202e}bidi'* ]]
    [[ $output == *'bad\x1b[31m\nname'* ]]
    [[ $output$stderr != *[$'\033\r\a\202']* ]]
    [[ $stderr == *'Malformed search regexp \x1b['* ]]
    [ "$(head -c 5 $'bad\033[31m\nname')" = $'\033]0;t' ]
    [[ $output != *$'\342\200\256'* ]]
    [ -e $'new\r' ]
}

@test "interactive: what you change while you are asked stops it, wholly" {
    echo other >other
    inside 'sed -i "s/^3$/x/;s/^38$/z/" lines; echo mine >other'
    run -1 --separate-stderr bash -c '{ echo y; sleep 1; echo changed >>lines; echo n; echo y; } | "$0" apply "$1" -i' "$BAWN" "$session"
    [[ $stderr == *"$WORK/lines was changed on the host just now"*"nothing was changed"* ]]
    [ "$(some '3p;38p')" = "3 38" ]
    [ "$(cat other)" = other ]
}

@test "interactive: on a terminal it asks in colour, and Ctrl-D ends the questions" {
    panes_setup
    inside 'sed -i "s/^3$/x/;s/^38$/z/" lines; echo new >new'
    pane_start 100 40
    keys "cd '$WORK'; '$BAWN' apply $session -i"
    pane_has '(1/2) Take this hunk \[y,n,q,a,d,j,J,g,/,e,?\]?'
    pane_colours | grep -q $'\033\[32m+x'
    keys y
    pane_has '(2/2) Take this hunk'
    key C-d
    pane_has 'applied 1 change of session .* 1 of them in part'
    [ "$(some '3p;38p')" = "x 38" ]
    [ ! -e new ]
    keys "clear; EDITOR=false '$BAWN' apply $session -i"
    pane_has '(1/1) Take this hunk'
    key C-c
    pane_has '^\$'
    [ "$(some '3p;38p')" = "x 38" ]
}

# review COMMAND: a run on the pane that is reviewed, up to its question. The status is the command's.
review() {
    keys "'$BAWN' run --review --overlay . --session '$session' -- sh -c '$1'; echo status \$?"
    pane_has '^Take it \[t,c,k,drop,?\]?'
}

@test "interactive: --review on a terminal shows what changed, and asks what is to become of it" {
    panes_setup
    export PAGER='sed s/^/paged:/'
    pane_start 100 60
    echo one >a

    review 'echo two >>a; exit 3'
    pane_has '^paged:+two'
    key x Enter
    pane_has '^drop - remove it'
    key Enter
    pane_has '^status 3'
    [ "$(cat a)" = one ]
    keys clear

    review 'echo three >>a'
    key c Enter
    pane_has '(1/1) Take this hunk'
    key y Enter
    pane_has 'applied 1 change of session'
    pane_has '^status 0'
    [ "$(cat a)" = $'one\ntwo\nthree' ]
    keys clear

    review 'echo four >>a; mkdir .git; echo evil >.git/config'
    key t Enter
    pane_has 'a/.git/config is protected\|/.git/config is protected'
    pane_has '^status 0'
    [ "$(cat a)" = $'one\ntwo\nthree' ]
    [ ! -e .git ]
    keys clear

    review 'true'
    key drop Enter
    pane_has 'discarded '
    run -125 "$BAWN" diff "$session"
    keys clear

    # Where nothing changed nothing is asked.
    keys "'$BAWN' run --review --overlay . --session '$session' -- true; echo status \$?"
    pane_has '^status 0'
    pane_lacks 'Take it'
}
