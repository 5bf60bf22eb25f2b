#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The room that the layers of overlays take: how much they may, what is told, and how it is freed.
# The witness is du, outside.
# shellcheck disable=SC2016,SC2154 # words for the shell inside; run sets stderr
load common

setup() {
    cli_setup
    echo one >a
    session=room${BATS_SUITE_TEST_NUMBER:-0}-$$
}

teardown() {
    forget_changes
}

place() { echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/changes"; }

# taken [NAME]: MiB that the layers of a session have on the disk.
taken() { du -sm "$(place)/${1:-$session}/0/upper" | cut -f1; }

# bounded LIMIT WORDS...: a run in an overlay that may take so much.
bounded() { "$BAWN" run -q --overlay . --session "$session" --set "sandbox.limits.layer_size=$1" -- "${@:2}"; }

# python CODE: with what these tests write by.
python() {
    printf '%s\n' 'import os, sys, time, threading, ctypes' \
        'def put(fd, mib):' \
        '    for _ in range(mib): os.write(fd, b"x" * (1 << 20))' \
        'def new(name): return os.open(name, os.O_CREAT | os.O_WRONLY)' "$1"
}

@test "room: a command that writes too much is ended, the reason is told and recorded, and its changes stay" {
    run -137 --separate-stderr "$BAWN" run --overlay . --session "$session" --set sandbox.limits.layer_size=32M \
        --events 5 -- sh -c 'echo two >>a; cat /dev/zero >big; echo not reached' 5>"$BATS_TEST_TMPDIR/seen"
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "bawn: what the command changed takes more than 32 MiB (limits.layer_size): its layers hold "*" MiB" ]] ||
        [[ ${stderr_lines[0]} == *"its layers hold "*" GiB" ]]
    [[ ${stderr_lines[1]} == "hint: raise it with --set sandbox.limits.layer_size="*"; what it changed is still there: bawn diff $session" ]]
    (($(taken) > 32))
    [ ! -e big ]
    [ "$(cat a)" = one ]
    grep -q '"limit.layer_size"' "$BATS_TEST_TMPDIR/seen"
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = $'M  a\nA  big' ]
    trail=$(grep -ls -F "\"workspace\": \"$WORK\"" "$(place)"/../audit/*.ndjson)
    grep -q '"limit.layer_size"' "$trail"
    run -0 "$BAWN" apply "$session" a
    [ "$(cat a)" = $'one\ntwo' ]
    forget_trails
}

@test "room: with --json the reason is one document" {
    run -137 --separate-stderr "$BAWN" run -q --json --overlay . --session "$session" --set sandbox.limits.layer_size=16M -- \
        sh -c 'cat /dev/zero >big'
    [ "$(json_get "$stderr" 'd["error"]["code"]')" = limit.layer_size ]
}

@test "room: what no walk over names sees is seen" {
    local -A ways=(
        [unlinked]='fd = new("f"); os.unlink("f"); put(fd, 100)'
        [nameless]='fd = os.open(".", os.O_TMPFILE | os.O_WRONLY); put(fd, 100)'
        [closed]='os.mkdir("d"); fd = new("d/f"); os.chmod("d", 0); put(fd, 100)'
        [top]='fd = new("f"); os.chmod(".", 0); put(fd, 100)'
        [reserved]='fd = new("f"); os.posix_fallocate(fd, 0, 100 << 20)'
        [thread]='
def alone():
    ctypes.CDLL(None).unshare(0x400)
    fd = new("f"); os.unlink("f"); put(fd, 100); time.sleep(20)
threading.Thread(target=alone).start()'
        [tiny]='
for i in range(20000):
    if i % 500 == 0: os.mkdir(str(i)); os.chdir(str(i))
    fd = new("f%d" % i); os.write(fd, b"x"); os.close(fd)'
    )
    local way
    # KERNEL(6.3): until then an overlay makes no file without a name.
    bounded 32M python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' || unset 'ways[nameless]'
    for way in "${!ways[@]}"; do
        run --separate-stderr bounded 32M python3 -c "$(python "${ways[$way]}
time.sleep(20)")"
        echo "$way: $status $stderr"
        [ "$status" -eq 137 ]
        [[ $stderr == *"takes more than 32 MiB (limits.layer_size)"* ]]
        "$BAWN" discard -q "$session" || true
    done
}

@test "room: directories too deep to be looked into hide nothing" {
    run --separate-stderr -137 bounded 16M python3 -c "$(python '
while True:
    os.mkdir("d"); os.chdir("d")
    fd = new("f"); os.write(fd, b"x" * 16384); os.close(fd)')"
    [[ $stderr == *"takes more than 16 MiB (limits.layer_size)"* ]]
}

@test "room: several names, holes, and what is removed again are no room" {
    run -0 --separate-stderr bounded 48M python3 -c "$(python '
fd = new("f"); put(fd, 20); os.close(fd)
for i in range(500): os.link("f", "name%d" % i)
fd = new("holes"); os.truncate("holes", 1 << 40); os.close(fd)
for i in range(20):
    fd = new("passing"); put(fd, 20); os.close(fd); os.unlink("passing"); time.sleep(0.1)
time.sleep(0.6)')"
    [ -z "$stderr" ]
    (($(taken) < 48))
    # Others write, too: what the disk loses to them is not the session's.
    bounded 48M sh -c 'touch ready; sleep 2' &
    for _ in {1..100}; do [ -e "$(place)/$session/0/upper/ready" ] && break; sleep 0.02; done
    head -c 200M /dev/zero >"$BATS_TEST_TMPDIR/mine"
    wait $!
    rm "$BATS_TEST_TMPDIR/mine"
}

@test "room: a session that is above its limit is not continued, and goes on when that is raised" {
    bounded 100M python3 -c "$(python 'put(new("f"), 20)')"
    run -125 --separate-stderr "$BAWN" run -q --overlay . --session "$session" --set sandbox.limits.layer_size=10M -- touch ran
    [[ ${stderr_lines[0]} == "bawn: what session $session changed takes more than 10 MiB (limits.layer_size): its layers hold 20."*" MiB" ]]
    [[ ${stderr_lines[1]} == hint:*"bawn apply $session"*"bawn discard $session"*"layer_size="* ]]
    [ "${#stderr_lines[@]}" -eq 2 ]
    [ ! -e "$(place)/$session/0/upper/ran" ]
    run -0 bounded 100M touch ran
    # Without a word about it a session may have what it has.
    run -0 "$BAWN" run -q --overlay . --session "$session" -- sleep 0.6
    # What it had counts with what it writes now.
    run -137 bounded 40M python3 -c "$(python 'put(new("g"), 30); time.sleep(20)')"
}

@test "room: a short command is told of, too, and keeps its status" {
    # On a busy machine a look may come before its end.
    for _ in {1..8}; do
        run --separate-stderr bounded 10M sh -c 'head -c 12M /dev/zero >f; exit 3'
        [ "$status" -eq 137 ] || break
        "$BAWN" discard -q "$session"
    done
    [ "$status" -eq 3 ]
    [[ $stderr == *"takes more than 10 MiB (limits.layer_size): its layers hold 12."* ]]
    (($(taken) >= 12))
}

@test "room: when the launcher is killed nobody writes on" {
    "$BAWN" run -q --overlay . --session "$session" -- sh -c 'while :; do head -c 1M /dev/zero >>big; sleep 0.05; done' &
    launcher=$!
    for _ in {1..100}; do [ -e "$(place)/$session/0/upper/big" ] && break; sleep 0.02; done
    kill -9 "$launcher"
    wait "$launcher" || true
    sleep 0.3
    before=$(taken)
    sleep 0.5
    [ "$(taken)" = "$before" ]
}

@test "room: two sessions have each their own" {
    other=$session-other
    "$BAWN" run -q --overlay . --session "$other" --set sandbox.limits.layer_size=64M -- \
        python3 -c "$(python 'put(new("f"), 20); time.sleep(1.5)')" &
    run -137 bounded 32M sh -c 'cat /dev/zero >big'
    wait $!
    (($(taken "$other") >= 20 && $(taken "$other") < 64))
}

@test "room: plan and policy show tell of the limit; without an overlay it is said to have no effect" {
    run -0 "$BAWN" plan --overlay . --set sandbox.limits.layer_size=1G
    [[ $output == *"layer_size   1 GiB  [supervisor]"* ]]
    run -0 "$BAWN" plan --overlay .
    [[ $output == *"layer_size   half of the free room  [supervisor]"* ]]
    run -0 "$BAWN" plan --overlay . --json
    python3 -c 'import json, sys
rows = {row["key"]: row["value"] for row in json.load(sys.stdin)["limits"]}
assert rows["sandbox.limits.layer_size"] == "half of the free room", rows' <<<"$output"
    for without in "--limits none --overlay ." ""; do
        # shellcheck disable=SC2086 # words
        run -0 "$BAWN" plan $without
        [[ $output != *layer_size* ]]
    done
    run -0 --separate-stderr "$BAWN" run --set sandbox.limits.layer_size=1G -- true
    [[ $stderr == *"sandbox.limits.layer_size has no effect: there is no overlay"*hint:* ]]
    # In a file it is for all runs, with an overlay or without.
    printf 'sandbox:\n  limits: {layer_size: 1G}\n' >"$BATS_TEST_TMPDIR/p.yaml"
    run -0 --separate-stderr "$BAWN" run --policy "$BATS_TEST_TMPDIR/p.yaml" -- true
    [ -z "$stderr" ]
    run -0 "$BAWN" plan --policy "$BATS_TEST_TMPDIR/p.yaml"
    [[ $output == *"sandbox.limits.layer_size: 1G (without effect: there is no overlay)"* ]]
    run -125 --separate-stderr "$BAWN" run --overlay . --set sandbox.limits.layer_size=0 -- true
    [[ $stderr == *"is not a size"* ]]
}

@test "room: ps, metrics and --stats tell what is taken, each file once" {
    bounded 100M python3 -c "$(python 'put(new("f"), 20); [os.link("f", str(i)) for i in range(100)]')"
    run -0 "$BAWN" ps --all --json
    bytes=$(json_get "$output" "[c for c in d['changes'] if c['name'] == '$session'][0]['bytes']")
    layer=$(json_get "$output" "[c for c in d['changes'] if c['name'] == '$session'][0]['layer_bytes']")
    top=$(stat -c '%b' "$(place)/$session")
    [ "$bytes" -eq $(($(du -s --block-size=1 "$(place)/$session" | cut -f1) - top * 512)) ]
    ((layer <= bytes && layer >= 20 << 20 && layer < 21 << 20))
    run -0 "$BAWN" ps --all
    [[ $output == *"$session"*" 20."*" MiB"*"$WORK"* ]]
    run -0 --separate-stderr "$BAWN" run --stats -q --overlay . --session "$session" -- true
    [[ $stderr == *"bawn: 20."*" MiB in layers"* ]]
    run -0 --separate-stderr "$BAWN" run --stats --json -q --overlay . --session "$session" -- true
    [ "$(json_get "$stderr" 'd["layers_bytes"]')" -eq "$layer" ]
    # What is closed to us is told as such.
    bounded 100M python3 -c "$(python 'os.mkdir("d"); put(new("d/f"), 1); os.chmod("d", 0)')"
    run -0 "$BAWN" ps --all
    ((UID == 0)) || [[ $output == *"$session"*">20."*"$WORK"* ]]
}

@test "room: a session that only has changes is listed, and rm removes all that is kept" {
    sid=$("$BAWN" run --detach --overlay . -- sh -c 'echo x >x; while ! [ -e go ]; do sleep 0.05; done; echo said')
    run -125 --separate-stderr "$BAWN" rm "$sid"
    [[ $stderr == "bawn: session $sid runs: nothing was removed"*"hint: 'bawn stop $sid' ends it" ]]
    "$BAWN" exec "$sid" -- touch go || [ $? -eq 137 ] # it may end before the answer
    "$BAWN" wait "$sid"
    bounded 100M touch new
    # One that is in use by its changes alone; then nothing of the others goes, either.
    bounded 100M sh -c 'touch ready; sleep 2' &
    for _ in {1..100}; do [ -e "$(place)/$session/0/upper/ready" ] && break; sleep 0.02; done
    run -125 --separate-stderr "$BAWN" rm "$sid" "$session"
    [[ $stderr == *"in use"*"hint: "*"bawn stop"* ]]
    wait $!
    run -0 "$BAWN" ps --all
    [[ $output == *"$sid"*"$sid"*"$WORK"* && $output == *"$session"*"$WORK"* ]]
    run -0 "$BAWN" logs "$sid"
    [ "$output" = said ]
    run -125 --separate-stderr "$BAWN" rm "$session" nobody
    [[ $stderr == *"nothing is kept of a session 'nobody'"*"hint: "* ]]
    [ -d "$(place)/$session" ]
    run -0 "$BAWN" rm "$sid" "$session"
    [ "$output" = "removed $sid, $session" ]
    [ ! -e "$(place)/$session" ]
    [ ! -e "$(place)/$sid" ]
    [ ! -e "$(place)/../sessions/$sid" ]
    run -0 "$BAWN" ps --all
    [[ $output != *"$sid"* && $output != *"$session"* ]]
    # The trail is not touched.
    [ -e "$(place)/../audit/$sid.ndjson" ] || compgen -G "$(place)/../audit/*$sid*"
    run -125 --separate-stderr "$BAWN" rm
    has_error_and_hint
    bounded 100M touch new
    run -0 "$BAWN" rm --json "$session"
    [ "$(json_get "$output" 'd["removed"][0]')" = "$session" ]
    forget_trails
}

@test "room: gc frees what nobody needs, and nothing else" {
    bounded 100M sh -c 'echo x >x'
    mkdir -p "$(place)/.gone-$session-1/0/upper/deep"
    head -c 1M /dev/zero >"$(place)/.gone-$session-1/0/upper/deep/f"
    run -0 "$BAWN" gc --dry-run
    [[ $output == *"would free 1.0 MiB of $session: half removed"* ]]
    [ -e "$(place)/.gone-$session-1/0/upper/deep/f" ]
    run -0 "$BAWN" gc
    [[ $output == *"freed 1.0 MiB of $session: half removed"*"in all"* ]]
    [ ! -e "$(place)/.gone-$session-1" ]
    # Changes stay; what is kept for undo stays for a week, and a start that was killed leaves nothing.
    mkdir -p "$(place)/$session/new/upper"
    run -0 "$BAWN" gc
    [[ $output == *" of $session: half made"* ]]
    [ ! -e "$(place)/$session/new" ]
    [ -e "$(place)/$session/0/upper/x" ]
    "$BAWN" apply -q "$session"
    run -0 "$BAWN" gc
    [[ $output != *"$session"* ]]
    [ -e "$(place)/$session/journal.last" ]
    bounded 100M sh -c 'echo y >y'
    touch -d '8 days ago' "$(place)/$session/journal.last"
    run -0 "$BAWN" gc --json
    [ "$(json_get "$output" "[f for f in d['freed'] if f['session'] == '$session'][0]['why']")" = "kept for undo" ]
    [ ! -e "$(place)/$session/journal.last" ]
    [ -e "$(place)/$session/0/upper/y" ]
    run -125 "$BAWN" undo "$session"
    "$BAWN" apply -q "$session"
    touch -d '8 days ago' "$(place)/$session/journal.last"
    run -0 "$BAWN" gc
    [[ $output == *" of $session: without changes"* ]]
    [ ! -e "$(place)/$session" ]
    [ "$(cat x y)" = $'x\ny' ]
}

@test "room: gc --older loses changes, but not those in use or used since" {
    old=$session-old used=$session-used
    for name in "$old" "$used"; do
        "$BAWN" run -q --overlay . --session "$name" -- touch new
    done
    bounded 100M sh -c 'touch ready; sleep 2' &
    for _ in {1..100}; do [ -e "$(place)/$session/0/upper/ready" ] && break; sleep 0.02; done
    touch -d '300 days ago' "$(place)/$session" "$(place)/$old"
    run -0 "$BAWN" gc --older 250d --dry-run
    [[ $output == *" of $old: not used for so long"* && $output != *"$used"* && $output == *"in use"* ]]
    [ -e "$(place)/$old" ]
    # To be looked at is not to be used.
    run -0 "$BAWN" gc
    [ "$(stat -c %Y "$(place)/$old")" -lt $(($(date +%s) - 200 * 86400)) ]
    run -0 "$BAWN" gc --older 250d
    [[ $output == *"freed "*" of $old: not used for so long"* && $output != *"$used"* ]]
    [ ! -e "$(place)/$old" ]
    [ -e "$(place)/$used" ]
    [ -e "$(place)/$session" ]
    wait $!
    run -125 --separate-stderr "$BAWN" gc --older soon
    has_error_and_hint
}

@test "room: a full disk is named, and half of a small one is the limit where nothing is said" {
    ((UID == 0)) || return 0 # only root has a home that a test can choose, and a disk for it
    [[ -e /dev/loop-control ]] || skip "no loop devices"
    truncate -s 64M "$BATS_TEST_TMPDIR/disk"
    mkfs.ext4 -q "$BATS_TEST_TMPDIR/disk"
    mkdir -p "$BATS_TEST_TMPDIR/home/.local/state"
    run -0 at_home sh -c '
        mount -o loop "$1" "$HOME/.local/state" && chmod 700 "$HOME/.local/state" || exit 1
        "$0" run -q --overlay . --session full --limits none -- sh -c "cat /dev/zero >big; exit 3" 2>said
        test $? -eq 3 || exit 2
        cat said
        "$0" rm -q full
        "$0" run -q --overlay . --session half -- sh -c "head -c 40M /dev/zero >big; sleep 20" 2>said
        test $? -eq 137 || exit 3
        cat said
        # What is there when it begins may stay; as much again as half of the rest may come.
        "$0" run -q --overlay . --session half -- sleep 0.8 || exit 4
        # Nobody can start where not even a layer can be made.
        umount "$HOME/.local/state" && mount -t tmpfs -o size=64k,mode=700 none "$HOME/.local/state" || exit 5
        cat /dev/zero >"$HOME/.local/state/fill" 2>/dev/null
        "$0" run --overlay . -- true 2>said
        test $? -eq 125 || exit 6
        cat said
        exit 0' "$BAWN" "$BATS_TEST_TMPDIR/disk"
    echo "$output"
    [[ $output == *"the disk that ~/.local/state/bawn/changes is on is full (no room is left)"*"hint: "*"bawn ps --all"*"bawn gc"* ]]
    [[ $output == *"No space left on device"*"hint: "*"bawn gc"* ]]
    [[ $output == *"takes more than "*" MiB, half of the room that was free (limits.layer_size): its layers hold "* ]]
    [[ $output != *"private directories"* ]]
}

@test "room: what a run leaves closed counts when the next one begins" {
    bounded 32M sh -c "mkdir d; head -c 24000000 /dev/zero | tr '\\0' x >d/f; chmod 000 d"
    run --separate-stderr bounded 32M sh -c "mkdir e; head -c 24000000 /dev/zero | tr '\\0' x >e/f; chmod 000 e"
    run -125 --separate-stderr bounded 32M touch never
    [[ $stderr == *"takes more than 32 MiB (limits.layer_size): its layers hold 45."* ]]
    has_error_and_hint
}
