# SPDX-License-Identifier: Apache-2.0
# --explain: what the command looked for and the rules hide.
load common

setup() {
    cli_setup
    mkdir -p "$HOME/.ssh" "$BATS_TEST_TMPDIR/other"
    echo key >"$HOME/.ssh/id_test"
    echo note >"$HOME/note"
    echo other >"$BATS_TEST_TMPDIR/other/file"
}

@test "explain: what is hidden is named with its rule, and how to allow it" {
    run "$BAWN" run --explain -- sh -c "cat ~/.ssh/id_test; cat ~/note; cat $BATS_TEST_TMPDIR/other/file; false"
    [ "$status" -eq 1 ]
    [[ $output == *"read $HOME/.ssh/id_test (secret ~/.ssh)"* ]]
    [[ $output == *"read $HOME/note (paths.home)"*"allow with: --ro '$HOME/note'"* ]]
    # What it says works.
    run "$BAWN" run --explain --ro "$HOME/note" -- sh -c "cat ~/note; false"
    [[ $output == *note* && $output != *refused* ]]
}

@test "explain: without it nobody is told, nor where the command succeeds" {
    run "$BAWN" run -- sh -c "cat ~/note; false"
    [ "$status" -eq 1 ]
    [[ $output != *refused* ]]
    run "$BAWN" run --explain -- sh -c "cat ~/note; true"
    [ "$status" -eq 0 ]
    [[ $output != *refused* ]]
}

@test "explain: what is nowhere is no refusal" {
    run "$BAWN" run --explain -- sh -c "cat ~/absent /etc/absent; ls /nowhere; false"
    [ "$status" -eq 1 ]
    [[ $output != *refused* ]]
}

@test "explain: a link inside that leads to something hidden" {
    ln -s "$HOME/note" link
    ln -s link again
    run "$BAWN" run --explain -- sh -c "cat again; false"
    [[ $output == *"read $HOME/note (paths.home)"* ]]
}

@test "explain: each way to look is seen, and each thing is told once" {
    run "$BAWN" run --explain -- sh -c "[ -e ~/note ]; ls -l ~/note; readlink -f ~/note; cat ~/note; stat ~/note; ~/note; false"
    [[ $output == *"1 thing was refused"* ]]
    [ "$(grep -c "read $HOME/note" <<<"$output")" -eq 1 ]
}

@test "explain: calls give what they give without it" {
    cat >try.sh <<'END'
cd /usr/lib && [ -x /bin/sh ] && [ ! -e /nowhere ] && readlink /proc/self/exe >/dev/null
ls -d /usr/bin /etc/shadow /proc/self/fd . .. 2>&1
cat /etc/shadow "" /proc/self/comm 2>&1
/etc 2>&1; /nowhere 2>&1
sh -c 'exec /bin/echo done'
END
    run "$BAWN" run -- sh try.sh
    without=$output
    run "$BAWN" run -q --explain -- sh try.sh
    [ "$output" = "$without" ]
    [[ $output == *done* ]]
}

@test "explain: what is held is held with it, too" {
    run "$BAWN" run -q --explain -- sh -c "echo x >.envrc; mkdir -p sub/.git && echo x >sub/.git/config; echo fine >file"
    [ ! -e .envrc ]
    [ ! -e sub/.git/config ]
    [ "$(cat file)" = fine ]
}

@test "explain: where calls cannot be looked at it is refused" {
    run "$BAWN" run --explain --allow-containers -- true
    [ "$status" -eq 125 ]
    [[ $output == *"sandbox.process.explain"* ]]
}
