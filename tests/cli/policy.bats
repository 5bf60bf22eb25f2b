#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn policy, and the complaints of a policy that is loaded.

load common

setup() {
    cli_setup
}

@test "other names for the rates of a disk are refused, with the names that there are" {
    local key

    for key in limits.io_max limits.io; do
        run --separate-stderr -125 "$BAWN" check --isolated --set "sandbox.$key=1" read x
        [[ $stderr == *"unknown key sandbox.$key"*"hint: bawn "* ]]
        echo "sandbox: {${key%.*}: {${key#*.}: 1}}" >p.yaml
        run --separate-stderr -125 "$BAWN" check --isolated --policy p.yaml read x
        [[ $stderr == *"p.yaml:1:"*"unknown key sandbox.$key"*"hint: bawn "* ]]
    done
    run --separate-stderr -125 "$BAWN" check --isolated --set sandbox.process.time_n=1 read x
    [[ $stderr == *"did you mean 'sandbox.process.time_ns'"* ]]
    run --separate-stderr -125 "$BAWN" check --isolated --set sandbox.limits.pid=1 read x
    [[ $stderr == *"did you mean 'sandbox.limits.pids'"* ]]
}

@test "a policy that is refused: every complaint with its place, then 125" {
    printf 'sandbox:\n  raeds: strict\n  reads: sometimes\n' >bad.yaml
    run --separate-stderr -125 "$BAWN" check --isolated --policy bad.yaml read x
    [ -z "$output" ]
    [[ $stderr == *'bad.yaml:2:'*': error: '* ]]
    [[ $stderr == *'bad.yaml:3:'*': error: '* ]]
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" check -q --isolated --policy bad.yaml read x
    [[ $stderr == *'bad.yaml:2:'*': error: '* ]]
}

@test "a policy that is refused, as JSON: one document with all complaints" {
    printf 'sandbox:\n  raeds: strict\n  reads: sometimes\n' >bad.yaml
    for verb in 'check read x' 'why read x' plan 'policy show' 'policy lint' 'policy export'; do
        # shellcheck disable=SC2086 # the words of the verb
        run --separate-stderr -125 "$BAWN" $verb --isolated --json --policy bad.yaml
        is_json "$output"
        [ -z "$stderr" ]
        [ -n "$(json_get "$output" 'd["error"]["code"]')" ]
        [ "$(json_get "$output" 'len(d["error"]["complaints"])')" -ge 2 ]
    done
}

@test "a policy file that is not there" {
    run --separate-stderr -125 "$BAWN" plan --isolated --policy nowhere.yaml
    [[ $stderr == *nowhere.yaml* ]]
    run --separate-stderr -125 "$BAWN" plan --isolated --json --policy nowhere.yaml
    is_json "$output"
}

@test "an unknown profile or preset gives the nearest" {
    run --separate-stderr -125 "$BAWN" policy show --isolated --profile stric
    [[ $stderr == *strict* ]]
    run --separate-stderr -125 "$BAWN" policy show --isolated --preset pyton
    [[ $stderr == *python* ]]
}

@test "every built-in profile and preset that help names can be loaded" {
    local name

    for name in default strict static untrusted none; do
        run -0 "$BAWN" policy show --isolated --profile "$name"
    done
    for name in node python rust go java c git; do
        run -0 "$BAWN" policy show --isolated --preset "$name"
    done
}

@test "show prints values with their origin; --builtin more of them" {
    local short

    printf 'sandbox:\n  reads: static\n' >policy.yaml
    run --separate-stderr -0 "$BAWN" policy show --isolated --policy policy.yaml
    [[ $output == *static*'policy.yaml:2'* ]]
    short=${#output}
    run --separate-stderr -0 "$BAWN" policy show --isolated --policy policy.yaml --builtin
    [ "${#output}" -gt "$short" ]
    run --separate-stderr -0 "$BAWN" policy show --isolated --json
    is_json "$output"
}

@test "lint: 0 when there is nothing, 1 with warnings, --json always" {
    run --separate-stderr -0 "$BAWN" policy lint --isolated
    run --separate-stderr -0 "$BAWN" policy lint --isolated --json
    is_json "$output"
    [ "$(json_get "$output" 'd["warnings"]')" = 0 ]
    # The same path twice: the stricter wins, so that the other has no effect.
    cat >shadowed.yaml <<'YAML'
sandbox:
  paths:
    one: {root: /srv/data, mode: rw}
    two: {root: /srv/data, mode: deny}
YAML
    run --separate-stderr -1 "$BAWN" policy lint --isolated --policy shadowed.yaml
    [[ $output == *'shadowed.yaml:3:'*': warning: '* ]]
    run --separate-stderr -1 "$BAWN" policy lint --isolated --policy shadowed.yaml --json
    is_json "$output"
    [ "$(json_get "$output" 'd["warnings"]')" -ge 1 ]
}

@test "lint: opaque is for one host, not for many" {
    local rule

    for rule in '*.example opaque' '**.example:22 opaque' '192.0.2.0/24 opaque'; do
        run --separate-stderr -1 "$BAWN" policy lint --isolated --net proxy --allow-host "$rule"
        [[ $output == *"warning: allow $rule: bawn does not look at what the command says to any of these hosts"* ]]
    done
    for rule in 'a.example:22 opaque' '*.example ech=allow' '192.0.2.1 opaque'; do
        run --separate-stderr "$BAWN" policy lint --isolated --net proxy --allow-host "$rule"
        [[ $output != *"bawn does not look"* ]]
    done
}

@test "an agent's preset has its hosts, and who gives another network has that one" {
    local pair agent host

    for pair in claude=api.anthropic.com codex=api.openai.com gemini=generativelanguage.googleapis.com \
        opencode=models.opencode.ai aider=api.openai.com; do
        agent=${pair%=*} host=${pair#*=}
        run -0 "$BAWN" check --isolated --preset "$agent" connect "$host:443"
        run -1 "$BAWN" check --isolated --preset "$agent" connect "$host:80"
        run -1 "$BAWN" check --isolated --preset "$agent" connect other.example:443
        run -0 "$BAWN" check --isolated --preset "$agent" --allow-host other.example connect other.example:443
        run -1 "$BAWN" check --isolated --preset "$agent" --deny-host "$host" connect "$host:443"
        run -1 "$BAWN" check --isolated --preset "$agent" --net none connect "$host:443"
        run -0 "$BAWN" check --isolated --preset "$agent" --net host connect other.example:443
        run -1 "$BAWN" run --isolated --preset "$agent" --net none -- printenv https_proxy
        run -0 "$BAWN" run --isolated --preset "$agent" --net host -- readlink /proc/self/ns/net
        [ "$output" = "$(readlink /proc/self/ns/net)" ]
    done
    # The user's file, with the preset on the command line and in the file itself.
    echo 'version: 1
sandbox: {network: false}' >off.yaml
    run -1 "$BAWN" check --isolated --preset claude --policy off.yaml connect api.anthropic.com:443
    echo 'version: 1
presets: [claude]
sandbox: {network: false}' >off.yaml
    run -1 "$BAWN" check --isolated --policy off.yaml connect api.anthropic.com:443
}

@test "import reads other formats and prints one that bawn reads" {
    echo '{"permissions": {"deny": ["Read(//srv/secret/**)"]}}' >settings.json
    run --separate-stderr -0 "$BAWN" policy import settings.json --format claude
    printf '%s\n' "$output" >imported.yaml
    run -1 "$BAWN" check --isolated --reads static --policy imported.yaml read /srv/secret/x
    run --separate-stderr -0 "$BAWN" policy import settings.json --json
    is_json "$output"
    run --separate-stderr -125 "$BAWN" policy import nowhere.json
    [[ $stderr == *nowhere.json* ]]
}

@test "export prints each format, and says as JSON what it could not say" {
    local format

    for format in bawn claude srt; do
        run --separate-stderr -0 "$BAWN" policy export --isolated -q --format "$format"
        [ -n "$output" ]
        [ "$format" = bawn ] || is_json "$output"
        run --separate-stderr -0 "$BAWN" policy export --isolated --json --format "$format"
        is_json "$output"
        [ "$(json_get "$output" 'd["format"]')" = "$format" ]
    done
}

@test "what was exported as bawn can be loaded again" {
    run --separate-stderr -0 "$BAWN" policy export --isolated -q --deny '*.key'
    printf '%s\n' "$output" >exported.yaml
    run -1 "$BAWN" check --isolated --policy exported.yaml read a.key
}

@test "approve without a terminal needs --yes" {
    mkdir .bawn
    printf 'sandbox:\n  network: {mode: host}\n' >.bawn/policy.yaml
    run --separate-stderr -125 "$BAWN" policy approve </dev/null
    [[ $stderr == *--yes* ]]
    run --separate-stderr -125 "$BAWN" policy approve --json </dev/null
    is_json "$output"
    run --separate-stderr -0 "$BAWN" policy approve --yes
    [[ $output == approved* ]]
    run --separate-stderr -0 "$BAWN" policy approve -y --json .bawn/policy.yaml
    is_json "$output"
    [ -e "$(json_get "$output" 'd["record"]')" ]
}

@test "approve lets the project's policy widen, until the file changes" {
    mkdir .bawn
    printf 'sandbox:\n  paths:\n    data: {root: /srv/data, mode: ro}\n' >.bawn/policy.yaml
    run -1 "$BAWN" check -q --reads strict read /srv/data/x
    run -0 "$BAWN" policy approve --yes
    run -0 "$BAWN" check -q --reads strict read /srv/data/x
    echo '# changed' >>.bawn/policy.yaml
    run -1 "$BAWN" check -q --reads strict read /srv/data/x
}

@test "approve of a workspace elsewhere, and of a file that is not there" {
    mkdir -p other/.bawn
    echo 'sandbox: {}' >other/.bawn/policy.yaml
    run --separate-stderr -0 "$BAWN" policy approve --yes -C other
    run --separate-stderr -125 "$BAWN" policy approve --yes
    [[ $stderr == *.bawn/policy.yaml* ]]
}

@test "approve shows the file on the terminal, escaped, and takes y for yes only" {
    mkdir .bawn
    printf 'sandbox: {} # \e[2Jhidden\n' >.bawn/policy.yaml
    run -0 on_terminal "$BAWN" policy approve < <(echo y; sleep 1)
    [[ $output == *'\x1b[2Jhidden'* ]]
    [[ $output == *approved* ]]
    run -1 on_terminal "$BAWN" policy approve < <(echo; sleep 1)
    run -1 on_terminal "$BAWN" policy approve < <(echo n; sleep 1)
    [[ $output == *'not approved'* ]]
}

@test "what is not carried out is warned of, planned as held by nobody, and refused" {
    local words

    : >file
    set -f
    for words in '--set sandbox.network.hosts.a.example=10.0.0.1' \
        '--overlay file' '--deny /proc/self/maps' '--deny /proc/net' '--deny /proc/*/environ' \
        '--net host --deny-host a.example' \
        '--net host --set sandbox.network.allow_local_binding=false' '--allow-containers --deny /proc/stat'; do
        # shellcheck disable=SC2086 # several words
        run --separate-stderr -125 "$BAWN" run $words -- echo ran
        [[ -z $output ]]
        has_error_and_hint
        # shellcheck disable=SC2086
        run --separate-stderr -0 "$BAWN" plan $words
        [[ $output == *"enforcement: partial"* ]]
    done
}

@test "the network mode veth is root's alone" {
    [ "$(id -u)" -ne 0 ] || return 0 # tests/net/veth.py is about root
    run --separate-stderr -125 "$BAWN" run --net veth -- echo ran
    [[ -z $output && $stderr == *"only root can have it; --net isolated reaches the same hosts"* ]]
    run --separate-stderr -0 "$BAWN" plan --net veth
    [[ $output == *"[not on this host] network veth (only root can have it"* && $output == *"enforcement: partial"* ]]
}

@test "addresses of the mode veth are four private ones, and no project chooses them" {
    local value

    for value in 10.9.8.4 10.9.8.5/30 10.9.8.0/28 10.0.0.0/8 8.8.8.4/30 127.0.0.4/30 fd00::/126 a/30 10.9.8.4/30:7; do
        run --separate-stderr -125 "$BAWN" plan --set "sandbox.network.cidr=$value"
        [[ $stderr == *"is not a private network such as 10.9.8.4/30 or 10.9.8.0/24"* ]]
    done
    run --separate-stderr -125 "$BAWN" plan --set sandbox.network.mtu=1279
    [[ $stderr == *"is not a size in bytes, 1280 to 65535"* ]]
    run --separate-stderr -125 "$BAWN" plan --net veth --set sandbox.network.cidr=10.9.8.0/24
    [[ $stderr == *"the mode veth takes four addresses, as in 10.9.8.4/30"* ]]
    mkdir .bawn
    echo 'sandbox: {network: {cidr: 10.9.8.4/30, mtu: 1400}}' >.bawn/policy.yaml
    run --separate-stderr -0 "$BAWN" policy show
    [[ $output != *10.9.8.4* && $output != *1400* ]]
}

@test "what can be held of the same is held" {
    run -0 "$BAWN" run --net none --allow-host a.example -- echo ran
    [ "$output" = ran ]
    run -0 "$BAWN" run --set sandbox.network.allow_local_binding=false -- echo ran
    [ "$output" = ran ]
    for path in /dev/zero /dev/urandom /dev/random /dev/shm /dev/pts /proc/stat; do
        run -1 "$BAWN" check --deny "$path" read "$path"
        run -0 "$BAWN" run --deny "$path" -- sh -c "[ ! -r $path ] && echo gone"
        [ "$output" = gone ]
    done
    run -1 "$BAWN" check --set sandbox.devices.deny=/dev/zero read /dev/zero
    run -0 "$BAWN" run --set sandbox.devices.deny=/dev/zero -- sh -c '[ ! -e /dev/zero ] && [ -e /dev/null ] && echo gone'
    [ "$output" = gone ]
    # A directory that only leads to what is granted can be listed, and shows no more than that.
    run -0 "$BAWN" run --reads strict -- ls /
    [[ $output == *usr* && $output != *boot* ]]
    # Where all else is asked about it is there, and cannot be opened.
    run -0 "$BAWN" run --reads dynamic -- ls /
    [[ $output == *boot*usr* ]]
    run -2 "$BAWN" run -q --reads dynamic -- ls /boot
}

@test "best effort says what it goes without, each time and also from a kept plan" {
    for _ in 1 2 3; do
        run --separate-stderr -0 "$BAWN" run --best-effort --deny /proc/self/maps -- echo ran
        [[ $output == ran && $stderr == *"bawn: not held here: deny /proc/self/maps"* ]]
        sleep 0.05
    done
    run --separate-stderr -0 "$BAWN" run --quiet --best-effort --deny /proc/self/maps -- echo ran
    [[ $output == ran && -z $stderr ]]
    run --separate-stderr -0 "$BAWN" run --set sandbox.require_os_sandbox=false --deny /proc/self/maps -- echo ran
    [[ $output == ran && $stderr == *"bawn: not held here: deny /proc/self/maps"* ]]
}

@test "the profile none grants nothing, and keeps the built-in lists" {
    run -0 --separate-stderr "$BAWN" policy show --isolated --profile none
    [[ $output != *"paths."* ]]
    run -1 "$BAWN" check read --isolated --profile none /usr/bin/env
    run -0 "$BAWN" check read --isolated --profile none --ro "$HOME" "$HOME/notes"
    run -1 "$BAWN" check read --isolated --profile none --ro "$HOME" "$HOME/.ssh/id_rsa"
}

@test "plan --image prints what is carried out, step by step, also as JSON" {
    run -0 "$BAWN" plan --image --ro /usr/share
    [[ $output == *"at each start, in this order"*"seal-all"*"bind"*"rules ("*"made from ("* ]]
    "$BAWN" plan --image --json >image.json
    run -0 python3 -c 'import json; print(json.load(open("image.json"))["image"])'
    [[ $output == *"at each start, in this order"* ]]
    # What run refuses has no image, but for best effort.
    run --separate-stderr -125 "$BAWN" plan --image --deny /proc/self/maps
    has_error_and_hint
    run -0 "$BAWN" plan --image --best-effort --deny /proc/self/maps
    [[ $output == *"not held (1):"*"deny /proc/self/maps"* ]]
}

@test "make: true makes a directory for a run, when the user wants it and nobody else" {
    write_policy() { printf 'version: 1\nsandbox:\n  paths:\n    new: {root: %s, mode: %s, make: true}\n' "$2" "$3" >"$1"; }
    write_policy new.yaml "$HOME/new/dir" rw
    run -0 "$BAWN" check --policy new.yaml write "$HOME/new/dir/x"
    run -0 "$BAWN" plan --policy new.yaml
    [ ! -e "$HOME/new" ]
    run -0 --separate-stderr "$BAWN" run --policy new.yaml -- sh -c 'echo made >~/new/dir/x'
    [ "$(cat "$HOME/new/dir/x")" = made ]
    [ -z "$stderr" ]
    run -0 "$BAWN" policy export --policy new.yaml
    [[ $output == *"mode: rw, make: true}"* ]]
    write_policy new.yaml /dev/null/new rw
    run -125 --separate-stderr "$BAWN" run --policy new.yaml -- true
    has_error_and_hint
    write_policy new.yaml "$HOME/read" ro
    run -125 --separate-stderr "$BAWN" run --policy new.yaml -- true
    [[ $stderr == *"new.yaml:4:5: error: sandbox.paths.new: 'make' goes with mode rw"* ]]
    # A project makes nothing, approved or not.
    mkdir .bawn
    write_policy .bawn/policy.yaml "$HOME/projects" rw
    run -0 --separate-stderr "$BAWN" run -- true
    [[ $stderr == *"policy.yaml:4:"*"sandbox.paths.new.make has no effect: bawn makes directories only for the user and the org"* ]]
    run -0 "$BAWN" policy approve --yes .bawn/policy.yaml
    run -0 --separate-stderr "$BAWN" run -- true
    [[ $stderr == *"sandbox.paths.new.make has no effect"* ]]
    [ ! -e "$HOME/projects" ]
}

@test "what would have no effect is said: paths that are not there, and what an unapproved project wants" {
    run -125 --separate-stderr "$BAWN" run --rw "$WORK/typo" -- true
    [[ $stderr == *"--rw $WORK/typo: error: there is no $WORK/typo"*"--rw-new makes a directory there"* ]]
    run -125 --separate-stderr "$BAWN" check --ro "$WORK:/inside" read x
    [[ $stderr == *"give the path alone, without ':'"* ]]
    run -0 "$BAWN" check --rw-new "$WORK/new/dir" write "$WORK/new/dir/x"
    [ ! -e "$WORK/new" ]
    run -0 --separate-stderr "$BAWN" run --rw-new "$HOME/new/dir" -- sh -c 'echo made >~/new/dir/x'
    [ "$(cat "$HOME/new/dir/x")" = made ]
    [ -z "$stderr" ]
    mkdir .bawn "$HOME/other"
    printf 'version: 1\nsandbox:\n  paths:\n    other: {root: %s, mode: rw}\n' "$HOME/other" >.bawn/policy.yaml
    run -0 --separate-stderr "$BAWN" run -- true
    [[ $stderr == *"policy.yaml:4:5: warning: paths.other has no effect: a project may only narrow"*"bawn policy approve"* ]]
    run -1 --separate-stderr "$BAWN" policy lint
    [ "$(grep -c 'has no effect' <<<"$output$stderr")" = 1 ]
}
