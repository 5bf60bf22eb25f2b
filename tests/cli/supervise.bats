#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the words are of other shells
# shellcheck disable=SC2154,SC2030,SC2031 # run sets stderr and output
# bawn supervise: programs and rules answer what sessions ask.

load common

setup() {
    sessions_setup
    SOCKET=$XDG_RUNTIME_DIR/bawn/supervisor
    CLIENT=$BATS_TEST_DIRNAME/supervise.py
    LOG=$BATS_TEST_TMPDIR/log
    SUPERVISOR=
}

teardown() {
    if [ -n "$SUPERVISOR" ]; then
        kill -CONT "$SUPERVISOR" 2>/dev/null || true
        kill "$SUPERVISOR" 2>/dev/null || true
        wait "$SUPERVISOR" || true
    fi
    rm -f "$XDG_RUNTIME_DIR"/bawn/{supervisor,answered}
    rmdir "$XDG_RUNTIME_DIR/bawn" 2>/dev/null || true
    forget_trails
    sessions_teardown
}

# until_true COMMAND...: within ten seconds.
until_true() {
    local i

    for ((i = 0; i < 200; i++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    echo "never: $*" >&2
    return 1
}

# supervise [OPTION]...: starts it, and waits until it says its first line.
supervise() {
    "$BAWN" supervise "$@" >"$LOG" 2>"$LOG.err" 3>&- &
    SUPERVISOR=$!
    until_true test -s "$LOG" || { cat "$LOG.err" >&2 && false; }
}

# client NAME WHAT [ARGUMENT]...: in the background, until it is ready; $BATS_TEST_TMPDIR/NAME has what it prints.
client() {
    local name=$1 what=$2

    shift 2
    python3 "$CLIENT" "$what" "$SOCKET" "$@" >"$BATS_TEST_TMPDIR/$name" 2>&1 3>&- &
    eval "CLIENT_$name=$!"
    until_true grep -q ready "$BATS_TEST_TMPDIR/$name"
}

# asking COMMAND...: where writes of *.key are asked about.
asking() {
    "$BAWN" run --set 'sandbox.confirm=*.key' -- "$@" 3>&-
}

@test "supervise: the transcript in the protocol is what happens" {
    supervise
    python3 "$CLIENT" transcript "$SOCKET" "$BATS_TEST_DIRNAME/../../docs/PROTOCOL-approvals.md" "$WORK" \
        >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    local client=$!
    until_true grep -q ready "$BATS_TEST_TMPDIR/out"
    run asking sh -c 'echo 1 >a.key; echo 2 >b.key'
    [ "$status" -eq 2 ]
    wait $client || { cat "$BATS_TEST_TMPDIR/out" && false; }
    [ "$(cat a.key)" = 1 ]
    [ ! -e b.key ]
}

@test "supervise: nobody is asked, and nothing is opened, while no client has said hello" {
    supervise
    run ! asking sh -c 'echo 1 >a.key'
    [ ! -e a.key ]
    [ ! -e "$XDG_RUNTIME_DIR/bawn/answered" ]
}

@test "supervise: an answer for the session is not asked for again, and one for once is" {
    supervise
    client one answer approve 2
    asking sh -c 'echo 1 >a.key; echo 2 >>a.key'
    [ "$(grep -c fs_request "$BATS_TEST_TMPDIR/one")" -eq 2 ]
    kill "$CLIENT_one"
    wait "$CLIENT_one" || true
    python3 - "$SOCKET" >"$BATS_TEST_TMPDIR/two" 3>&- <<EOF &
import sys; sys.path.insert(0, "$BATS_TEST_DIRNAME")
from supervise import Client
client = Client(sys.argv[1])
print("ready", flush=True)
question = client.question()
for members, code in (({"scope": "host"}, "approve.scope"), ({"scope": "once", "persist": "user"}, "approve.scope"),
                      ({"scope": "dir"}, "approve.scope" if "grant_tree" not in question else None),
                      ({"persist": "user"}, "approve.scope" if "grant" not in question else None),
                      ({"scope": "fle"}, "protocol.value"), ({"persit": "user"}, "protocol.member")):
    if code:
        client.say({"type": "cmd.approve", "id": question["id"], "seq": 5, **members})
        reply = client.reply(5)
        assert reply["error"]["code"] == code and reply["error"]["hint"], (members, reply)
client.say({"type": "cmd.approve", "id": question["id"], "scope": "file", "seq": 6})
assert client.reply(6)["ok"]
while (event := client.hear())["type"] != "event.session" or event["state"] != "end":
    assert not event["type"].endswith("_request"), event
EOF
    local two=$!
    until_true grep -q ready "$BATS_TEST_TMPDIR/two"
    asking sh -c 'for i in 1 2 3 4; do echo $i >>a.key; done'
    wait $two
}

@test "supervise: two sessions at once, and one that is named" {
    local first second

    supervise
    client all answer approve 2
    first=$("$BAWN" run -d --set 'sandbox.confirm=*.key' -- sh -c 'sleep 0.5; echo 1 >a.key; sleep 60' 3>&-)
    second=$("$BAWN" run -d --set 'sandbox.confirm=*.key' -- sh -c 'sleep 0.5; echo 1 >b.key; sleep 60' 3>&-)
    until_true test -s a.key
    until_true test -s b.key
    kill "$SUPERVISOR"
    wait "$SUPERVISOR"
    [ ! -e "$SOCKET" ]
    supervise "${first:0:5}"
    client one hold
    run -0 python3 "$CLIENT" say "$SOCKET" '{"type": "cmd.policy.save", "rule": "read /x", "scope": "local", "session": "'"$second"'"}'
    [[ $output == *session.unknown* ]]
    grep -q "\"session\": \"$first\"" "$BATS_TEST_TMPDIR/one"
    run ! grep "$second" "$BATS_TEST_TMPDIR/one"
    "$BAWN" stop --timeout 0 "$first"
    wait "$SUPERVISOR"
    SUPERVISOR=
    run -125 --separate-stderr "$BAWN" supervise zzzzzz
    has_error_and_hint
}

@test "supervise: killed with -9, all that waits gets its no at once; the next one takes its place" {
    local start

    supervise
    client one hold
    asking sh -c 'echo 1 >a.key' >"$BATS_TEST_TMPDIR/out" 2>&1 &
    local command=$!
    until_true grep -q fs_request "$BATS_TEST_TMPDIR/one"
    start=$(date +%s%N)
    kill -9 "$SUPERVISOR"
    run ! wait $command
    (($(date +%s%N) - start < 2000000000))
    [ ! -e a.key ]
    [ -S "$SOCKET" ]
    run ! asking sh -c 'echo 1 >a.key'
    [ ! -e a.key ]
    supervise
    run -125 --separate-stderr "$BAWN" supervise
    [[ $stderr == *"another 'bawn supervise' serves it"* ]]
    has_error_and_hint
    client two answer approve 1
    asking sh -c 'echo 1 >a.key'
    [ -s a.key ]
}

@test "supervise: a session that is stopped holds nobody up, and is served when it goes on" {
    local sid launcher

    sid=$("$BAWN" run -d --set 'sandbox.confirm=*.key' -- sleep 60 3>&-)
    launcher=$(json_get "$("$BAWN" status --json "$sid")" 'd["pid"]')
    kill -STOP "$launcher"
    # As those would who tried again and again.
    python3 -c '
import socket, sys
held = []
while True:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.setblocking(False)
    try: one.connect(sys.argv[1])
    except BlockingIOError: break
    held.append(one)' "$XDG_RUNTIME_DIR/bawn/$sid/control"
    rules <<<'rules: [{path: /**, answer: allow}]'
    supervise --rules "$BATS_TEST_TMPDIR/rules.yaml"
    asking sh -c 'echo 1 >a.key'
    kill -CONT "$launcher"
    until_true timeout 5 "$BAWN" exec "$sid" -- sh -c 'echo 1 >b.key'
    [ -s b.key ]
}

@test "supervise: a client that leaves is nobody to be asked" {
    supervise
    client one hold
    asking sh -c 'echo 1 >a.key' >"$BATS_TEST_TMPDIR/out" 2>&1 &
    local command=$!
    until_true grep -q fs_request "$BATS_TEST_TMPDIR/one"
    kill -9 "$CLIENT_one"
    run ! wait $command
    [ ! -e a.key ]
    # The supervisor lives on.
    client two answer approve 1
    asking sh -c 'echo 1 >a.key'
}

@test "supervise: the socket is 0600 in 0700, by a path without links, in a directory of one's own" {
    local dir

    dir=$(mktemp -d "$BATS_TEST_TMPDIR/XXXX")
    supervise
    [ "$(stat -c %a "$SOCKET" "$XDG_RUNTIME_DIR/bawn")" = $'600\n700' ]
    kill "$SUPERVISOR"
    wait "$SUPERVISOR"
    (umask 0; exec "$BAWN" supervise --socket "$dir/s" >"$LOG" 3>&-) &
    SUPERVISOR=$!
    until_true grep -q "listening on $dir/s" "$LOG"
    [ "$(stat -c %a "$dir/s")" = 600 ]
    kill "$SUPERVISOR"
    wait "$SUPERVISOR"
    SUPERVISOR=
    [ ! -e "$dir/s" ]
    ln -s "$dir" "$BATS_TEST_TMPDIR/link"
    echo mine >"$dir/file"
    mkdir -m 755 "$BATS_TEST_TMPDIR/open"
    ln -s "$dir/there" "$dir/dangling"
    for place in "$BATS_TEST_TMPDIR/link/s" "$dir/file" "$BATS_TEST_TMPDIR/open/s" "$dir/dangling" "$dir/none/s" "$dir/"; do
        run -125 --separate-stderr timeout 5 "$BAWN" supervise --socket "$place"
        [[ $stderr == "bawn: "* ]]
    done
    [ "$(cat "$dir/file")" = mine ]
    [ ! -e "$dir/there" ]
}

@test "supervise: no sandbox finds the socket, and none may speak on it" {
    supervise
    client one hold
    # Its directory is covered, also where all around it is granted.
    run -0 "$BAWN" run --rw "$XDG_RUNTIME_DIR" -- sh -c 'ls -A "$1/bawn" 2>&1; exit 0' sh "$XDG_RUNTIME_DIR"
    [[ $output != *supervisor* && $output != *answered* ]]
    run ! "$BAWN" run --rw "$XDG_RUNTIME_DIR" -- python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$SOCKET"
    # One that was connected outside by somebody else, or is reached from another pid namespace, is closed.
    local unshare=(unshare --pid --fork)
    [ "$(id -u)" -eq 0 ] || unshare+=(--user --map-root-user)
    run -0 "${unshare[@]}" python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b"{\"type\": \"cmd.hello\", \"version\": 1}\n")
    got = s.recv(100)
except OSError:
    got = b""
print(repr(got))' "$SOCKET"
    [ "$output" = "b''" ]
    # From here the same is heard.
    run -0 python3 "$CLIENT" say "$SOCKET" '{"type": "cmd.hello", "version": 1}'
    [[ $output == *'"ok": true'* ]]
}

@test "supervise: a socket that was placed where a sandbox sees it is of no use inside" {
    mkdir -m 700 "$WORK/s"
    "$BAWN" supervise --socket "$WORK/s/s" >"$LOG" 3>&- &
    SUPERVISOR=$!
    until_true test -S "$WORK/s/s"
    local as=()
    # The same uid as outside: the directory lets it in.
    [ "$(id -u)" -ne 0 ] || as=(--as-root)
    run "$BAWN" run "${as[@]}" --set sandbox.network.unix_sockets="$WORK/s/s" -- python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print("connected", flush=True)
s.sendall(b"{\"type\": \"cmd.hello\", \"version\": 1}\n")
print("heard", s.recv(100))' "$WORK/s/s"
    [[ $output == connected* ]]
    [[ $output == *"heard b''"* || $output == *ConnectionResetError* || $output == *BrokenPipeError* ]]
}

@test "supervise: a hostile client costs neither memory nor descriptors, nor others their turn" {
    supervise
    run python3 "$CLIENT" hostile "$SOCKET" "$SUPERVISOR"
    echo "$output"
    [ "$status" -eq 0 ]
    client one answer approve 1
    asking sh -c 'echo 1 >a.key'
}

@test "supervise: many questions and a slow client: memory and descriptors are flat" {
    supervise
    python3 "$CLIENT" slow "$SOCKET" "$SUPERVISOR" 600 1 >"$BATS_TEST_TMPDIR/slow" 2>&1 3>&- &
    local client=$!
    until_true grep -q ready "$BATS_TEST_TMPDIR/slow"
    asking python3 -c '
import threading
def ask(k):
    for i in range(150):
        try: open("x%d-%d.key" % (k, i), "w").close()
        except OSError: pass
threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
for t in threads: t.start()
for t in threads: t.join()'
    kill "$SUPERVISOR" || true
    wait "$SUPERVISOR" || true
    SUPERVISOR=
    wait $client || { cat "$BATS_TEST_TMPDIR/slow" && false; }
    run -0 json_get "$(tail -n1 "$BATS_TEST_TMPDIR/slow")" 'd["answered"]'
    [ "$output" -eq 600 ]
    [ "$(find . -name 'x*.key' | wc -l)" -eq 300 ]
}

@test "supervise: rules are saved by cmd.policy.save, as 'bawn policy save' would" {
    supervise
    run -0 python3 "$CLIENT" say "$SOCKET" '{"type": "cmd.policy.save", "rule": "read /srv", "seq": "s"}' \
        '{"type": "cmd.policy.save", "rule": "raed /srv"}' '{"type": "cmd.policy.save", "rule": "read"}' \
        '{"type": "cmd.policy.save", "rule": "read /srv", "scope": "project"}' \
        '{"type": "cmd.policy.save", "rule": "read --help"}' '{"type": "cmd.policy.save", "rule": "read /srv", "scope": "session"}'
    [ "$(json_get "${lines[0]}" 'd["to"], d["ok"], d["file"], d["written"]')" = "('s', True, '$XDG_CONFIG_HOME/bawn/policy.yaml', True)" ]
    grep -q /srv "$XDG_CONFIG_HOME/bawn/policy.yaml"
    for i in 1 2 3 5; do
        [ -n "$(json_get "${lines[$i]}" 'd["error"]["code"] and d["error"]["hint"]')" ]
    done
    run -0 "$BAWN" check read /srv
}

@test "supervise: --stdio is the same for the program that started it, and ends with its input" {
    run -0 python3 - "$BAWN" <<'EOF'
import json, subprocess, sys
bawn = sys.argv[1]
p = subprocess.Popen([bawn, "supervise", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(**members): p.stdin.write(json.dumps(members) + "\n"); p.stdin.flush()
def hear(): return json.loads(p.stdout.readline())
say(type="cmd.hello", version=1)
assert hear()["ok"]
command = subprocess.Popen([bawn, "run", "--set", "sandbox.confirm=*.key", "--", "sh", "-c", "echo 1 >a.key"])
while not (event := hear())["type"].endswith("_request"): pass
say(type="cmd.approve", id=event["id"])
assert command.wait(20) == 0
p.stdin.close()
assert p.wait(10) == 0
EOF
    [ -s a.key ]
    [ ! -e "$SOCKET" ]
    run -125 --separate-stderr "$BAWN" supervise --stdio --socket "$BATS_TEST_TMPDIR/s"
    has_error_and_hint
}

rules() { cat >"$BATS_TEST_TMPDIR/rules.yaml"; }

@test "supervise: rules answer, the first that matches, and each answer is written down" {
    mkdir open
    rules <<EOF
rules:
  - {path: "$WORK/open/no*.key", answer: deny, scope: file}
  - op: [write, read]
    path: $WORK/open/**
    answer: allow
    scope: file
  - {path: "$WORK/*.key", program: /**/touch, answer: allow}
EOF
    supervise --rules "$BATS_TEST_TMPDIR/rules.yaml"
    grep -q '(3 rules)' "$LOG"
    run asking sh -c 'echo 1 >open/a.key; mkdir open/b; echo 1 >open/b/c.key; echo 1 >open/no1.key; touch x.key; echo 1 >y.key'
    [ -s open/a.key ]
    [ -s open/b/c.key ]
    [ ! -e open/no1.key ]
    [ -e x.key ]
    [ ! -e y.key ]
    [ "$(cut -d' ' -f3- "$LOG" | sed -n '2,$p')" = "allow file: write $WORK/open/a.key by $(realpath /bin/sh) (line 3)
allow file: write $WORK/open/b/c.key by $(realpath /bin/sh) (line 3)
deny file: write $WORK/open/no1.key by $(realpath /bin/sh) (line 2)
allow once: write $WORK/x.key by /usr/bin/touch (line 7)
deny once: write $WORK/y.key by $(realpath /bin/sh) (default)" ]
}

@test "supervise: rules that ask, and a dry run, leave the answer to others" {
    rules <<<'{default: ask, rules: [{path: /**/b.key, answer: deny}]}'
    supervise --json --rules "$BATS_TEST_TMPDIR/rules.yaml" --socket "$XDG_RUNTIME_DIR/s"
    SOCKET=$XDG_RUNTIME_DIR/s
    client one answer approve 1
    asking sh -c 'echo 1 >a.key'
    [ -s a.key ]
    run ! asking sh -c 'echo 1 >b.key'
    [ "$(python3 -c 'import json, sys
print([(e["answer"], e["dry_run"], e.get("line")) for e in map(json.loads, open(sys.argv[1])) if e["event"] == "answer"])' "$LOG")" = \
        "[('ask', False, None), ('deny', False, 1)]" ]
    kill "$SUPERVISOR"
    wait "$SUPERVISOR"
    supervise --dry-run --rules "$BATS_TEST_TMPDIR/rules.yaml" --socket "$XDG_RUNTIME_DIR/s"
    client two answer approve 1
    asking sh -c 'echo 1 >b.key'
    [ -s b.key ]
    grep -q "would deny once: write $WORK/b.key" "$LOG"
}

@test "supervise: hosts are asked about, and an answer for later sessions is saved" {
    local port server

    mkdir www
    echo hello >www/index.html
    python3 -u -m http.server 0 --bind 127.0.0.1 --directory www >"$BATS_TEST_TMPDIR/http" 2>&1 3>&- &
    server=$!
    until_true grep -q 'port [0-9]' "$BATS_TEST_TMPDIR/http"
    port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$BATS_TEST_TMPDIR/http")
    local get=("$BAWN" run --net proxy --ask-host "a.example:$port" --set sandbox.network.hosts.a.example=127.0.0.1 --
        python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read())' "http://a.example:$port/")
    rules <<<"rules: [{op: connect, host: '*.example:$port', answer: deny}]"
    supervise --rules "$BATS_TEST_TMPDIR/rules.yaml"
    run ! "${get[@]}"
    grep -q "deny once: connect a.example:$port" "$LOG"
    rules <<<"rules: [{op: connect, host: '*.example:$((port + 1))', answer: deny}, {host: '**.example', answer: allow, persist: user}]"
    kill -HUP "$SUPERVISOR"
    until_true grep -q 'read anew' "$LOG"
    run -0 "${get[@]}"
    [[ $output == *hello* ]]
    grep -q "allow host and save in user: connect a.example:$port" "$LOG"
    until_true grep -q "a.example:$port" "$XDG_CONFIG_HOME/bawn/policy.yaml"
    kill "$SUPERVISOR"
    wait "$SUPERVISOR"
    rm "$XDG_CONFIG_HOME/bawn/policy.yaml"
    supervise
    python3 - "$SOCKET" "$port" >"$BATS_TEST_TMPDIR/two" 2>&1 3>&- <<EOF &
import sys; sys.path.insert(0, "$BATS_TEST_DIRNAME")
from supervise import Client
client = Client(sys.argv[1])
print("ready", flush=True)
question = client.question()
assert (question["type"], question["op"], question["host"], question["port"]) == ("event.net_request", "connect", "a.example", int(sys.argv[2])), question
assert question["grant"] == "host a.example:" + sys.argv[2] and "path" not in question, question
client.say({"type": "cmd.approve", "id": question["id"], "scope": "file", "seq": 5})
assert client.reply(5)["error"]["code"] == "approve.scope"
client.say({"type": "cmd.approve", "id": question["id"], "persist": "user", "seq": 6})
assert client.reply(6)["ok"]
while (event := client.hear())["type"] != "event.session": pass
EOF
    local two=$!
    until_true grep -q ready "$BATS_TEST_TMPDIR/two"
    run -0 "${get[@]}"
    wait $two || { cat "$BATS_TEST_TMPDIR/two" && false; }
    until_true grep -q "a.example:$port" "$XDG_CONFIG_HOME/bawn/policy.yaml"
    kill $server
}

@test "supervise: the rules that the README and the help show are rules" {
    local file=$BATS_TEST_TMPDIR/rules.yaml

    # They are read first, and then there is no such session.
    python3 -c 'import re, sys
print(re.search("```yaml\n(default: deny.*?)```", open(sys.argv[1]).read(), re.S).group(1))' \
        "$BATS_TEST_DIRNAME/../../README.md" >"$file"
    grep -q persist "$file"
    run -125 --separate-stderr "$BAWN" supervise --rules "$file" zzzzzz
    [[ $stderr == *"zzzzzz: no such session"* ]]
    "$BAWN" help supervise | tr -s '\n ' ' ' | grep -o "rules: \[{[^']*" >"$file"
    run -125 --separate-stderr "$BAWN" supervise --rules "$file" zzzzzz
    [[ $stderr == *"zzzzzz: no such session"* ]]
}

@test "supervise: a bad file of rules is refused with its place, and the old one stays on SIGHUP" {
    local file=$BATS_TEST_TMPDIR/rules.yaml bad

    while IFS='|' read -r place bad; do
        printf '%b' "$bad" >"$file"
        run -125 --separate-stderr timeout 5 "$BAWN" supervise --rules "$file"
        [[ $stderr == "bawn: $file:$place: "* ]] || { echo "$bad: $stderr" && false; }
    done <<'EOF'
1:1|[]
1:1|default: deny
1:10|default: allow\nrules: []
1:1|rlues: []
1:9|rules: [1]
2:3|rules:\n- op: read
2:25|rules:\n- {answer: allow, path: x}
2:12|rules:\n- {answer: alow, path: /x}
2:3|rules:\n- {answer: allow}
2:25|rules:\n- {answer: allow, path: "/x/[a"}
2:35|rules:\n- {answer: allow, host: a, scope: file}
2:25|rules:\n- {answer: allow, host: "a*b"}
2:29|rules:\n- {answer: allow, path: /x, prog: /y}
2:36|rules:\n- {answer: allow, path: /x, scope: hots}
2:42|rules:\n- {answer: allow, path: /x, scope: once, persist: user}
2:8|rules:\n- {op: raed, path: /x, answer: deny}
2:1|rules: [\n
EOF
    rules <<<'rules: [{path: /**/a.key, answer: allow}]'
    supervise --rules "$file"
    rules <<<'rules: [{path: /**/a.key, answer: alow}]'
    kill -HUP "$SUPERVISOR"
    until_true grep -q 'the rules stay as they were' "$LOG.err"
    grep -q "$file:1:35: 'alow'" "$LOG.err"
    asking sh -c 'echo 1 >a.key'
    rules <<<'rules: [{path: /**/b.key, answer: allow}]'
    kill -HUP "$SUPERVISOR"
    until_true grep -q 'read anew' "$LOG"
    run ! asking sh -c 'echo 2 >a.key'
    asking sh -c 'echo 1 >b.key'
    chmod g+w "$file"
    kill -HUP "$SUPERVISOR"
    until_true grep -q 'others than you can write' "$LOG.err"
}

@test "supervise: where an answer cannot be written down, none is given" {
    rules <<<'rules: [{path: /**, answer: allow}]'
    "$BAWN" supervise -q --rules "$BATS_TEST_TMPDIR/rules.yaml" >/dev/full 2>"$LOG.err" 3>&- &
    SUPERVISOR=$!
    until_true test -e "$XDG_RUNTIME_DIR/bawn/answered"
    run ! asking sh -c 'echo 1 >a.key'
    [ ! -e a.key ]
    status=0
    wait "$SUPERVISOR" || status=$?
    [ "$status" -eq 125 ]
    SUPERVISOR=
    grep -q 'write standard output' "$LOG.err"
}

@test "supervise: the example in Python answers, by patterns and by keys" {
    supervise
    python3 "$BATS_TEST_DIRNAME/../../examples/approve.py" --allow "$WORK/a*" --no-input >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    local client=$!
    until_true test -e "$XDG_RUNTIME_DIR/bawn/answered"
    run ! asking sh -c 'echo 1 >a.key; echo 1 >b.key'
    [ -s a.key ]
    [ ! -e b.key ]
    grep -q "allow write \"$WORK/a.key\"" "$BATS_TEST_TMPDIR/out"
    kill $client
    wait $client || true
    by_keys python3 "$BATS_TEST_DIRNAME/../../examples/approve.py"
}

@test "supervise: the example in Node answers, by patterns and by keys" {
    supervise
    node "$BATS_TEST_DIRNAME/../../examples/approve.mjs" --allow "$WORK/a*" --no-input >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    local client=$!
    until_true test -e "$XDG_RUNTIME_DIR/bawn/answered"
    run ! asking sh -c 'echo 1 >a.key; echo 1 >b.key'
    [ -s a.key ]
    [ ! -e b.key ]
    grep -q "allow write \"$WORK/a.key\"" "$BATS_TEST_TMPDIR/out"
    kill $client
    wait $client || true
    by_keys node "$BATS_TEST_DIRNAME/../../examples/approve.mjs"
}

# by_keys EXAMPLE...: y, a and n are typed when it asks.
by_keys() {
    local keys=$BATS_TEST_TMPDIR/keys

    until_true test ! -e "$XDG_RUNTIME_DIR/bawn/answered"
    rm -f ./*.key
    mkfifo "$keys"
    "$@" <"$keys" >"$BATS_TEST_TMPDIR/shown" 2>&1 3>&- &
    local client=$!
    exec 4>"$keys"
    until_true test -e "$XDG_RUNTIME_DIR/bawn/answered"
    asking sh -c 'echo 1 >c.key; echo 1 >d.key; echo 2 >>d.key; echo 1 >e.key; exit 0' 4>&- &
    local command=$!
    for key in c:y d:a e:n; do
        until_true grep -q "wants to write \"$WORK/${key%:*}.key\"" "$BATS_TEST_TMPDIR/shown"
        echo "${key#*:}" >&4
    done
    wait $command
    exec 4>&-
    wait $client
    [ -s c.key ]
    [ "$(cat d.key)" = $'1\n2' ]
    [ ! -e e.key ]
}
