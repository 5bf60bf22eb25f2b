#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the words are of other shells, and of rules
# shellcheck disable=SC2154,SC2030,SC2031 # run sets stderr and output
# The audit trail, the stream of events, and what is said of refusals at the end.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-audit.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
    TRAILS=$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/audit
}

teardown() {
    forget_trails
    rmdir "$XDG_RUNTIME_DIR"
}

# recorded [OPTION]... -- COMMAND...: runs it; $ID is its trail, $TRAIL the file, $HEAD the other one.
recorded() {
    local status=0

    "$BAWN" run --events 3 "$@" 3>"$BATS_TEST_TMPDIR/events" || status=$?
    find_id
    return $status
}
find_id() {
    ID=$(python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["id"])' \
        "$BATS_TEST_TMPDIR/events")
    TRAIL=$TRAILS/$ID.ndjson
    HEAD=$TRAILS/heads/$ID
}

# records EXPRESSION: of r, the list of records in the trail.
records() {
    python3 -c 'import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
print(eval(sys.argv[2]))' "$TRAIL" "$1"
}

@test "audit: a run is recorded from its start to its end, with the policy that it had" {
    recorded -- true
    [ "$(records '[x["event"] for x in r]')" = "['start', 'end']" ]
    [ "$(records '[x["seq"] for x in r]')" = "[1, 2]" ]
    [ "$(records 'r[0]["argv"], r[0]["workspace"], r[0]["enforcement"], r[0]["audit"]')" = \
        "(['true'], '$WORK', 'full', 'on')" ]
    [ "$(records 'r[0]["policy"]')" = "$("$BAWN" policy show --json | sha256sum | cut -d' ' -f1)" ]
    [ "$(records 'r[1]["status"]')" = 0 ]
    run -0 "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: 2 records, as they were written" ]
    [ "$(stat -c %a "$TRAIL" "$HEAD" "$TRAILS")" = $'600\n600\n700' ]
}

@test "audit: the chain is what the protocol says, by other means" {
    git init -q .
    recorded -- sh -c 'echo x >.git/config; exit 0'
    run -0 python3 -c '
import hashlib, sys
prev = "0" * 64
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 3, lines
for line in lines:
    body, digest = line[:line.rindex(", \"hash\": \"")], line[-66:-2]
    assert hashlib.sha256(body.encode()).hexdigest() == digest, line
    assert body.endswith(", \"prev\": \"" + prev + "\""), line
    prev = digest
assert open(sys.argv[2]).read() == "%020d %s\n" % (len(lines), prev)' "$TRAIL" "$HEAD"
}

@test "audit: a refusal has one record, with who, what, and which rule" {
    git init -q .
    recorded -- sh -c 'for i in 1 2 3; do echo x >.git/config; done; touch /usr/new; exit 0' 2>/dev/null
    [ "$(records '[x["event"] for x in r]')" = "['start', 'refused', 'refused', 'refused', 'end']" ]
    [ "$(records 'r[1]["path"], r[1]["rule"], r[1]["op"], r[1]["verdict"], r[1]["comm"], r[1]["errno"]')" = \
        "('$WORK/.git/config', 'protected \$WORKSPACE/.git/config', 'write', 'deny', 'sh', 30)" ]
    [ "$(records 'r[1]["argv"][:2], r[1]["pid"] > 0, "times" in r[1]')" = "(['sh', '-c'], True, False)" ]
    [ "$(records 'r[2]["path"], r[2]["argv"], r[2]["comm"]')" = "('/usr/new', ['touch', '/usr/new'], 'touch')" ]
    # The same one again is counted.
    [ "$(records 'r[3]["path"], r[3]["times"]')" = "('$WORK/.git/config', 2)" ]
}

@test "audit: a flood is counted, and each refusal is in a count" {
    git init -q .
    recorded -- python3 -c '
import os
for i in range(2000):
    try: os.open(".git/hooks/x%d" % i, os.O_WRONLY | os.O_CREAT)
    except OSError: pass'
    run -0 records 'sum((x["event"] == "refused") * x.get("times", 1) + x.get("lost", 0) for x in r)'
    [ "$output" = 2000 ]
    run -0 records 'len(r) < 1000'
    [ "$output" = True ]
}

@test "audit: secrets in arguments, URLs and paths are masked, in the trail, the stream and the summary" {
    run ! recorded -- python3 -c '
import os, sys
for path in ("/usr/API_TOKEN=s3cret1", "/usr/x"):
    try: os.open(path, os.O_WRONLY | os.O_CREAT)
    except OSError as e: pass
sys.exit(1)' --token s3cret2 https://me:s3cret3@host/ "Authorization: Bearer s3cret4" KEY=s3cret5 \
        ghp_s3cret6aaaaaaaaaaaaaaaaaaaa
    [[ $output == *"write /usr/x"* && $output != *s3cret* ]]
    find_id
    run ! grep s3cret "$TRAIL" "$BATS_TEST_TMPDIR/events"
    [ "$(records '[x for x in r if x["event"] == "refused"][0]["path"]')" = "/usr/API_TOKEN=[masked]" ]
    [ "$(records 'r[0]["argv"][3:]')" = \
        "['--token', '[masked]', 'https://me:[masked]@host/', 'Authorization: [masked]', 'KEY=[masked]', 'ghp_[masked]']" ]
}

@test "audit: control characters in paths and arguments cannot forge a record" {
    recorded -- sh -c 'echo >"$1"; exit 0' sh $'/usr/a\n{"seq": 3}\e[2J\u202e' 2>/dev/null
    [ "$(wc -l <"$TRAIL")" -eq 3 ]
    run ! grep -P '[\x00-\x09\x0b-\x1f\x7f]' "$TRAIL"
    [ "$(records 'r[1]["path"] == "/usr/a\n{\"seq\": 3}\x1b[2J\u202e"')" = True ]
    run -0 "$BAWN" audit "$ID"
    [ "${#lines[@]}" -eq 3 ]
}

@test "audit: text, JSON, the last records, and the list" {
    recorded -- sh -c 'touch /usr/new; exit 5' 2>/dev/null || true
    run -0 "$BAWN" audit "$ID"
    [[ ${lines[1]} =~ ^20[0-9T:.Z-]+\ refused\ by=calls\ .*\ argv=\[\"touch\",\ \"/usr/new\"\].*\ path=/usr/new ]]
    [[ ${lines[2]} =~ \ end\ status=5\ elapsed_ms=[0-9]+$ ]]
    run -0 "$BAWN" audit --format json "$ID"
    [ "$output" = "$(cat "$TRAIL")" ]
    run -0 "$BAWN" audit --json -n 1 "${ID#*-}"
    [ "$output" = "$(tail -n1 "$TRAIL")" ]
    run -0 "$BAWN" audit --tail 0 "$ID"
    [ -z "$output" ]
    run -0 "$BAWN" audit
    [[ $output == *"$ID  exit 5    sh -c \"touch /usr/new; exit 5\""* ]]
    run -0 python3 -c '
import json, subprocess, sys
trails = json.loads(subprocess.run([sys.argv[1], "audit", "--json"], check=True, capture_output=True).stdout)["trails"]
print([(t["state"], t["status"]) for t in trails if t["id"] == sys.argv[2]])' "$BAWN" "$ID"
    [ "$output" = "[('ended', 5)]" ]
    run -125 --separate-stderr "$BAWN" audit lalala
    has_error_and_hint
    run -125 --separate-stderr "$BAWN" audit --tail x "$ID"
    has_error_and_hint
}

# tampered FAULT SCRIPT: what --verify says of a copy of the trail that the Python script changed; l: its lines.
tampered() {
    cp "$TRAIL" "$BATS_TEST_TMPDIR/kept"
    cp "$HEAD" "$BATS_TEST_TMPDIR/kept-head"
    python3 -c '
import sys
l = open(sys.argv[1]).readlines()
exec(sys.argv[2])
open(sys.argv[1], "w").write("".join(l))' "$TRAIL" "$2"
    run -1 "$BAWN" audit --verify --json "$ID"
    [ "$(json_get "$output" 'd["fault"], d["record"], d["whole"]')" = "$1" ]
    run -1 "$BAWN" audit --verify
    [[ $output == *"$ID: not as it was written: "* ]]
    cp "$BATS_TEST_TMPDIR/kept" "$TRAIL"
    cp "$BATS_TEST_TMPDIR/kept-head" "$HEAD"
}

@test "audit: --verify finds what was edited, removed, moved, cut off or added" {
    recorded -- sh -c 'touch /usr/a /opt/b; exit 0' 2>/dev/null
    [ "$(wc -l <"$TRAIL")" -ge 3 ]
    tampered "('edited', 2, False)" 'l[1] = l[1].replace("touch", "tough")'
    tampered "('edited', 1, False)" 'l[0] = l[0].replace("\"proven\": \"yes\"", "\"proven\": \"yet\"")'
    tampered "('removed', 2, False)" 'del l[1]'
    tampered "('reordered', 2, False)" 'l[1], l[2] = l[2], l[1]'
    tampered "('cut', $(wc -l <"$TRAIL"), False)" 'del l[-1]'
    tampered "('cut', $(wc -l <"$TRAIL"), False)" 'l[-1] = l[-1][:-30]'
    tampered "('cut', 1, False)" 'del l[:]'
    tampered "('form', 1, False)" 'l.insert(0, "x\n")'
    tampered "('form', $(($(wc -l <"$TRAIL") + 1)), False)" 'l.append("{}\n")'
    # All of it written anew, but for the head.
    tampered "('head', $(wc -l <"$TRAIL"), False)" '
import hashlib, re
prev = "0" * 64
for i, line in enumerate(l):
    line = re.sub(", \"prev\": .*", "", line.rstrip("\n")).replace("touch", "tough")
    line += ", \"prev\": \"%s\"" % prev
    prev = hashlib.sha256(line.encode()).hexdigest()
    l[i] = line + ", \"hash\": \"%s\"}\n" % prev'
    run -0 "$BAWN" audit --verify "$ID"
}

@test "audit: --verify finds a head that is missing or false, and a trail that is gone" {
    recorded -- true
    printf 'x' >>"$HEAD"
    run -1 "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: not as it was written: its head is none that bawn wrote" ]
    : >"$HEAD"
    run -1 "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: not as it was written: records were added: the head knows 0" ]
    rm "$HEAD"
    run -1 "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: not as it was written: its head is missing" ]
    rm "$TRAIL"
    recorded -- true
    rm "$TRAIL"
    run -1 "$BAWN" audit --verify
    [[ $output == *"$ID: not as it was written: the whole trail was removed"* ]]
    rm "$HEAD"
}

@test "audit: a torn record is removed by who reads it, and that is said; a cut one is not" {
    recorded -- true
    printf '{"seq": 3, "time": "2026' >>"$TRAIL"
    run -0 --separate-stderr "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: 2 records, as they were written" ]
    [[ $stderr == *"$ID: bawn was killed while it wrote the last record: what was there of it, 24 bytes, is removed"* ]]
    run -0 --separate-stderr "$BAWN" audit --verify "$ID"
    [ -z "$stderr" ]
    truncate -s -9 "$TRAIL"
    run -1 --separate-stderr "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: not as it was written: record 2 is cut off in the middle" ]
    [ -z "$stderr" ]
}

@test "audit: a launcher that is killed leaves a trail that is whole, without an end" {
    mkfifo go
    "$BAWN" run --events 3 -- sh -c 'touch /usr/new; read -r _ <go; sleep 60' 3>"$BATS_TEST_TMPDIR/events" \
        2>/dev/null &
    PID=$!
    exec 8>go
    for _ in {1..200}; do
        find_id 2>/dev/null && [ "$(wc -l <"$TRAIL")" -eq 2 ] && break
        sleep 0.05
    done
    run -0 "$BAWN" audit
    [[ $output == *"$ID  running "* ]]
    kill -9 "$PID"
    wait "$PID" || true
    exec 8>&-
    run -0 "$BAWN" audit --verify "$ID"
    [ "$output" = "$ID: 2 records, as they were written; the end is missing: bawn was killed" ]
    run -0 "$BAWN" audit
    [[ $output == *"$ID  lost "* ]]
    for _ in {1..100}; do [ -z "$(ls "$XDG_RUNTIME_DIR")" ] && break; sleep 0.05; done
}

@test "audit: --follow goes on until the session ends" {
    mkfifo go
    "$BAWN" run --events 3 -- sh -c 'read -r _ <go; touch /usr/new; exit 0' 3>"$BATS_TEST_TMPDIR/events" \
        2>/dev/null &
    PID=$!
    exec 8>go
    for _ in {1..200}; do find_id 2>/dev/null && [ -s "$TRAIL" ] && break; sleep 0.05; done
    timeout 20 "$BAWN" audit --follow "$ID" >"$BATS_TEST_TMPDIR/followed" &
    FOLLOWER=$!
    for _ in {1..200}; do grep -q ' start ' "$BATS_TEST_TMPDIR/followed" && break; sleep 0.05; done
    echo >&8
    wait "$PID"
    wait "$FOLLOWER"
    exec 8>&-
    [ "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/followed" | xargs)" = "start refused end" ]
}

@test "audit: off records nothing; a project may only make it stricter" {
    recorded --set audit=off -- true
    [ ! -e "$TRAIL" ]
    [ ! -e "$HEAD" ]
    mkdir .bawn
    printf 'audit: off\n' >.bawn/policy.yaml
    run -1 --separate-stderr "$BAWN" policy lint
    [[ $stderr$output == *"audit has no effect: a project may only narrow"* ]]
    recorded -- true 2>/dev/null
    [ -e "$TRAIL" ]
    printf 'audit: required\n' >.bawn/policy.yaml
    recorded -- true
    [ "$(records 'r[0]["audit"]')" = required ]
    run -0 "$BAWN" policy show
    [[ $output == *"audit: required"* ]]
    run -0 "$BAWN" plan
    [[ $output == *"required"* ]]
    run -125 --separate-stderr "$BAWN" run --set audit=maybe -- true
    [[ $stderr == *"audit: 'maybe' is not required, on or off"* ]]
}

@test "audit: with an org policy it is required, unless that says otherwise" {
    [ "$(id -u)" -eq 0 ] || return 0 # only root can make a policy of an org
    mkdir "$BATS_TEST_TMPDIR/etc"
    printf 'sandbox: {reads: strict}\n' >"$BATS_TEST_TMPDIR/etc/policy.yaml"
    org() {
        unshare --mount --propagation private sh -c \
            'mount -t tmpfs none /mnt && mkdir -p /mnt/up /mnt/work &&
             mount -t overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work none /etc &&
             mkdir -p /etc/bawn && cp "$0"/* /etc/bawn && exec "$@"' "$BATS_TEST_TMPDIR/etc" "$@"
    }
    run -0 org "$BAWN" policy show
    [[ $output == *"audit: required"*"/etc/bawn/policy.yaml"* ]]
    run -0 --separate-stderr org "$BAWN" policy show --set audit=off
    [[ $stderr$output == *"audit has no effect: with /etc/bawn/policy.yaml it is required"* ]]
    printf 'audit: on\n' >"$BATS_TEST_TMPDIR/etc/policy.yaml"
    run -0 org "$BAWN" policy show
    [[ $output == *"audit: on"* ]]
}

# full STATUS [OPTION]...: a run whose launcher can let no file grow beyond 8 KiB, once its command runs.
full() {
    local status=0 pid

    mkfifo go
    "$BAWN" run --events 3 "${@:2}" -- sh -c 'read -r _ <go; exec python3 -c "$1" 0' sh "$FLOOD" \
        3>"$BATS_TEST_TMPDIR/events" 2>"$BATS_TEST_TMPDIR/err" &
    pid=$!
    exec 8>go
    prlimit --pid "$pid" --fsize=8192
    echo >&8
    wait "$pid" || status=$?
    exec 8>&-
    stderr=$(cat "$BATS_TEST_TMPDIR/err")
    [ "$status" -eq "$1" ]
    find_id
}
FLOOD='import os, sys, time
for i in range(60):
    try: os.open("/usr/%d-%s" % (i, "x" * 200), os.O_WRONLY | os.O_CREAT)
    except OSError: pass
time.sleep(0.3)
open("ran-on", "w")
sys.exit(int(sys.argv[1]))'

@test "audit: a trail that can grow no more is said once, and the command goes on" {
    full 0
    [ "$(grep -c 'the audit trail cannot be written: File too large' <<<"$stderr")" -eq 1 ]
    [ -e ran-on ]
    run -0 "$BAWN" audit --verify "$ID"
}

@test "audit: where it is required the command is ended, and nothing runs without it" {
    full 125 --set audit=required
    [[ $stderr == *"bawn: the audit trail cannot be written: File too large"*"hint: the policy says 'audit: required'"* ]]
    [ ! -e ran-on ]
    run -0 "$BAWN" audit --verify "$ID"
    [ "$(stat -c %s "$TRAIL")" -le 8192 ]
    # Where the plan is not kept, it is a file that cannot be written, too: then once more.
    for _ in {1..50}; do
        "$BAWN" run --set audit=required -- true
        run -125 bash -c 'set -o pipefail; ulimit -f 0; "$@" 2>&1 | cat' bash "$BAWN" run --set audit=required -- touch ran
        [[ $output == *"compiled plan"* ]] || break
        sleep 0.1
    done
    [[ $output == *"bawn: the audit trail cannot be written: File too large"* ]]
    [ ! -e ran ]
}

@test "audit: a disk that is full ends a session with audit: required, and not another" {
    [ "$(id -u)" -eq 0 ] || return 0 # only root can mount a small file system
    mkdir -p "$BATS_TEST_TMPDIR/home/.local/state/bawn/audit"
    chmod 700 "$BATS_TEST_TMPDIR/home" "$BATS_TEST_TMPDIR/home/.local" "$BATS_TEST_TMPDIR/home/.local/state" \
        "$BATS_TEST_TMPDIR/home/.local/state/bawn"
    small() {
        at_home sh -c 'mount -t tmpfs -o size=12k,mode=700 none "$HOME/.local/state/bawn/audit" && exec "$@"' sh "$@"
    }
    run -125 --separate-stderr small "$BAWN" run --set audit=required -- python3 -c "$FLOOD" 0
    [[ $stderr == *"cannot be written: No space left on device"* ]]
    [ ! -e ran-on ]
    run -0 --separate-stderr small "$BAWN" run -- python3 -c "$FLOOD" 0
    [[ $stderr == *"cannot be written: No space left on device"*"the command goes on without a record"* ]]
    [ -e ran-on ]
}

@test "audit: without a place it says so, or refuses where it is required" {
    [ "$(id -u)" -eq 0 ] || return 0 # only root has a home that a test can choose
    mkdir -p "$BATS_TEST_TMPDIR/home"
    ln -s /tmp "$BATS_TEST_TMPDIR/home/.local"
    run -0 --separate-stderr at_home "$BAWN" run -- touch ran
    [[ $stderr == *"bawn: this run is not recorded: "*"/.local: it is a link"*"--set audit=off"* ]]
    [ -e ran ]
    rm ran
    run -125 --separate-stderr at_home "$BAWN" run --set audit=required -- touch ran
    [[ $stderr == *"bawn: nothing can be recorded: "* ]]
    [ ! -e ran ]
}

@test "events: the stream has the same objects as the trail, and the command not the descriptor" {
    recorded -- sh -c 'touch /usr/new; ls /proc/self/fd; exit 0' >"$BATS_TEST_TMPDIR/out" 2>/dev/null
    run -0 python3 -c '
import json, sys
trail, stream = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
for record in trail:
    del record["prev"], record["hash"]
assert trail == stream, (trail, stream)' "$TRAIL" "$BATS_TEST_TMPDIR/events"
    [ "$(xargs <"$BATS_TEST_TMPDIR/out")" = "0 1 2 3" ]
}

@test "events: who does not read, or has gone, holds nobody up" {
    local flood='import os
for i in range(20000):
    try: os.open("/usr/%d-%s" % (i % 999, "x" * 200), os.O_WRONLY | os.O_CREAT)
    except OSError: pass'
    mkfifo pipe
    exec 7<>pipe
    run -0 timeout 60 "$BAWN" run --events 7 -- python3 -c "$flood"
    exec 7>&-
    run -0 bash -c '"$1" run --events 3 -- sh -c "touch /usr/a; sleep 0.2; touch /usr/b; exit 0" 3> >(exec true)' - "$BAWN"
}

@test "events: a bad descriptor is refused" {
    for fd in 0 x 77 300; do
        run -125 --separate-stderr "$BAWN" run --events $fd -- touch ran
        [[ $stderr == *"--events"* ]]
        has_error_and_hint
    done
    run -125 --separate-stderr "$BAWN" run --events 5 -- touch ran 5</dev/null
    [[ $stderr == *"open for reading alone"* ]]
    [ ! -e ran ]
}

@test "events: a detached run goes on telling" {
    "$BAWN" run -d --events 3 -- sh -c 'sleep 0.3; touch /usr/new; exit 6' 3>"$BATS_TEST_TMPDIR/events" >sid
    run -6 "$BAWN" wait "$(cat sid)"
    run -0 python3 -c '
import json, sys
print([e["event"] for e in map(json.loads, open(sys.argv[1]))])' "$BATS_TEST_TMPDIR/events"
    [ "$output" = "['start', 'refused', 'end']" ]
    find_id
    [ "$(records 'r[0]["kind"], r[-1]["status"]')" = "('detached', 6)" ]
    [ "${ID#*-}" = "$(cat sid)" ]
    forget_kept
}

@test "audit: commands of 'bawn exec' are in it" {
    "$BAWN" run -d --events 3 -- sleep 60 3>"$BATS_TEST_TMPDIR/events" >sid
    run -4 "$BAWN" exec "$(cat sid)" -- sh -c 'exit 4'
    "$BAWN" stop --timeout 0 "$(cat sid)"
    find_id
    [ "$(records '[(x["event"], x.get("argv"), x.get("status")) for x in r[1:3]]')" = \
        "[('exec', ['sh', '-c', 'exit 4'], None), ('exited', None, 4)]" ]
    forget_kept
}

@test "audit: a limit that was reached is in it" {
    recorded --timeout 1s -- sleep 10 2>/dev/null || true
    [ "$(records '[(x["event"], x.get("code")) for x in r[1:]]')" = "[('limit', 'limit.time'), ('end', None)]" ]
    [ "$(records 'r[-1]["status"]')" = 124 ]
}

@test "summary: what was refused is named where the command fails, with what allows it" {
    git init -q .
    run -3 --separate-stderr "$BAWN" run -- sh -c 'echo x >.git/config; touch /usr/new; exit 3'
    [[ $stderr == *"bawn: 2 things were refused:
  write $WORK/.git/config (protected \$WORKSPACE/.git/config)
    allow with: --rw '$WORK/.git/config'
  write /usr/new (paths.usr)
    allow with: --rw '/usr'" ]]
    # What it says is so.
    run -0 "$BAWN" run --rw "$WORK/.git/config" -- sh -c 'echo "[x]" >>.git/config'
    run -2 --separate-stderr "$BAWN" run -- sh -c 'echo >.mcp.json'
    [[ $stderr == *"to change: make it outside first, then add --rw '$WORK/.mcp.json', or "* ]]
    run -0 --separate-stderr "$BAWN" run -- sh -c 'touch /usr/new; exit 0'
    [[ $stderr != *refused* ]]
    run -3 --separate-stderr "$BAWN" run -q -- sh -c 'touch /usr/new; exit 3'
    [[ $stderr != *refused* ]]
    run -3 --separate-stderr "$BAWN" run --json -- sh -c 'touch /usr/new; exit 3'
    [ "$(json_get "$(tail -n1 <<<"$stderr")" 'd["refused"][0]["path"], d["more"]')" = "('/usr/new', 0)" ]
}

@test "summary: of many it names the last three" {
    mkdir a b c d e
    run -1 --separate-stderr "$BAWN" run --protect a --protect b --protect c --protect d --protect e -- \
        sh -c 'for i in a b c d e; do touch $i/1 $i/2 $i/3; done'
    [[ $stderr == *"bawn: 5 things were refused:
  write $WORK/c/3 (protect c), and others before by the same rule"*"$WORK/d/3"*"$WORK/e/3"*"
  and before that 2 more: 'bawn audit "*"' lists all" ]]
    [[ $stderr != *"write $WORK/a/"* ]]
}

@test "audit: the transcript in the protocol is what happens" {
    local doc=$BATS_TEST_DIRNAME/../../docs/PROTOCOL-audit.md

    git init -q .
    run recorded -- sh -c 'for i in 1 2 3; do echo evil >>.git/config; done; mkdir /usr/new; exit 1' sh --token hunter2
    find_id
    run -0 python3 -c '
import hashlib, json, re, sys
doc, trail, work = open(sys.argv[1]).read(), open(sys.argv[2]).read().splitlines(), sys.argv[3]
block = lambda kind: re.search("```" + kind + "\n(.*?)```", doc, re.S).group(1)
lines, prev = block("ndjson").splitlines(), "0" * 64
for line in lines:
    body = line[:line.rindex(", \"hash\": \"")]
    assert body.endswith(prev + "\""), line
    prev = hashlib.sha256(body.encode()).hexdigest()
    assert line == body + ", \"hash\": \"" + prev + "\"}", line
assert block("head") == "%020d %s\n" % (len(lines), prev)
told = json.loads(lines[0])
assert "sh -c " in doc and told["argv"][2] in doc
changes = {"time", "id", "kernel", "uid", "launcher", "pid", "policy", "plan", "elapsed_ms", "prev", "hash", "proven"}
def plain(line, place):
    record = json.loads(line.replace(place, "/WORK"))
    return [(key, "..." if key in changes else value) for key, value in record.items()]
ours = [plain(line, work) for line in trail]
wanted = [plain(line, told["workspace"]) for line in lines]
assert ours == wanted, (ours, wanted)' "$doc" "$TRAIL" "$WORK"
}
