#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# Reads that a rule asks about: sandbox.ask, --ask, sandbox.reads: dynamic.

load common
load answering

setup() {
    sessions_setup
    LETTERS=$(mktemp -d /tmp/bawn-letters.XXXXXX)
    # The default profile has a /tmp of its own.
    bare=(-q --profile none --rw "$PWD" --ro /usr --ro /bin --ro /lib --ro /lib64 --ro /etc)
    dynamic=("${bare[@]}" --reads dynamic)
    mkdir -p "$LETTERS/more"
    echo dear >"$LETTERS/one"
    echo sir >"$LETTERS/more/two"
    printf '#!/bin/sh\necho ran\n' >"$LETTERS/script"
    chmod -R a+rX,u+w "$LETTERS"
    chmod a+x "$LETTERS/script"
}

teardown() {
    answering_teardown
    rm -rf "$LETTERS"
    sessions_teardown
}

@test "dynamic: what nobody listed is seen, and opened only after a yes" {
    run -0 "$BAWN" run "${bare[@]}" --reads strict -- sh -c "[ ! -e '$LETTERS' ]"
    run -0 "$BAWN" run "${dynamic[@]}" -- stat -c %s "$LETTERS/one"
    [ "$output" = 5 ]
    run -1 "$BAWN" run "${dynamic[@]}" -- cat "$LETTERS/one"
    [[ $output == *"Permission denied"* && $output != *dear* ]]
    answer deny "{op: read, path: \"$LETTERS/one\", answer: allow, scope: once}"
    run -0 "$BAWN" run "${dynamic[@]}" -- cat "$LETTERS/one"
    [ "$output" = dear ]
    run -1 "$BAWN" run "${dynamic[@]}" -- cat "$LETTERS/more/two"
    [[ $output != *sir* ]]
    run -2 "$BAWN" run "${dynamic[@]}" -- ls "$LETTERS"
    [[ $output != *script* ]]
    # What is granted is not asked about.
    run -0 "$BAWN" run "${dynamic[@]}" -- sh -c 'head -c0 /etc/passwd; echo x >mine; cat mine'
    [ "$output" = x ]
    [ "$(answers passwd)" = 0 ]
}

@test "dynamic: a yes for a directory holds for all in it, and for no secret" {
    echo SECRET=1 >"$LETTERS/.env"
    answer deny "{op: read, path: \"$LETTERS/**\", answer: allow, scope: dir}"
    run "$BAWN" run "${dynamic[@]}" --deny '/**/.env' -- sh -c \
        "cat '$LETTERS/one' '$LETTERS/more/two'; ls '$LETTERS/more'; cat '$LETTERS/.env'"
    [[ $output == *dear*sir*two* && $output != *SECRET* ]]
}

@test "dynamic: programs that merely start ask about nothing, and /sys is as with strict" {
    local PATH=/usr/local/bin:/usr/bin:/bin one
    git init -q .
    echo 'int main(void) { return 0; }' >hello.c
    printf 'hello: hello.c\n\tcc -o hello hello.c\n' >Makefile
    answer deny
    for one in 'node -e 1' 'npm --version' 'git status' 'python3 -c "import ssl"' 'gcc hello.c' make \
        'java -version' 'ps aux' nproc; do
        command -v "${one%% *}" >/dev/null || continue
        run -0 "$BAWN" run -q --reads dynamic -- sh -c "$one"
    done
    run -0 "$BAWN" run -q --reads dynamic -- ls /sys /sys/devices/system
    [ "$output" = $'/sys:\ndevices\n\n/sys/devices/system:\ncpu' ]
    run -1 "$BAWN" run -q --reads dynamic -- cat /sys/kernel/mm/transparent_hugepage/enabled
    [[ $output == *"No such file"* ]]
    # Neither is what the user lists there; what nobody listed elsewhere is.
    run -0 "$BAWN" run -q --reads dynamic --ro /sys/kernel/mm -- ls /sys/kernel/mm
    run -2 "$BAWN" run -q --reads dynamic -- ls /boot
    run -2 "$BAWN" run -q --reads dynamic --ask /sys/kernel/mm -- ls /sys/kernel/mm
    [ "$(answers '"answer"')" = 2 ] || { cat "$BATS_TEST_TMPDIR/answers" >&2; false; }
    [[ $(answers /boot) == 1 && $(answers /sys/kernel/mm) == 1 ]]
}

@test "dynamic: what lies outside cannot be run, written or listed by another way" {
    run -126 "$BAWN" run "${dynamic[@]}" -- "$LETTERS/script"
    run "$BAWN" run "${dynamic[@]}" -- sh "$LETTERS/script"
    [[ $output != *ran* ]]
    run "$BAWN" run "${dynamic[@]}" -- sh -c "echo x >'$LETTERS/new'; rm '$LETTERS/one'; mv '$LETTERS/one' ."
    [ "$status" -ne 0 ]
    [ -e "$LETTERS/one" ]
    [ ! -e "$LETTERS/new" ]
    run "$BAWN" run "${dynamic[@]}" -- sh -c "ln '$LETTERS/one' mine || ln -s '$LETTERS/one' mine; cat mine"
    [[ $output != *dear* ]]
}

@test "sandbox.ask in the workspace: reads and writes are asked about, and all else is not" {
    mkdir -p .bawn
    printf 'sandbox:\n  ask: ["*.asked"]\n' >.bawn/policy.yaml
    echo one >a.asked
    echo plain >b
    run -1 "$BAWN" run -q -- cat a.asked
    [[ $output != *one* ]]
    run -0 "$BAWN" run -q -- cat b
    answer deny "{op: [read, write], path: \"$PWD/a.asked\", answer: allow, scope: file}"
    run -0 "$BAWN" run -q -- sh -c 'cat a.asked; echo two >>a.asked; cat a.asked; ls'
    [[ $output == one$'\n'one$'\n'two$'\n'* ]]
    [ "$(answers a.asked)" -ge 2 ]
    # One that comes later is asked about as well.
    run "$BAWN" run -q -- sh -c 'echo x >c.asked; cat c.asked'
    [[ $output != *x$'\n'* ]]
    [ ! -e c.asked ]
}

@test "check, plan and what happens agree about what is asked" {
    run -2 "$BAWN" check "${dynamic[@]}" read "$LETTERS/one"
    [[ $output == *ask* ]]
    run -1 "$BAWN" check "${bare[@]}" --reads strict read "$LETTERS/one"
    run -0 "$BAWN" plan --ask "$LETTERS"
    [[ $output == *"opening and running it is asked about; it is there to be seen"* ]]
    run -126 "$BAWN" run -q --ask "$LETTERS" -- "$LETTERS/script"
    answer deny "{op: read, path: \"$LETTERS/**\", answer: allow, scope: file}"
    run -0 "$BAWN" run -q --ask "$LETTERS" -- cat "$LETTERS/one"
    [ "$output" = dear ]
}
