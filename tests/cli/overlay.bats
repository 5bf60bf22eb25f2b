#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a command writes to an overlay: kept apart, shown, taken, given back, dropped.
# shellcheck disable=SC2016,SC2154,SC2164 # words for the shell inside; run sets stderr; a cd that fails ends the test
load common

setup() {
    cli_setup
    mkdir -p sub/deep .git/hooks
    echo one >a
    printf 'int main(void)\n{\n    return 0;\n}\n' >main.c
    echo deep >sub/deep/f
    ln -s a link
    session=t${BATS_SUITE_TEST_NUMBER:-0}-$$
}

teardown() {
    forget_changes
}

# inside WORDS...: in the overlay of this test's session.
inside() { "$BAWN" run -q --overlay . --session "$session" -- "$@"; }

# Leaks cannot be looked for below strace.
traced() { ASAN_OPTIONS=detect_leaks=0 strace -f "$@"; }

# Everything that is in the workspace, with modes, times and contents.
state() { (cd "$WORK" && find . -printf '%p %y %m %T@ %l %i\n' | sort && find . -type f -exec sha256sum {} + | sort); }

# Without the numbers of files: where the store is on another mount, what was there comes back as a copy.
unnumbered() { sed 's/ [0-9]*$//'; }

place() { echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/changes"; }

@test "overlay: the command sees what it wrote, and the workspace stays as it is to the bit" {
    before=$(state)
    run -0 inside sh -c 'echo two >>a; rm -r sub; mkdir sub; echo new >sub/n; mv main.c x.c; ln -sf /etc link; chmod 700 .;
        echo evil >.git/hooks/pre-commit; cat a sub/n; ls -A; readlink link'
    [ "$output" = $'one\ntwo\nnew\n.git\na\nlink\nsub\nx.c\n/etc' ]
    [ "$(state)" = "$before" ]
    # The same session finds it again, another does not.
    run -0 inside cat sub/n
    [ "$output" = new ]
    run -1 "$BAWN" run -q --overlay . -- cat sub/n
    "$BAWN" discard "$session"
    [ "$(state)" = "$before" ]
    [ ! -e "$(place)/$session" ]
    run -1 inside cat sub/n
}

@test "overlay: the end of a run tells what changed, and nothing where nothing did" {
    run -0 --separate-stderr "$BAWN" run --overlay . --session "$session" -- sh -c 'echo x >>a; echo y >y; rm link'
    [ "$stderr" = "bawn: 1 file changed, 1 added, 1 deleted (bawn diff $session, bawn apply $session, bawn discard $session)" ]
    # What was written and taken back again is nothing.
    run -0 --separate-stderr "$BAWN" run --overlay . --session "$session" -- sh -c 'echo one >a; rm y; ln -s a link'
    [ -z "$stderr" ]
    [ ! -e "$(place)/$session" ]
    run -0 --separate-stderr "$BAWN" run --overlay . --session "$session" -- cat a
    [ -z "$stderr" ]
    [ ! -e "$(place)/$session" ]
    run -0 --separate-stderr "$BAWN" run -q --overlay . --session "$session" -- touch new
    [ -z "$stderr" ]
    [ -d "$(place)/$session" ]
}

@test "overlay: diff shows lines, lists, counts, JSON, and a patch that git takes" {
    inside sh -c 'sed -i "s/return 0/return 1/" main.c; rm link; mkdir n; echo 1 >n/f; mv a b; printf "\033[31mred\n" >esc; printf "\0\1" >bin'
    run -0 --separate-stderr "$BAWN" diff "$session" main.c
    [ "$output" = 'diff --git a/main.c b/main.c
--- a/main.c
+++ b/main.c
@@ -1,4 +1,4 @@
 int main(void)
 {
-    return 0;
+    return 1;
 }' ]
    run -0 --separate-stderr "$BAWN" diff "$session" --list
    [ "$output" = $'R  a -> b\nA  bin\nA  esc\nD  link\nM  main.c\nA  n/\nA  n/f' ]
    run -0 "$BAWN" diff "$session" esc
    [[ $output == *'+\x1b[31mred'* ]]
    [[ $output != *$'\033'* ]]
    run -0 "$BAWN" diff "$session" --stat
    [[ $output == *" main.c | +1 -1"* ]]
    run -0 "$BAWN" diff "$session" --json
    python3 -c 'import json, sys
rows = {row["path"]: row for row in json.load(sys.stdin)}
assert rows["main.c"]["kind"] == "changed" and "content" in rows["main.c"]["what"], rows
assert rows["b"]["from"] == "a" and rows["link"]["kind"] == "deleted", rows' <<<"$output"
    # As git sees it, it is what the command saw.
    "$BAWN" diff "$session" --patch >"$BATS_TEST_TMPDIR/patch"
    cp -a . "$BATS_TEST_TMPDIR/copy"
    git -C "$BATS_TEST_TMPDIR/copy" apply "$BATS_TEST_TMPDIR/patch"
    inside sh -c 'find . -type f -exec sha256sum {} + | sort' >"$BATS_TEST_TMPDIR/inside"
    (cd "$BATS_TEST_TMPDIR/copy" && find . -type f -exec sha256sum {} + | sort) | diff - "$BATS_TEST_TMPDIR/inside"
}

@test "overlay: apply takes all, undo gives it back, and what was taken leaves the session" {
    before=$(state | unnumbered)
    inside sh -c 'echo two >>a; rm -r sub; mkdir sub; echo new >sub/n; mv main.c x.c; chmod 600 a; ln -sf b link; ln a hard'
    run -0 "$BAWN" apply "$session" --dry-run
    [[ $output == *"apply    $WORK/a"* ]]
    [ "$(state | unnumbered)" = "$before" ]
    run -0 "$BAWN" apply "$session"
    [[ $output == "applied "*" changes of session $session" ]]
    [ "$(cat a)" = $'one\ntwo' ]
    [ "$(stat -c %a a)" = 600 ]
    [ "$(ls sub)" = n ]
    [ -e x.c ]
    [ ! -e main.c ]
    [ "$(readlink link)" = b ]
    [ a -ef hard ]
    run -0 --separate-stderr "$BAWN" diff "$session"
    [ -z "$output" ]
    [[ $stderr == *"has no changes"* ]]
    run -0 "$BAWN" undo "$session"
    # Directories have new times.
    [ "$(state | unnumbered | grep -v ' d ')" = "$(grep -v ' d ' <<<"$before")" ] ||
        diff <(state | unnumbered) <(echo "$before")
    run -125 "$BAWN" undo "$session"
}

@test "overlay: what the host changed meanwhile stops an apply, wholly; mine, theirs and merge decide" {
    seq 20 >lines
    inside sh -c 'sed -i "s/^2$/two/" lines; echo x >>a; echo n >n'
    sed -i 's/^18$/eighteen/' lines
    before=$(state)
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"$WORK/lines"*"hint: "*"nothing was changed"* ]]
    [ "$(state)" = "$before" ]
    run -1 "$BAWN" apply "$session" --json
    python3 -c 'import json, sys
rows = {row["path"].rsplit("/", 1)[1]: row for row in json.load(sys.stdin)["paths"]}
assert rows["lines"]["fate"] == "conflict" and rows["lines"]["why"], rows' <<<"$output"
    run -0 "$BAWN" apply "$session" --conflicts merge
    [ "$(sed -n '2p;18p' lines)" = $'two\neighteen' ]
    [ "$(cat n)" = n ]
    # Where lines overlap nothing is joined.
    inside sh -c 'sed -i "s/^two$/inside/" lines'
    sed -i 's/^two$/outside/' lines
    run -1 "$BAWN" apply "$session" --conflicts merge
    grep -q outside lines
    run -0 "$BAWN" apply "$session" --conflicts theirs
    grep -q outside lines
    run -0 "$BAWN" apply "$session" --conflicts mine
    grep -q inside lines
}

@test "overlay: protected names are written inside, and taken only with --protected" {
    inside sh -c 'echo evil >.git/hooks/pre-commit; mkdir -p d/.vscode; echo {} >d/.vscode/tasks.json; echo ok >ok'
    [ ! -e .git/hooks/pre-commit ]
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *".git/hooks/pre-commit"*"--protected"* ]]
    [[ $stderr == *".vscode"* ]]
    [ ! -e ok ]
    [ ! -e d ]
    run -0 "$BAWN" apply "$session" ok
    [ "$(cat ok)" = ok ]
    [ ! -e .git/hooks/pre-commit ]
    run -0 "$BAWN" apply "$session" --protected
    [ "$(cat .git/hooks/pre-commit)" = evil ]
    [ -e d/.vscode/tasks.json ]
}

@test "overlay: paths and globs select; sockets and set-user-id are never taken" {
    inside sh -c 'mkdir n; echo 1 >n/x.c; echo 2 >n/y.h; echo 3 >z.c; printf "#!/bin/sh\n" >s; chmod 4755 s 2>/dev/null || true
        python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"'
    run -0 "$BAWN" apply "$session" --file '*.c'
    [ "$(find . -name '*.c' | sort)" = $'./main.c\n./n/x.c\n./z.c' ]
    [ ! -e n/y.h ]
    run -0 "$BAWN" apply "$session" n
    [ -e n/y.h ]
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"/sock"* ]]
    run -0 "$BAWN" apply "$session" --skip-unfit
    [ ! -e sock ]
    [ ! -u s ]
    run -125 --separate-stderr "$BAWN" apply "$session" /etc
    has_error_and_hint
}

@test "overlay: bad names, unknown sessions and sessions in use get clear errors" {
    for name in a/b .. -x "$(printf 'a\nb')" "$(printf '%070d' 1)"; do
        run --separate-stderr -125 "$BAWN" run --overlay . --session "$name" -- true
        has_error_and_hint
    done
    run --separate-stderr -125 "$BAWN" run --session x -- true
    [[ $stderr == *"no overlay"* ]]
    inside touch b
    "$BAWN" run -q --overlay . --session "$session" -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done' &
    sleep 0.7
    run --separate-stderr -125 inside true
    [[ $stderr == *"in use"* ]]
    for verb in apply discard undo; do
        run --separate-stderr -125 "$BAWN" "$verb" "$session"
        [[ $stderr == *"in use"* ]]
    done
    # Looking is always possible.
    run -0 "$BAWN" diff "$session" --list
    [[ $output == *"A  b"* ]]
    kill %1
    wait || true
    run -0 "$BAWN" ps --all
    [[ $output == *"$session"*"$WORK"* ]]
}

@test "overlay: a session whose launcher was killed is looked at by the next command" {
    "$BAWN" run -q --overlay . --session "$session" -- sh -c 'echo x >>a; touch ready; sleep 60' &
    launcher=$!
    for _ in $(seq 100); do "$BAWN" diff "$session" --list 2>/dev/null | grep -q ready && break; sleep 0.05; done
    kill -9 "$launcher"
    wait "$launcher" || true
    sleep 0.3
    run -0 "$BAWN" apply "$session"
    [ "$(cat a)" = $'one\nx' ]
}

@test "overlay: the profile static works for what reads the host, and asks nobody" {
    run -0 --separate-stderr "$BAWN" run --profile static --session "$session" -- sh -c 'cat /etc/hostname >n; ls /usr | head -n 1 >>n; git init -q r && ls -A r'
    [ "$output" = .git ]
    [ ! -e n ]
    [ ! -e r ]
    run -0 "$BAWN" apply "$session" n
    [ -s n ]
}

@test "overlay: check, why and plan say what happens" {
    run -0 "$BAWN" check --overlay . write .git/hooks/x
    run -0 "$BAWN" plan --overlay .
    [[ $output == *"overlay      $WORK"* ]]
    run -1 "$BAWN" check --overlay . --deny .env write .env
    run -0 --separate-stderr "$BAWN" run -q --overlay . --deny .env -- sh -c 'echo x >.env 2>/dev/null || echo refused'
    [ "$output" = refused ]
    echo secret >.env
    run -0 --separate-stderr "$BAWN" run -q --overlay . --deny .env -- sh -c 'cat .env 2>/dev/null || echo refused'
    [ "$output" = refused ]
}

@test "overlay: together with held calls, questions, limits, a debugger, a network, and further commands" {
    printf 'q\n' >asked
    printf 's\n' >.env
    sid=$("$BAWN" run -q --detach --overlay . --session "$session" --deny .env --debug --limits strict --best-effort \
        --net proxy --allow-host a.example --ask asked -- sh -c 'echo begun >>a; touch up; exec sleep 60')
    for _ in $(seq 100); do "$BAWN" exec "$sid" -- test -e up && break; sleep 0.05; done
    run -0 "$BAWN" exec "$sid" -- sh -c 'cat a; for f in asked .env; do cat $f 2>/dev/null || echo refused; done
        rm -r sub && mkdir sub && touch sub/n && mv a b && echo x >.git/hooks/x && python3 -c "
import ctypes
print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))"'
    [ "$output" = $'one\nbegun\nrefused\nrefused\n0' ]
    run -0 "$BAWN" diff "$session" --list
    [[ $output == *'A  .git/hooks/x'*'D  a'*'A  b'*'D  sub/deep'*'A  sub/n'* ]]
    "$BAWN" stop --timeout 0 "$sid" >/dev/null
    forget_kept
    run -0 "$BAWN" apply "$session" --protected
    [ "$(cat b)" = $'one\nbegun' ]
    [ "$(ls sub)" = n ]
    [ -e .git/hooks/x ]
    [ "$(cat .env)" = s ]
}

@test "overlay: what git keeps of a repository around the workspace is kept apart, too" {
    git init -q repo
    cd repo
    git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m one
    mkdir w
    cd w
    before=$(git rev-parse HEAD)
    run -0 "$BAWN" run -q --overlay . --session "$session" -- sh -c 'echo x >f && git add f && git -c user.name=a -c user.email=a@b.example commit -qm two && git log --oneline | wc -l'
    [ "$output" = 2 ]
    [ "$(git rev-parse HEAD)" = "$before" ]
    [ -z "$(git --no-optional-locks status --porcelain)" ]
    run -0 "$BAWN" apply "$session" --protected
    [ "$(git log --oneline | wc -l)" = 2 ]
    [ -z "$(git --no-optional-locks status --porcelain)" ]
    run -0 "$BAWN" undo "$session"
    [ "$(git rev-parse HEAD)" = "$before" ]
}

@test "overlay: a session that closes its own top can be looked at, and what was applied taken back" {
    inside sh -c 'echo two >>a'
    "$BAWN" apply "$session"
    inside sh -c 'echo x >x; chmod 000 .'
    run -0 "$BAWN" diff "$session" --list
    [[ $output == *'A  x'* ]]
    run -0 inside cat x
    [ "$output" = x ]
    run -0 "$BAWN" undo "$session"
    [ "$(cat a)" = one ]
}

@test "overlay: an apply of nothing says so, and leaves what undo needs" {
    inside sh -c 'echo two >>a'
    "$BAWN" apply "$session"
    run --separate-stderr -125 "$BAWN" apply "$session"
    has_error_and_hint
    run -0 "$BAWN" undo "$session"
    [ "$(cat a)" = one ]
    # What was taken back is a change of the session again.
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = 'M  a' ]
}

@test "overlay: --review shows what changed when the command has ended" {
    run -0 "$BAWN" run -q --review --overlay . --session "$session" -- sh -c 'echo two >>a'
    [[ $output == *'+two'* ]]
    # A session that lasts lets go of a pipe, so that who reads it notices its end; not of one that it needs.
    run -0 "$BAWN" run -q --review --overlay . --session "$session" -- sh -c 'sleep 1; echo three >>a'
    [[ $output == *'+three'* ]]
    # What is nothing is not shown.
    "$BAWN" discard "$session"
    run -0 "$BAWN" run --review --overlay . --session "$session" -- true
    [ -z "$output" ]
}

@test "overlay: attributes of the workspace itself are no change" {
    python3 -c 'import os; os.setxattr(".", "user.mine", b"1")'
    run -0 --separate-stderr "$BAWN" run --overlay . --session "$session" -- sh -c 'echo x >>a'
    [[ $stderr == *"bawn: 1 file changed ("* ]]
    "$BAWN" apply "$session"
    [ "$(python3 -c 'import os; print(os.getxattr(".", "user.mine"))')" = "b'1'" ]
}

@test "overlay: what was written just before is no conflict, and a path is no pattern" {
    for number in 1 2 3 4 5 6; do
        echo "$number" >a
        inside sh -c 'echo x >>a; echo 1 >"[a]"; echo 2 >"*"; echo 3 >b'
        run -0 "$BAWN" apply "$session" a
        [ "$(cat a)" = "$number"$'\nx' ]
        [ ! -e b ]
    done
    run -0 "$BAWN" apply "$session" '*'
    [ "$(cat '*')" = 2 ]
    [ ! -e b ]
    run -0 "$BAWN" apply "$session" '[a]'
    [ ! -e b ]
    run -125 "$BAWN" apply "$session" ''
    run -125 "$BAWN" apply "$session" --file ''
    [ ! -e b ]
}

@test "overlay: an apply that was killed is finished or taken back before anything else" {
    command -v strace >/dev/null || skip "no strace"
    for n in 1 2 3 4; do
        echo v0 >f
        rm -f new
        inside sh -c 'echo v1 >f; echo n1 >new'
        strace -o "$BATS_TEST_TMPDIR/log" -f -e trace=renameat2 -e "inject=renameat2:signal=KILL:when=$n" \
            "$BAWN" apply "$session" || true
        run -0 inside sh -c 'cat f new; echo v2 >f'
        [ "${lines[-2]} ${lines[-1]}" = "v1 n1" ]
        run -0 "$BAWN" apply "$session"
        [ "$(cat f new)" = $'v2\nn1' ]
        [ -z "$(find . -name '.bawn-*')" ]
        "$BAWN" discard "$session"
    done
}

@test "overlay: neither start nor end look at what is in the tree and did not change" {
    command -v strace >/dev/null || skip "no strace"
    mkdir -p many/{1..200}
    for i in {1..200}; do : >"many/$i/never-looked-at"; done
    "$BAWN" run -q --overlay . -- true
    traced -o "$BATS_TEST_TMPDIR/log" "$BAWN" run --overlay . --session "$session" -- sh -c 'echo x >>many/7/changed'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = 'A  many/7/changed' ]
    grep -q '"many/7/changed"' "$BATS_TEST_TMPDIR/log"
    run -1 grep 'never-looked-at' "$BATS_TEST_TMPDIR/log"
    traced -o "$BATS_TEST_TMPDIR/log" "$BAWN" diff "$session" --list
    run -1 grep 'never-looked-at' "$BATS_TEST_TMPDIR/log"
}

@test "overlay: a new .git is no protected path as long as it is a directory; what git obeys in it is one" {
    inside sh -c 'mkdir -p repo/.git; echo x >repo/.git/description; echo "gitdir: /tmp" >gitfile; mkdir other; mv gitfile other/.git'
    run -0 "$BAWN" apply "$session" repo
    [ -f repo/.git/description ]
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"other/.git is protected"* ]]
    [ ! -e other ]
    inside sh -c 'rm -r other; echo evil >repo/.git/config'
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"repo/.git/config is protected"* && $stderr != *"repo/.git is protected"* ]]
    inside sh -c 'rm repo/.git/config; rm -r repo/.git; ln -s /tmp repo/.git'
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"repo/.git is protected"* ]]
    [ -f repo/.git/description ]
}

@test "overlay: what was changed since an apply stops undo, unless it is forced" {
    inside sh -c 'echo two >>a; echo new >n; rm main.c'
    "$BAWN" apply -q "$session"
    echo mine >>a
    run -1 --separate-stderr "$BAWN" undo "$session"
    [[ $stderr == *"$WORK/a was changed since it was applied"*"hint: "*"--force"*"nothing was changed"* ]]
    [ "$(tail -n 1 a)" = mine ]
    [ -e n ]
    run -1 "$BAWN" undo "$session" --json
    [[ $output == *'"fate": "take back"'* ]]
    # Something else in its place is not what was applied.
    rm n && mkdir n
    run -1 "$BAWN" undo "$session" --force
    rmdir n && echo new >n
    run -0 "$BAWN" undo "$session" --force --json
    [[ $output == *'"fate": "taken back"'* ]]
    [ "$(cat a)" = one ]
    [ ! -e n ]
    [ -e main.c ]
}

@test "overlay: without a name it is the session of this directory, and no other" {
    inside sh -c 'echo two >>a'
    mkdir "$BATS_TEST_TMPDIR/elsewhere"
    cd "$BATS_TEST_TMPDIR/elsewhere"
    for verb in diff apply undo discard; do
        run -125 --separate-stderr "$BAWN" $verb
        [[ $stderr == *"no session has changes to this directory"*"hint: name the session; "* ]]
    done
    cd "$WORK/sub"
    run -0 "$BAWN" diff --list
    [ "$output" = 'M  a' ]
    # Of two that one which has something left.
    "$BAWN" run -q --overlay "$WORK" -C "$WORK" --session "$session-b" -- touch b
    run -125 --separate-stderr "$BAWN" diff
    [[ $stderr == *"which session? These have changes to this directory: $session, $session-b"* ]]
    "$BAWN" apply -q "$session-b"
    run -0 "$BAWN" diff --list
    [ "$output" = 'M  a' ]
    # A word that is no session and no path is neither.
    cd "$WORK"
    for words in typo "a typo"; do
        # shellcheck disable=SC2086
        run -125 --separate-stderr "$BAWN" apply "$session" $words
        [[ $stderr == *"'typo' is neither a session nor a path"* ]]
    done
    [ "$(cat a)" = one ]
}

@test "overlay: a patch has nothing of .git, and git takes it where the command committed" {
    git init -q .
    git add a main.c
    git -c user.name=a -c user.email=a@b.example commit -qm one
    inside sh -c 'echo two >>a; git -c user.name=a -c user.email=a@b.example commit -qam two; rm -r sub; mkdir -p new/.git; echo x >new/.git/x; echo y >new/y'
    "$BAWN" diff "$session" --patch >"$BATS_TEST_TMPDIR/patch"
    grep -q '^# not in this patch, or not all of it: .*\.git/' "$BATS_TEST_TMPDIR/patch"
    run -1 grep -E '^diff --git .*\.git/' "$BATS_TEST_TMPDIR/patch"
    git apply "$BATS_TEST_TMPDIR/patch"
    [ "$(cat a new/y)" = $'one\ntwo\ny' ]
    [ ! -e sub ]
}

@test "overlay: options that go against each other are refused, and a time without a unit" {
    run -125 --separate-stderr "$BAWN" run --review --detach --overlay . -- true
    has_error_and_hint
    run -125 --separate-stderr "$BAWN" run --review -- true
    has_error_and_hint
    inside touch x
    run -125 --separate-stderr "$BAWN" gc --older 1
    has_error_and_hint
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = 'A  x' ]
    run -125 --separate-stderr "$BAWN" run --overlay nosuch -- true
    [[ $stderr != *rw-new* ]]
}

@test "overlay: a link at a name below which something is protected is taken only with --protected" {
    mkdir -p .git/info
    inside sh -c 'mkdir tools q; echo x >tools/config.toml; echo "*.c filter=evil" >tools/attributes; ln -s a plain
        for name in .cargo .hg .yarn sub.git .config .git/modules; do ln -s tools $name; done
        rm -r .git/info; ln -s ../tools .git/info; ln -s ../tools q/.cargo'
    run -1 --separate-stderr "$BAWN" apply "$session"
    for name in .cargo .hg .yarn sub.git .config .git/modules .git/info q/.cargo; do
        [[ $stderr == *"$WORK/$name is protected: what the link leads to"* ]]
        run -1 "$BAWN" apply "$session" "$name"
        [ ! -L "$name" ]
        run -1 --separate-stderr "$BAWN" apply "$session"
    done
    [[ $stderr != *"/plain is"* && $stderr != *"/tools"*"is protected"* ]]
    run -0 "$BAWN" apply "$session" tools plain
    [ -L plain ]
    run -0 "$BAWN" apply "$session" --protected
    [ -L .cargo ]
}

@test "overlay: what an apply puts beside its place is out of reach for other sandboxes" {
    mkdir .bawn-apply-1-0 plain
    echo staged >.bawn-apply-1-1
    run -0 --separate-stderr "$BAWN" run -q -- sh -c 'for f in .bawn-apply-1-1 .bawn-apply-1-0/x .bawn-apply-1-2 plain/x; do
        echo evil 2>/dev/null >$f && echo $f; done; mv .bawn-apply-1-1 moved 2>/dev/null; ln .bawn-apply-1-1 linked 2>/dev/null; cat .bawn-apply-1-1; ls'
    [ "$output" = $'plain/x\nstaged\na\nlink\nmain.c\nplain\nsub' ]
    # A whole apply, while another sandbox opens all that it finds and goes on writing.
    rm -r .bawn-apply-*
    inside sh -c 'for i in $(seq 400); do echo reviewed >f$i; done; mkdir .vscode; echo reviewed >.vscode/tasks.json'
    "$BAWN" run -q -- python3 -c '
import glob, os, time
end, got = time.time() + 4, 0
open("ready", "w").close()
while time.time() < end:
    for name in glob.glob(".bawn-apply-*") + glob.glob(".bawn-apply-*/*") + glob.glob(".vscode/*"):
        try:
            os.write(os.open(name, os.O_RDWR | os.O_TRUNC), b"evil")
        except OSError:
            pass
' 3>&- &
    for _ in $(seq 100); do [ ! -e ready ] || break; sleep 0.05; done
    "$BAWN" apply -q "$session" --protected
    wait
    [ "$(cat f* .vscode/tasks.json | sort | uniq -c | xargs)" = "401 reviewed" ]
}

@test "overlay: a project that makes overlays of what it is granted keeps nothing from being masked" {
    mkdir .bawn dir
    for text in 'overlay_all: true' 'paths: {w: {root: ., mode: overlay}}'; do
        printf 'version: 1\nsandbox:\n  %s\n' "$text" >.bawn/policy.yaml
        (sleep 1.2; echo secret >dir/x.pem; mkdir dir/new; echo secret >dir/new/y.pem) 3>&- &
        run --separate-stderr "$BAWN" run -q --deny '*.pem' -- sh -c 'sleep 2.5; cat dir/x.pem dir/new/y.pem'
        wait
        [ -z "$output" ]
        [[ $stderr == *"dir/x.pem: Permission denied"* ]]
        rm -r dir/new dir/x.pem
    done
    printf 'version: 1\nsandbox:\n  limits: {layer_size: 100T}\n' >.bawn/policy.yaml
    run -0 --separate-stderr "$BAWN" plan --overlay .
    [[ $output == *"layer_size   half of the free room"* && $stderr == *"sandbox.limits.layer_size has no effect: a project"* ]]
}

@test "overlay: files of holes, files of many names and deep directories hold nobody up" {
    inside sh -c 'truncate -s 10T huge; mkdir names; head -c 8M /dev/urandom >names/0; for i in $(seq 150); do ln names/0 names/$i; done; cp names/0 one
        d=deep; for i in $(seq 500); do mkdir $d; d=$d/d; done; echo x >${d%/d}/file'
    run -0 timeout 60 "$BAWN" diff "$session"
    [[ $output == *"after: 10995116277760 bytes"* ]]
    [[ $output == *"8388608 bytes"* ]]
    run -0 timeout 60 "$BAWN" apply "$session" names deep one
    cmp names/150 one
    run -0 timeout 60 "$BAWN" undo "$session"
    [ ! -e names ]
    [ ! -e deep ]
}

@test "overlay: where the kernel makes none bawn refuses, says what to do, and leaves nothing" {
    command -v strace >/dev/null || skip "no strace"
    run -125 --separate-stderr traced -qq -o /dev/null -e trace=fsopen -e inject=fsopen:error=ENODEV \
        "$BAWN" run --overlay . --session "$session" -- touch x
    has_error_and_hint
    [[ $stderr == *"mount an overlay over $WORK: No such device"* ]]
    [ ! -e x ]
    [ ! -e "$(place)/$session" ]
    run traced -qq -o /dev/null -e trace=mount -e inject=mount:error=EPERM "$BAWN" plan --overlay .
    [[ $output == *"[not on this host] overlay $WORK (no overlayfs here: use mode rw, or private"* ]]
}

@test "overlay: a session that runs goes by the name of its changes, too" {
    sid=$("$BAWN" run -q --detach --overlay . --session "$session" -- sh -c 'touch up; exec sleep 60')
    for _ in $(seq 100); do "$BAWN" exec "$session" -- test -e up && break; sleep 0.05; done
    run -0 "$BAWN" status "$session"
    [[ $output == *"$sid"* ]]
    run -0 "$BAWN" ps --json
    [[ $output == *"\"changes\": \"$session\""* ]]
    # Of a command's own words nothing is believed.
    other=$("$BAWN" run -q --detach -- sh -c 'exec sleep 60' "\"changes\": \"$session-x\"")
    run -125 --separate-stderr "$BAWN" status "$session-x"
    has_error_and_hint
    "$BAWN" stop --timeout 0 "$other" >/dev/null
    run -0 "$BAWN" stop --timeout 0 "$session"
    # So it does afterwards; of several the last is meant.
    run "$BAWN" wait "$session"
    [ "$status" -ge 128 ]
    [[ $output == "$sid ended"* ]]
    sid=$("$BAWN" run -q --detach --overlay . --session "$session" -- sh -c 'echo said; exit 3')
    run -3 "$BAWN" wait "$session"
    [[ $output == "$sid ended"* ]]
    run -0 "$BAWN" logs "$session"
    [ "$output" = said ]
    # Whoever removes it by that name removes what all of them said, too.
    run -0 "$BAWN" rm "$session"
    run -125 "$BAWN" logs "$session"
    run -125 "$BAWN" logs "$sid"
    forget_kept
}

@test "overlay: what the host alone changed is no change of the session's" {
    inside sh -c 'touch sub/deep/n; echo t >sub/t; rm sub/t; exec 3<>a; echo x >>main.c'
    # A mode, a text that the session opened and did not change, a directory on the way.
    chmod 700 sub .
    echo host >a
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = $'M  main.c\nA  sub/deep/n' ]
    run -0 "$BAWN" apply "$session"
    [ "$(stat -c %a sub)" = 700 ]
    [ "$(stat -c %a .)" = 700 ]
    [ "$(cat a)" = host ]
    [ -e sub/deep/n ]
}

@test "overlay: what the session opened and the host removed does not come back" {
    inside sh -c 'exec 3<>a; echo t >sub/t; rm sub/t; echo new >new'
    rm -r a sub
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = "A  new" ]
    run -0 "$BAWN" apply "$session"
    [ ! -e a ]
    [ ! -e sub ]
}

@test "overlay: a directory that was removed meanwhile is made again only when told so" {
    inside touch sub/deep/n
    rm -r sub
    run -1 --separate-stderr "$BAWN" apply "$session"
    [[ $stderr == *"$WORK/sub was removed on the host since the session began with it"*"hint: "* ]]
    [ ! -e sub ]
    run -0 "$BAWN" apply "$session" --conflicts mine
    [ -e sub/deep/n ]
    [ ! -e sub/deep/f ]
}

@test "overlay: a later run of the session may change what an earlier one left alone" {
    inside sh -c 'exec 3<>a; exec 4<>main.c; touch new'
    inside sh -c 'echo two >>a'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = $'M  a\nA  new' ]
    echo host >>main.c
    inside sh -c 'echo session >>main.c'
    run -1 --separate-stderr "$BAWN" apply "$session" main.c
    [[ $stderr == *"$WORK/main.c was changed on the host, too"* ]]
    run -0 "$BAWN" apply "$session" a new
    [ "$(cat a)" = $'one\ntwo' ]
    "$BAWN" discard "$session"
    # Nor does it hide that by the file's times.
    inside sh -c 'exec 3<>link; touch newer'
    inside sh -c 'touch -r a then; printf "ONE\ntwo\n" >a; touch -r then a; rm then'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = $'M  a\nA  newer' ]
}

@test "overlay: undo gives a session that went on its changes back" {
    inside sh -c 'echo 1 >n; echo two >>a; mkdir new; echo q >new/q'
    "$BAWN" apply "$session"
    inside sh -c 'echo 2 >>n; echo three >>a; echo r >new/r; rm new/q'
    inside sh -c 'echo s >new/s'
    before=$(inside sh -c 'cat n a; ls new')
    run -0 "$BAWN" undo "$session"
    [ "$(cat a)" = one ]
    [ ! -e n ]
    [ ! -e new ]
    [ "$(inside sh -c 'cat n a; ls new')" = "$before" ]
    run -0 "$BAWN" apply "$session"
    [ "$(cat n a; ls new)" = "$before" ]
    # What the apply took, and the session has not touched since, comes back into its directories.
    inside sh -c 'mkdir two; echo a >two/a'
    "$BAWN" apply "$session"
    inside sh -c 'echo b >two/b'
    "$BAWN" undo "$session"
    run -0 inside sh -c 'cat two/*'
    [ "$output" = $'a\nb' ]
}

@test "overlay: behind -- there are only paths" {
    # A session that is called as a directory is.
    mv sub "$session"
    inside sh -c 'echo x >>"$1"/deep/f; rm link' sh "$session"
    run -0 "$BAWN" diff --list -- "$session"
    [ "$output" = "M  $session/deep/f" ]
    run -0 "$BAWN" apply -- "$session"
    [ -L link ]
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = "D  link" ]
    run -0 "$BAWN" discard -- "$session"
    [ ! -e "$(place)/$session" ]
}

@test "overlay: it is said how much goes with a directory" {
    echo g >sub/g
    run -0 --separate-stderr "$BAWN" run --overlay . --session "$session" -- rm -r sub
    [[ $stderr == "bawn: 2 files deleted (bawn diff "* ]]
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = "D  sub/  (2 files)" ]
    run -0 "$BAWN" diff "$session" --stat
    [[ $output == *" sub/ | directory, deleted with 2 files"*" 2 files changed, 2 deleted"* ]]
    run -0 "$BAWN" diff "$session" --json
    [ "$(json_get "$output" 'd[0]["files"]')" = 2 ]
    # It is taken as a whole.
    run -125 --separate-stderr "$BAWN" apply "$session" sub/g
    [[ $stderr == *"the session deleted sub as a whole"*"hint: "* ]]
    [ -e sub/g ]
    run -0 "$BAWN" apply "$session" sub
    [ ! -e sub ]
}

@test "overlay: names that look alike are told apart in JSON, and each document is a line" {
    touch $'x\ny' 'x\ny'
    inside sh -c 'for file in x*; do echo new >"$file"; done'
    run -0 "$BAWN" diff --json "$session"
    [ "${#lines[@]}" -eq 1 ]
    run -0 "$BAWN" apply --json "$session"
    [ "$(json_get "$output" 'len({p["path"] for p in d["paths"]}), "x\ny" in d["paths"][0]["path"]')" = "(2, True)" ]
    "$BAWN" apply --json no-such >out || true
    [ "$(tail -c 1 out | od -An -c | tr -d ' ')" = '\n' ]
}

@test "overlay: a patch on a terminal moves no cursor, and is whole elsewhere" {
    inside sh -c 'printf "\033]0;evil\007b\033[2J\n" >a'
    run -0 on_terminal "$BAWN" diff --patch "$session"
    [[ $output != *$'\033'* ]]
    [[ $output == *'evil'* ]]
    "$BAWN" diff --patch "$session" >a.patch
    grep -q $'\033]0;evil' a.patch
}

@test "overlay: a patch of a part of a repository has the names that git knows" {
    rm -r .git
    git init -q .
    mkdir -p "two words/in"
    echo 1 >"two words/in/f"
    for more in sub "two words"; do
        "$BAWN" run -q --overlay sub --overlay "$more" --session "$session" -- sh -c 'echo x >>sub/deep/f; echo y >>"two words/in/f"'
        "$BAWN" diff "$session" --patch >"$BATS_TEST_TMPDIR/part.patch"
        echo 1 >"two words/in/f"
        git apply "$BATS_TEST_TMPDIR/part.patch"
        [ "$(cat sub/deep/f)" = $'deep\nx' ]
        echo deep >sub/deep/f
        echo 1 >"two words/in/f"
        "$BAWN" discard "$session"
    done
    # As diff names it, it can be named.
    "$BAWN" run -q --overlay sub --session "$session" -- sh -c 'echo x >>sub/deep/f; touch sub/n'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = $'M  deep/f\nA  n' ]
    run -0 "$BAWN" apply "$session" n
    [ -e sub/n ]
    run -0 "$BAWN" apply "$session" sub/deep
    [ "$(cat sub/deep/f)" = $'deep\nx' ]
}

@test "overlay: patterns and paths add up" {
    inside sh -c 'echo x >>a; echo x >>main.c; echo x >>sub/deep/f'
    run -0 "$BAWN" apply "$session" sub --file '*.c'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = "M  a" ]
}
