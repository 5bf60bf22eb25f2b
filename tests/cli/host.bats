#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn detect, doctor and plan: they work on any host, and leave nothing behind.

load common

setup() {
    cli_setup
}

@test "detect lists backends, for people and as JSON" {
    run --separate-stderr -0 "$BAWN" detect
    [[ $output == *native* ]]
    run --separate-stderr -0 "$BAWN" detect --json
    is_json "$output"
    [ "$(json_get "$output" 'd["ok"], d["best"]')" = "(True, 'native')" ]
    [ "$(json_get "$output" 'all(b["reason"] for b in d["backends"].values())')" = True ]
    [ "$(json_get "$output" '[n for n, b in d["backends"].items() if b["usable"]]')" = "['native']" ]
}

@test "doctor ends with 0 or 1, the same for people and as JSON" {
    local found

    run --separate-stderr "$BAWN" doctor
    found=$status
    [ "$found" -le 1 ]
    run --separate-stderr "-$found" "$BAWN" doctor --json
    is_json "$output"
}

@test "doctor: where AppArmor keeps user namespaces to itself, the remedy is a profile for bawn" {
    local setting

    mkdir kernel
    for setting in 1 0; do
        echo "$setting" >kernel/apparmor_restrict_unprivileged_userns
        # shellcheck disable=SC2016 # the words are the shell's inside
        run --separate-stderr -1 unshare --map-current-user --keep-caps --mount sh -c \
            'mount --bind kernel /proc/sys/kernel && exec "$@"' sh env ASAN_OPTIONS=detect_leaks=0 \
            strace -qq -f -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM "$BAWN" doctor
        [[ $output == *"The native sandbox cannot run here: it needs user namespaces"* ]]
        if [ "$setting" -eq 1 ]; then
            [[ $output == *"profile bawn /usr/{,local/}bin/bawn flags=(unconfined)"* ]]
            [[ $output == *"sudo apparmor_parser -r /etc/apparmor.d/bawn"* ]]
        else
            [[ $output != *apparmor_parser* ]]
        fi
    done
}

@test "doctor gives advice on the policy: commands outside, a whole home, opened secrets" {
    cat >p.yaml <<'EOF'
sandbox:
  paths:
    everything: {root: "~", mode: ro}
    keys: {root: "~/.ssh/config", mode: ro}
    fine: {root: "~/src", mode: rw}
  reopen: ["~/.aws"]
  process: {excluded_commands: [docker]}
EOF
    run --separate-stderr "$BAWN" doctor --isolated --policy p.yaml
    [ "$status" -le 1 ]
    [[ $output == *"p.yaml:3:"*"grants the whole home"* ]]
    [[ $output == *"p.yaml:4:"*"of the built-in secrets"* ]]
    [[ $output == *"'~/.aws' is taken out of the built-in lists"* ]]
    [[ $output == *"'docker' runs outside the sandbox"* ]]
    [[ $output != *"fine"* ]]
    run --separate-stderr "$BAWN" doctor --isolated --policy p.yaml --json
    [ "$(json_get "$output" 'len(d["policy"]), "findings" in d')" = "(4, True)" ]
    run --separate-stderr "$BAWN" doctor --isolated
    [[ $output == *"nothing away"* ]]
    run --separate-stderr "$BAWN" doctor --isolated --json
    [ "$(json_get "$output" 'd["policy"]')" = "[]" ]
    echo 'nonsense: 1' >p.yaml
    run --separate-stderr -125 "$BAWN" doctor --isolated --policy p.yaml
    [[ $stderr == *p.yaml:1:1:*"checks passed"* ]]
}

@test "a namespace is not left out, and no sandbox is weaker inside another: refused by name" {
    local what

    for what in user mount pid net ipc uts cgroup time; do
        run --separate-stderr -125 "$BAWN" run "--no-$what-ns" -- true
        has_error_and_hint
        [[ $stderr == *"--no-$what-ns: bawn leaves no namespace out"* ]]
    done
    [[ $(json_get "$("$BAWN" run --json --no-net-ns -- true)" 'd["error"]["hint"]') == *"--net host"* ]]
    echo '{"sandbox": {"enabled": true, "enableWeakerNestedSandbox": true}}' >settings.json
    run --separate-stderr -0 "$BAWN" check --isolated --policy settings.json read x
    [[ $stderr == *"bawn refuses sandbox.enableWeakerNestedSandbox: it has no weaker sandbox"* ]]
    echo '{"sandbox": {"enabled": true, "enableWeakerNestedSandbox": false}}' >settings.json
    run --separate-stderr -0 "$BAWN" check --isolated --policy settings.json read x
    [ -z "$stderr" ]
}

@test "plan prints what would be done" {
    run --separate-stderr -0 "$BAWN" plan --isolated
    [[ $output == *"$WORK"* ]]
    run --separate-stderr -0 "$BAWN" plan --isolated --json
    is_json "$output"
    [ -z "$(ls -A "$WORK")" ]
}
