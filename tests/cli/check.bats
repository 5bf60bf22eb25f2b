#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn check and bawn why: answers and their exit status.

load common

setup() {
    cli_setup
    touch file.txt
}

@test "what is allowed is 0 and one line with the rule" {
    run --separate-stderr -0 "$BAWN" check --isolated --ro . read file.txt
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "allow read $WORK/file.txt ("*')' ]]
}

@test "what is denied is 1 and says why on standard output" {
    run --separate-stderr -1 "$BAWN" check --isolated --reads strict read /etc/shadow
    [[ ${lines[0]} == "Cannot read '/etc/shadow': "* ]]
    [ -z "$stderr" ]
    run --separate-stderr -1 "$BAWN" check --isolated --profile strict connect example.org:443
    [ -n "$output" ]
}

@test "what would be asked about is 2" {
    mkdir asked
    run --separate-stderr -2 "$BAWN" check --isolated --ask asked read asked/file
    [[ $output == "ask read $WORK/asked/file ("* ]]
    run --separate-stderr -2 "$BAWN" why --isolated --ask asked read asked/file
}

@test "of several answers the strictest counts" {
    mkdir asked
    run -0 "$BAWN" check --isolated read file.txt other.txt
    [ "${#lines[@]}" -eq 2 ]
    run -2 "$BAWN" check --isolated --ask asked read file.txt asked/x
    run -1 "$BAWN" check --isolated --ask asked read file.txt asked/x /etc/shadow
    run -1 "$BAWN" check --isolated --ask asked read /etc/shadow asked/x file.txt
}

@test "a question that makes no sense is 125, never a yes" {
    run --separate-stderr -125 "$BAWN" check --isolated read ''
    [ -z "$output" ]
    [[ $stderr == 'bawn: '* ]]
    run --separate-stderr -125 "$BAWN" check --isolated connect example.org:notaport
    run --separate-stderr -125 "$BAWN" check --isolated read file.txt ''
    [ -z "$output" ]
    run --separate-stderr -125 "$BAWN" why --isolated read ''
}

@test "one question is a JSON object, several are an array" {
    local key

    run --separate-stderr -1 "$BAWN" check --isolated --reads strict --json read /etc/shadow
    is_json "$output"
    for key in verdict code operation what target rule file line column text; do
        [ "$(json_get "$output" "'$key' in d")" = True ]
    done
    [ "$(json_get "$output" 'd["verdict"]')" = deny ]
    run --separate-stderr -0 "$BAWN" check --isolated --json read file.txt other.txt
    is_json "$output"
    [ "$(json_get "$output" '[a["verdict"] for a in d]')" = "['allow', 'allow']" ]
}

@test "resolve prints the path that would be judged" {
    mkdir dir
    ln -s dir link
    run --separate-stderr -0 "$BAWN" check --isolated --rw . resolve link/./new
    [ "$output" = "$WORK/dir/new" ]
    run --separate-stderr -0 "$BAWN" check --isolated --json resolve link/x
    is_json "$output"
    [ "$(json_get "$output" 'd["target"]')" = "$WORK/dir/x" ]
}

@test "resolve refuses what cannot be reached, wherever a link says it is" {
    mkdir dir
    ln -s /nowhere link
    for path in /nowhere/x link/x "$HOME/.ssh/id_rsa" dir/.env; do
        run --separate-stderr -1 "$BAWN" check --isolated --reads strict --set sandbox.home=none --deny .env resolve "$path"
        [[ $output == "Cannot "* ]]
        run --separate-stderr -1 "$BAWN" check --isolated --reads strict --set sandbox.home=none --deny .env --json resolve "$path"
        [ "$(json_get "$output" 'd["operation"], d["verdict"]')" = "('resolve', 'deny')" ]
    done
    run --separate-stderr -2 "$BAWN" check --isolated --ask /nowhere resolve link/x
    [ "$output" = /nowhere/x ]
}

@test "the workspace is where relative paths start, wherever the option stands" {
    mkdir -p "$BATS_TEST_TMPDIR/elsewhere"
    run -0 "$BAWN" check read file.txt --isolated -C "$BATS_TEST_TMPDIR/elsewhere"
    [[ $output == *"$BATS_TEST_TMPDIR/elsewhere/file.txt"* ]]
}

@test "suffixes and sizes are asked about too" {
    cat >policy.yaml <<'YAML'
sandbox:
  paths:
    notes:
      root: .
      mode: rw
      suffixes: [.md]
      max_file_bytes: 100
YAML
    run -0 "$BAWN" check --isolated --policy policy.yaml suffix a.md
    run -1 "$BAWN" check --isolated --policy policy.yaml suffix a.exe
    [[ $output == *'.md'* ]]
    run -0 "$BAWN" check --isolated --policy policy.yaml size a.md --size 100
    run -1 "$BAWN" check --isolated --policy policy.yaml size a.md --size 1K
    [[ $output == *'1024'* ]]
}

@test "flags make rules: deny, protect, hosts and any key" {
    run -1 "$BAWN" check --isolated --deny '*.key' read a.key
    run -1 "$BAWN" check --isolated --protect '*.lock' write a.lock
    run -0 "$BAWN" check --isolated --protect '*.lock' read a.lock
    run -0 "$BAWN" check --isolated --net proxy --allow-host '*.example.org' connect \
        www.example.org:443
    run -1 "$BAWN" check --isolated --net proxy --allow-host '*.example.org' \
        --deny-host www.example.org connect www.example.org:443
    run -2 "$BAWN" check --isolated --net proxy --ask-host example.org connect example.org:443
    run -1 "$BAWN" check --isolated --set sandbox.deny=secret.txt read secret.txt
    run -0 "$BAWN" check --isolated --set sandbox.reads=static read /etc/hostname
}

@test "a question is asked for one program, and rules for that program count" {
    local ask

    cat >policy.yaml <<YAML
sandbox:
  network:
    mode: proxy
    allow: [www.example by=/usr/bin/env, "own.example by=$WORK/own", "script.example by=$WORK/script", "**.open.example"]
    ask: [www.open.example by=/usr/bin/env]
YAML
    cp /usr/bin/env own
    printf '#!/usr/bin/env sh\n' >script
    chmod +x script
    ask=("$BAWN" check --isolated --reads static --policy policy.yaml)
    run --separate-stderr -0 "${ask[@]}" --by env connect www.example:443
    [[ $output == "allow connect www.example:443 (rule allow www.example by=/usr/bin/env, "* ]]
    run --separate-stderr -0 "${ask[@]}" --by /usr/bin/../bin/env connect www.example:443
    run --separate-stderr -1 "${ask[@]}" connect www.example:443
    run --separate-stderr -1 "${ask[@]}" --by sh connect www.example:443
    run --separate-stderr -2 "${ask[@]}" --by env connect www.open.example:443
    run --separate-stderr -0 "${ask[@]}" --by sh connect www.open.example:443
    # What the command can write is nobody, and a script is not its interpreter.
    run --separate-stderr -1 "${ask[@]}" --by "$WORK/own" connect own.example:443
    run --separate-stderr -1 "${ask[@]}" --by "$WORK/script" connect script.example:443
    run --separate-stderr -125 "${ask[@]}" --by no-such-program connect www.example:443
    [[ $stderr == *"--by no-such-program: there is no such program in the sandbox"* ]]
    run --separate-stderr -125 "${ask[@]}" --by env read /etc/passwd
    [[ $stderr == *"--by: only 'bawn check connect' takes it"* ]]
    run --separate-stderr -0 "$BAWN" why --isolated --policy policy.yaml --by env connect www.example:443
    [[ $output == *"decided:   allow www.example by=/usr/bin/env at "* ]]
    run --separate-stderr -2 "$BAWN" why --isolated --json --policy policy.yaml --by env connect www.open.example:1
    [ "$(json_get "$output" 'd["rule"]')" = "ask www.open.example by=/usr/bin/env" ]
    run --separate-stderr -125 "$BAWN" why --isolated --by env exec sh
    [[ $stderr == *"--by: only 'bawn why connect' takes it"* ]]
}

@test "an upstream proxy is named where a connection goes through it" {
    local ask through='), through the proxy proxy.example:3128'

    cat >policy.yaml <<'YAML'
sandbox:
  network:
    mode: proxy
    allow: [www.example, in.example, 192.0.2.1, 10.0.0.5, db.example, far.example]
    deny: [bad.example]
    hosts: {db.example: 10.0.0.5, far.example: 192.0.2.9}
    host_ports: [5432]
    upstream_proxy: http://proxy.example:3128
    upstream_no_proxy: [in.example, 10.0.0.0/8]
YAML
    ask=("$BAWN" check --isolated --policy policy.yaml connect)
    for one in www.example:443 192.0.2.1:80 far.example:1; do
        run --separate-stderr -0 "${ask[@]}" "$one"
        [[ $output == *"$through" ]]
    done
    for one in in.example:443 10.0.0.5:80 db.example:1 localhost:5432; do
        run --separate-stderr -0 "${ask[@]}" "$one"
        [[ $output != *proxy.example* ]]
    done
    run --separate-stderr -1 "${ask[@]}" bad.example:443
    [[ $output != *proxy.example* ]]
    run --separate-stderr -0 "$BAWN" check --isolated --policy policy.yaml --net host connect www.example:443
    [[ $output != *proxy.example* ]]
    run --separate-stderr -0 "$BAWN" why --isolated --policy policy.yaml connect www.example:443
    [[ $output == *"goes:      through the proxy proxy.example:3128 (sandbox.network.upstream_proxy)"* ]]
    run --separate-stderr -0 "$BAWN" why --isolated --json --policy policy.yaml connect in.example:443
    [ "$(json_get "$output" 'd["through"]')" = None ]
}

@test "what a rule about a host lets be said is told by check, why, show, plan and export" {
    local words='git.example:22 opaque ech=allow'

    cat >policy.yaml <<'YAML'
sandbox:
  network:
    mode: proxy
    allow:
      - {host: "git.example:22", opaque: true, ech: allow}
      - {host: "api.example", by: /usr/bin/git}
YAML
    run --separate-stderr -0 "$BAWN" check --isolated --policy policy.yaml connect git.example:22
    [[ $output == "allow connect git.example:22 (rule allow $words, "*"policy.yaml:5)" ]]
    run --separate-stderr -0 "$BAWN" why --isolated --policy policy.yaml connect git.example:22
    [[ $output == *"decided:   allow $words at "*"carries:   anything: bawn does not look at it (opaque)"* ]]
    run --separate-stderr -1 "$BAWN" why --isolated --policy policy.yaml connect api.example:443
    [[ $output == *"unlisted"*"'allow api.example by=/usr/bin/git' is for one program"*"take 'by' out"* ]]
    run --separate-stderr -0 "$BAWN" why --isolated --policy policy.yaml --allow-host b.example connect b.example:1
    [[ $output == *"carries:   TLS or HTTP for this host; for anything else the rule must say opaque"* ]]
    run --separate-stderr -0 "$BAWN" policy show --isolated --policy policy.yaml
    [[ $output == *"allow $words "*"allow api.example by=/usr/bin/git "* ]]
    run --separate-stderr -0 "$BAWN" policy show --isolated --policy policy.yaml --json
    [ "$(json_get "$output" 'd["hosts"][0]["opaque"], d["hosts"][0]["ech"], d["hosts"][1]["by"]')" = \
        "(True, 'allow', '/usr/bin/git')" ]
    run --separate-stderr -0 "$BAWN" plan --isolated --policy policy.yaml
    [[ $output == *"] allow $words"* ]]
    [[ $output == *"] allow api.example by=/usr/bin/git"* ]]
    [[ $output == *"set:       https_proxy=http://127.0.0.1:800"* ]]
    run --separate-stderr -0 "$BAWN" policy export --isolated -q --policy policy.yaml
    [[ $output == *"- \"$words\""* ]]
    printf '%s\n' "$output" >again.yaml
    run --separate-stderr -0 "$BAWN" check --isolated --policy again.yaml connect git.example:22
    [[ $output == *"(rule allow $words, "* ]]
}

@test "the words behind a host are the same on the command line" {
    local net=(--isolated --net proxy)

    run -0 --separate-stderr "$BAWN" check "${net[@]}" --allow-host 'git.example:22 opaque' connect git.example:22
    [[ $output == *"(rule allow git.example:22 opaque, --allow-host git.example:22 opaque)" ]]
    run -125 --separate-stderr "$BAWN" check "${net[@]}" --allow-host 'git.example:22 opage' connect git.example:22
    [[ $stderr == *"opage: behind the host there can be opaque, ech=allow and by=PROGRAM"* ]]
    run -125 --separate-stderr "$BAWN" check "${net[@]}" --deny-host 'git.example opaque' connect git.example:22
    [[ $stderr == *"a denial refuses the host"* ]]
}

@test "the rule that won is named with its file and line" {
    printf 'sandbox:\n  paths:\n    data: {root: /srv/data, mode: ro}\n' >policy.yaml
    run -0 "$BAWN" check --isolated --policy policy.yaml read /srv/data/x
    [[ $output == *'policy.yaml:3'* ]]
    run -0 "$BAWN" check --isolated --policy policy.yaml --json read /srv/data/x
    [ "$(json_get "$output" 'd["line"]')" = 3 ]
}

@test "why explains, with the status of check" {
    run --separate-stderr -0 "$BAWN" why --isolated read file.txt
    [ -n "$output" ]
    run --separate-stderr -1 "$BAWN" why --isolated read /etc/shadow
    [ -n "$output" ]
    run --separate-stderr -1 "$BAWN" why --isolated --json read /etc/shadow
    is_json "$output"
}

@test "names with newlines, escapes and bytes that are not UTF-8 are shown escaped" {
    local name=$'a\nb\e[31m\xff'

    run --separate-stderr -0 "$BAWN" check --isolated read "$name"
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *'a\nb\x1b[31m\xff'* ]]
    run --separate-stderr -0 "$BAWN" check --isolated resolve "$name"
    [ "$output" = "$WORK/"'a\nb\x1b[31m\xff' ]
    run --separate-stderr -1 "$BAWN" check --isolated --reads strict read "/nowhere/$name"
    [[ $output != *$'\e'* ]]
    run --separate-stderr -1 "$BAWN" why --isolated --reads strict read "/nowhere/$name"
    [[ $output != *$'\e'* ]]
    for verb in check why; do
        run --separate-stderr "$BAWN" "$verb" --isolated --json read "$name"
        is_json "$output"
        [[ $output != *$'\e'* ]]
    done
}

@test "answers are coloured on a terminal only, and never with NO_COLOR" {
    run -0 "$BAWN" check --isolated read file.txt
    [[ $output != *$'\e'* ]]
    TERM=xterm run -0 on_terminal "$BAWN" check --isolated read file.txt </dev/null
    [[ $output == *$'\e[32mallow'* ]]
    TERM=xterm NO_COLOR=1 run -0 on_terminal "$BAWN" check --isolated read file.txt </dev/null
    [[ $output != *$'\e'* ]]
}

@test "plan says that of a listed directory no socket is shown" {
    mkdir sockets
    run --separate-stderr -0 "$BAWN" plan --isolated --set "sandbox.network.unix_sockets=$WORK/sockets"
    [[ $output == *"sandbox.network.unix_sockets: $WORK/sockets (a directory: list what is in it, one by one)"* ]]
    run --separate-stderr -0 "$BAWN" plan --isolated --set "sandbox.network.unix_sockets=$WORK/no.sock"
    [[ $output == *"$WORK/no.sock (does not exist now)"* ]]
}
