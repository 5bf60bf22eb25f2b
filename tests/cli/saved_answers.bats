#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# shellcheck disable=SC2086 # $dynamic is words
# Answers that outlive their question: for the directory, and for later sessions in a policy file.

load common
load panes

setup() {
    sessions_setup
    panes_setup
    LETTERS=$(mktemp -d /tmp/bawn-letters.XXXXXX)
    mkdir "$LETTERS/more"
    echo dear >"$LETTERS/one"
    echo sir >"$LETTERS/two"
    echo other >"$LETTERS/more/three"
    chmod -R a+rX "$LETTERS"
    USER_FILE=$XDG_CONFIG_HOME/bawn/policy.yaml
    mkdir -p "${USER_FILE%/*}"
    printf '# mine, with a word about it\nsandbox:\n  # what nobody listed is asked about\n  reads: dynamic # from now on\n' >"$USER_FILE"
    # The default profile has a /tmp of its own.
    dynamic="run -q --profile none --rw $PWD --ro /usr --ro /bin --ro /lib --ro /lib64 --ro /etc --private /dev"
    cp "$USER_FILE" "$BATS_TEST_TMPDIR/before"
    "$BAWN" $dynamic -- true
    approver=
}

teardown() {
    if [[ -n $approver ]] && kill "$approver" 2>/dev/null; then
        wait "$approver" || true
    fi
    panes_teardown
    rm -rf "$LETTERS"
    sessions_teardown
}

# The rule that the question on the screen shows.
shown_rule() {
    tmux_at capture-pane -p -J | sed -n 's/^rule  *//p' | head -n1
}

@test "a: the rule that was shown is in the user's file, comments stay, and a second run does not ask" {
    pane_start 160 24
    keys "$BAWN $dynamic -- sh -c 'cat $LETTERS/one; echo status \$?'"
    asked "wants    to read $LETTERS/one\$"
    [[ $(shown_rule) == *"read $LETTERS/one"* ]]
    key a
    pane_has '^status 0'
    wait_for grep -qF "root: $LETTERS/one" "$USER_FILE"
    # What was there is there, in its order; only the rule came.
    [ "$(diff "$BATS_TEST_TMPDIR/before" "$USER_FILE" | grep -c '^<')" = 0 ]
    diff "$BATS_TEST_TMPDIR/before" "$USER_FILE" | grep '^>' >added || true
    [ "$(grep -c "$LETTERS" added)" = 1 ]
    [[ $(<added) != *write* ]]
    run -0 "$BAWN" policy lint
    # No terminal, nobody else: whatever asks is refused.
    run -0 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/one" </dev/null
    [ "$output" = dear ]
    run -1 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/two" </dev/null
    run ! timeout 20 setsid "$BAWN" $dynamic -- sh -c "echo x >>$LETTERS/one" </dev/null
    [ "$(<"$LETTERS/one")" = dear ]
}

@test "p: the same in the project's file, and the user's stays as it was" {
    pane_start 160 24
    keys "$BAWN $dynamic -- sh -c 'cat $LETTERS/one; echo status \$?'"
    asked "wants    to read $LETTERS/one\$"
    key p
    pane_has '^status 0'
    wait_for grep -qsF "root: $LETTERS/one" .bawn/policy.yaml
    cmp "$BATS_TEST_TMPDIR/before" "$USER_FILE"
    [ "$(grep -c "$LETTERS" .bawn/policy.yaml)" = 1 ]
    run -0 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/one" </dev/null
    [ "$output" = dear ]
    run -1 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/two" </dev/null
}

@test "d: the directory for this session, and nothing is saved" {
    pane_start 160 24
    keys "$BAWN $dynamic -- sh -c 'cat $LETTERS/more/three; cat $LETTERS/more/three $LETTERS/more/../more/three; cat $LETTERS/one; echo status \$?'"
    asked "wants    to read $LETTERS/more/three\$"
    pane_has '\[d\]irectory'
    key d
    # All in it; what is beside it is another question.
    asked "wants    to read $LETTERS/one\$"
    key n
    pane_has '^status 1'
    cmp "$BATS_TEST_TMPDIR/before" "$USER_FILE"
    [ ! -e .bawn/policy.yaml ]
    run -1 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/more/three" </dev/null
}

@test "approve --save puts the rule that --list shows into the file, and a second run does not ask" {
    "$BAWN" approve --json >said 3>&- &
    approver=$!
    sleep 1
    sid=$("$BAWN" $dynamic --detach -- sh -c "cat $LETTERS/one >got; echo \$? >status")
    wait_for grep -q fs_request said
    run -0 "$BAWN" approve --list
    [[ $output == *"read $LETTERS/one"* ]]
    rule=$(python3 -c 'import json
for one in map(json.loads, open("said")):
    if one["type"] == "event.fs_request": print(one["grant"])')
    [ "$rule" = "read $LETTERS/one" ]
    run -0 "$BAWN" approve --yes "$sid:1" --save user
    wait_for test -s status
    [ "$(<status)" = 0 ]
    [ "$(<got)" = dear ]
    wait_for grep -qF "root: $LETTERS/one" "$USER_FILE"
    [ "$(diff "$BATS_TEST_TMPDIR/before" "$USER_FILE" | grep -c '^<')" = 0 ]
    kill "$approver"
    wait "$approver" || true
    approver=
    run -0 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/one" </dev/null
    [ "$output" = dear ]
    run -1 timeout 20 setsid "$BAWN" $dynamic -- cat "$LETTERS/two" </dev/null
}
