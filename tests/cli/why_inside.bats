#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn why and check inside a sandbox answer about that very sandbox.
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output, stderr and status

load common

setup() {
    cli_setup
}

# inside OPTIONS... -- COMMAND...: a command in a sandbox that shows bawn.
inside() {
    local options=()

    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    run --separate-stderr "$BAWN" run -q "${options[@]}" --ro "${BAWN%/*}" "$@"
}

# says STATUS WORDS...: the last command ended so and said each of these.
says() {
    [ "$status" -eq "$1" ] || { printf 'status %s: %s\n%s\n' "$status" "$output" "$stderr" >&2; return 1; }
    shift
    for one; do
        [[ $output == *"$one"* ]] || { printf 'no "%s" in: %s\n' "$one" "$output" >&2; return 1; }
    done
}

@test "why inside tells of the sandbox that it is in, and what to run outside" {
    mkdir sub
    echo secret >sub/.token
    inside --deny sub/.token -- "$BAWN" why read sub/.token
    says 1 "deny: read $WORK/sub/.token" "sandbox:   the one that this command is in" \
        "decided:   deny sub/.token, from command line" "to change: outside, change the rule 'deny sub/.token'"
    [[ $stderr == *"this is about the sandbox that this command is in"* ]]
    inside -- "$BAWN" why write /etc/x
    says 1 "paths.etc (ro /etc), from profile default" \
        "to change: outside, start the sandbox with --rw '/etc/x', or run: bawn policy save write '/etc/x'"
    inside -- "$BAWN" why write .git/hooks/pre-commit
    says 1 "from built-in lists: git runs hooks" "or run: bawn policy save --reopen write '$WORK/.git/hooks/pre-commit'"
    inside -- "$BAWN" why connect example.org:443
    says 1 "network none" "to change: outside, "
    inside --net proxy --allow-host ok.example:443 -- "$BAWN" why connect no.example:443
    says 1 "decided:   unlisted" \
        "outside, start the sandbox with --allow-host 'no.example:443', or run: bawn policy save host 'no.example:443'"
    inside --net proxy --allow-host ok.example:443 -- "$BAWN" why connect ok.example:443
    says 0 "allow: connect ok.example:443"
    inside -- "$BAWN" why connect unix:/run/docker.sock
    says 1 "Docker is root on this machine"
    inside -- "$BAWN" why write new
    says 0 "allow: write $WORK/new"
    [ ! -e new ]
}

@test "check inside: the same answers as outside, line by line and as JSON" {
    local question

    mkdir sub
    echo >sub/hidden
    while read -r question; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr "$BAWN" check -q --json --deny sub/hidden --set sandbox.protect=kept --net proxy \
            --allow-host '**.ok.example' --ro "${BAWN%/*}" $question
        outside="$status $(json_get "$output" 'd["verdict"], d["code"], d["target"], d["rule"], d["text"]')"
        # shellcheck disable=SC2086
        inside --deny sub/hidden --set sandbox.protect=kept --net proxy --allow-host '**.ok.example' -- \
            "$BAWN" check -q --json $question
        [ "$(json_get "$output" 'd["sandbox"]')" = this ]
        [ "$outside" = "$status $(json_get "$output" 'd["verdict"], d["code"], d["target"], d["rule"], d["text"]')" ] || {
            printf '%s: outside %s\ninside %s\n' "$question" "$outside" "$output" >&2
            return 1
        }
    done <<'END'
read sub/hidden
write sub/hidden
read sub
write kept
write sub/.envrc
write .vscode/tasks.json
read /etc/hostname
write /usr/x
read /etc/shadow
read /srv/x
write /tmp/mine
write /proc/sys/x
exec sh
connect a.ok.example:443
connect other.example:443
connect 10.1.2.3:443
connect 127.0.0.1:22
connect unix:/run/docker.sock
END
    inside -- "$BAWN" check read /etc/hostname /srv/x
    says 1 "allow read /etc/hostname (rule paths.etc)" "Cannot read '/srv/x': path is outside sandbox." "Readable paths: $WORK,"
    # A sentence that is no question is none inside either.
    inside -- "$BAWN" check connect example
    [ "$status" -eq 125 ]
}

@test "rules for suffixes and sizes are known inside" {
    mkdir -p "$XDG_CONFIG_HOME/bawn" data
    cat >"$XDG_CONFIG_HOME/bawn/policy.yaml" <<END
version: 1
sandbox:
  paths:
    data: {root: $WORK/data, mode: rw, suffixes: [.txt, .md], max_file_bytes: 100}
END
    inside -- "$BAWN" check -q suffix data/a.txt
    says 0
    inside -- "$BAWN" check -q suffix data/a.sh
    says 1 "Allowed suffixes: .txt, .md"
    inside -- "$BAWN" check -q size --size 101 data/a.txt
    says 1 "Maximum allowed: 100 bytes"
}

@test "paths are as the command sees them" {
    mkdir -p sub
    echo >sub/f
    inside --workspace-mount /elsewhere --deny sub/f -- "$BAWN" why read sub/f
    says 1 "deny: read /elsewhere/sub/f" "deny sub/f, from command line"
    inside --workspace-mount /elsewhere -- "$BAWN" why write /elsewhere/.git/hooks/x
    says 1 "bawn policy save --reopen write '$WORK/.git/hooks/x'"
    inside --workspace-mount /elsewhere -- "$BAWN" why read "$WORK/sub/f"
    says 1 "nothing is here: the workspace is shown at /elsewhere"
    inside --workspace-mount /elsewhere -- "$BAWN" check -q write /etc/x
    says 1 "Writable paths: /elsewhere,"
    # A relative path starts where the command is, and links are those that the command made.
    # shellcheck disable=SC2016 # the words are the shell's inside
    inside --workspace-mount /elsewhere -- sh -c 'cd sub && "$0" check -q resolve f && ln -s /etc/hosts /tmp/l &&
        "$0" why -q write /tmp/l' "$BAWN"
    says 1 "/elsewhere/sub/f" "deny: write /etc/hosts"
}

@test "what is not there, and what a rule says that is not told, is what the kernel says" {
    # Granted, but not there when it started.
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'version: 1\nsandbox:\n  paths:\n    absent: {root: /srv/absent, mode: ro}\n' \
        >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    inside -- "$BAWN" why read /srv/absent
    says 1 "decided:   this sandbox does not show it" "it was not there outside when the sandbox started"
    inside -- "$BAWN" why write /dev/x
    says 1 "decided:   this sandbox shows it read-only"
    # shellcheck disable=SC2016
    inside --deny "$HOME/clients" -- sh -c 'mkdir "$1/clients" || "$0" why -q write "$1/clients"' "$BAWN" "$HOME"
    says 1 "decided:   this sandbox protects it" "outside, 'bawn why' names it"
    # shellcheck disable=SC2016
    inside --deny "$HOME/clients" -- sh -c '"$0" why -q read "$1/clients/x"' "$BAWN" "$HOME"
    says 1 "decided:   this sandbox denies it"
}

@test "options that select a policy, and --nested, ask about a sandbox that would be started" {
    inside --deny hidden -- "$BAWN" check --nested read hidden
    says 0 "allow read $WORK/hidden"
    [[ $stderr == *"a sandbox that would be started in this one"* ]]
    inside -- "$BAWN" check --deny hidden --json read hidden
    says 1 '"rule": "deny hidden"'
    [ "$(json_get "$output" '"sandbox" in d')" = False ]
    # Outside there is no other.
    run --separate-stderr -0 "$BAWN" check --nested read x
    [ -z "$stderr" ]
}

@test "the innermost sandbox answers, and says that there is one around it" {
    # shellcheck disable=SC2016
    inside --allow-containers --deny outermost -- sh -c '
        : >mine
        exec "$0" run -q --isolated --deny mine --ro "$1" -- sh -c "\"\$0\" why -q read mine; \"\$0\" why -q read x
            \"\$0\" why -q --json read x" "$0"' "$BAWN" "${BAWN%/*}"
    says 0 "deny: read $WORK/mine" "deny mine, from command line" \
        "around:    another sandbox, which may refuse more" '"around": true'
    # What the outer one refuses shows in the kernel.
    mkdir -p outermost
    # shellcheck disable=SC2016
    inside --allow-containers --ro outermost -- sh -c '
        exec "$0" run -q --isolated --ro "$1" -- "$0" why -q write outermost/x' "$BAWN" "${BAWN%/*}"
    says 1 "decided:   this sandbox, or one around it, shows it read-only"
}

@test "a sandbox that tells nothing, and another version, are said" {
    # Only root can put a file there.
    (($(id -u) == 0)) || return 0
    printf 'bawnimA' >"$BATS_TEST_TMPDIR/told"
    # shellcheck disable=SC2016
    run -125 unshare --mount --propagation private sh -ec '
        mount -t tmpfs none /dev
        : >/dev/null
        cp "$1" /dev/bawn
        exec "$0" check read x' "$BAWN" "$BATS_TEST_TMPDIR/told"
    [[ $output == *"another version of bawn started this sandbox"* ]]
}
