#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the end of a run says of a refusal is what why says of it, and helps.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, stderr and status

load common

setup() {
    cli_setup
}

teardown() {
    forget_trails
}

# refused OPTIONS... -- SCRIPT: what the end of a run says that ends with 1.
refused() {
    local options=()

    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    run --separate-stderr -1 "$BAWN" run "${options[@]}" -- sh -c "$1; exit 1"
}

# told LINES...: each is a line of the last summary.
told() {
    for one; do
        grep -qxF -- "$one" <<<"$stderr" || { printf 'no line "%s" in:\n%s\n' "$one" "$stderr" >&2; return 1; }
    done
}

@test "a path is told whole, also where it was relative and the mount refused" {
    mkdir ro
    echo >ro/f
    refused --ro ro -- 'echo >ro/f'
    told "  write $WORK/ro/f (ro ro)" \
        "    to change: change the rule 'ro ro' (command line), or save one for this path: bawn policy save write '$WORK/ro/f'"
    refused --ro ro -- 'cd ro; echo >new'
    told "  write $WORK/ro/new (ro ro)"
}

@test "what is advised allows what was refused" {
    # A grant of .git does not open what is protected in it.
    refused -- 'mkdir .git; mkdir .git/hooks'
    told "  write $WORK/.git/hooks (protected \$WORKSPACE/.git/hooks)" \
        "    to change: make it outside first, then add --rw '$WORK/.git/hooks', or save it: bawn policy save --reopen write '$WORK/.git/hooks'"
    mkdir -p .git/hooks
    run -0 "$BAWN" run -q --rw "$WORK/.git/hooks" -- sh -c ': >.git/hooks/x'
    [ -e .git/hooks/x ]
    refused -- 'echo >.git/hooks/y'
    told "    allow with: --rw '$WORK/.git/hooks'"
    # All of /etc holds secrets, and is not advised.
    refused -- 'echo >/etc/bawn-test-new'
    told "    to change: make it outside first, then add --rw '/etc/bawn-test-new', or save it: bawn policy save write '/etc/bawn-test-new'"
}

@test "a denial is to be changed, by its name and whose it is; nothing is to be made first" {
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'version: 1\nsandbox:\n  deny: [hidden]\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    refused -- 'mkdir hidden'
    told "  read $WORK/hidden (deny hidden)" "    to change: change the rule 'deny hidden' (user)"
    run --separate-stderr -1 "$BAWN" run -q --ro "${BAWN%/*}" -- "$BAWN" why read hidden
    [[ $output == *"to change: outside, change the rule 'deny hidden' (user)"* ]]
    run -1 "$BAWN" why read hidden
    [[ $output == *"to change: change the rule at $XDG_CONFIG_HOME/bawn/policy.yaml:3:"* ]]
}
