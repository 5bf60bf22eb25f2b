# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets output and status
# Patterns that hide: where they are looked for, and that a plan with them is kept only while it holds.
load common

setup() {
    cli_setup
    mkdir -p .bawn sub/deep
    printf 'sandbox:\n  deny: [secret.txt]\n' >.bawn/policy.yaml
    echo hidden >sub/secret.txt
    echo shown >sub/other.txt
    # What root runs is not root, and does not get through root's own directories.
    OTHER=/srv
    [ "$(id -u)" -eq 0 ] || OTHER=$(getent passwd "$(id -u)" | cut -d: -f6)
    OTHER=$(mktemp -d "$OTHER/bawn-patterns-XXXXXX")
    chmod 755 "$OTHER"
}

teardown() {
    rm -rf "$OTHER"
    forget_trails
}

# Whether the next run makes no plan.
is_kept() {
    strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=execve "$BAWN" run -- true
    ! grep -q bawn-policy "$BATS_TEST_TMPDIR/trace"
}

# From what has just changed no plan is kept.
keep() {
    local _
    for _ in {1..40}; do
        ! is_kept || return 0
        sleep 0.2
    done
    return 1
}

# hides PATH: what the command finds there is nothing.
hides() {
    run "$BAWN" run -q -- cat "$1"
    [ "$status" -ne 0 ]
    [[ $output != *hidden* ]]
}

@test "patterns: a plan is kept, and made anew when something gets a hidden name" {
    keep
    hides sub/secret.txt
    echo hidden >sub/deep/secret.txt
    hides sub/deep/secret.txt
    keep
    mkdir -p new/er
    echo hidden >new/er/secret.txt
    hides new/er/secret.txt
    keep
    echo hidden >sub/plain
    mv sub/plain secret.txt
    hides secret.txt
    keep
    rm sub/secret.txt
    ln -s ../../secret.txt sub/deep/link
    hides sub/deep/link
    run -0 "$BAWN" run -q -- cat sub/other.txt
    [ "$output" = shown ]
}

@test "patterns: a hidden file that gets another name is hidden by both, with a kept plan, too" {
    keep
    ln sub/secret.txt sub/deep/harmless
    hides sub/deep/harmless
    rm sub/deep/harmless
    sleep 1.2
    keep
    # A file in a directory that is hidden, by a name in another tree.
    mkdir sub/hidden.d
    echo hidden >sub/hidden.d/file
    printf 'sandbox:\n  deny: ["*.d"]\n' >.bawn/policy.yaml
    sleep 1.2
    "$BAWN" run -q --rw "$OTHER" -- true
    "$BAWN" run -q --rw "$OTHER" -- true
    if ln sub/hidden.d/file "$OTHER/same"; then # else it is another file system
        run "$BAWN" run -q --rw "$OTHER" -- cat "$OTHER/same"
        [[ $status -ne 0 && $output != *hidden* ]]
    fi
    printf 'sandbox:\n  deny: [secret.txt]\n' >.bawn/policy.yaml
    # What is in a directory that cannot be listed is looked at each time.
    chmod 311 sub/deep
    hides sub/secret.txt
    hides sub/deep/secret.txt
    chmod 755 sub/deep
}

@test "patterns: they are looked for only where they can match" {
    local at=$OTHER deep=$OTHER

    # Deeper than anything is looked through.
    for _ in {1..70}; do at+=/d; done
    mkdir -p "$at"
    run -0 "$BAWN" run -q --ro "$deep" -- cat sub/other.txt
    hides sub/secret.txt
    # The other side: this one may be anywhere.
    printf 'sandbox:\n  deny: ["/**/secret.txt"]\n' >.bawn/policy.yaml
    run -125 "$BAWN" run -q --ro "$deep" -- true
    [[ $output == *"too many files"* ]]
    rm -r "$deep/d"
    echo hidden >"$deep/secret.txt"
    printf 'sandbox:\n  deny: ["%s/*.txt"]\n' "$deep" >.bawn/policy.yaml
    run "$BAWN" run -q --ro "$deep" -- cat "$deep/secret.txt"
    [ "$status" -ne 0 ]
    [[ $output != *hidden* ]]
    run -0 "$BAWN" run -q --ro "$deep" -- cat sub/secret.txt
}
