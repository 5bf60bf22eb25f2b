# SPDX-License-Identifier: Apache-2.0
# bawn run: what a caller sees of it.
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p work
    cd work || return 1
    places=()
}

# What a test made outside its own directory goes, however it ended.
teardown() {
    # shellcheck disable=SC2031 # set in this shell
    [ "${#places[@]}" -eq 0 ] || rm -rf -- "${places[@]}"
}

@test "run: the exit status is the command's" {
    run "$BAWN" run -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    run "$BAWN" run -- true
    [ "$status" -eq 0 ]
}

@test "run: 128 plus the signal that ended it" {
    run "$BAWN" run -- sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
}

@test "run: 127 when there is no such program, 126 when it cannot be run" {
    run -127 "$BAWN" run -- no-such-program
    [[ $output == "bawn: run no-such-program: No such file or directory"* ]]
    [[ $output == *"hint: "* ]]
    run --separate-stderr -127 "$BAWN" run --json -- no-such-program
    [[ -z $stderr && $(json_get "$output" 'd["error"]["message"]') == *no-such-program* ]]
    echo text >file
    run "$BAWN" run -- ./file
    [ "$status" -eq 126 ]
}

@test "run: more arguments than can be passed are refused before anything runs" {
    local args

    mapfile -t args < <(yes | head -n 20000)
    run -125 --separate-stderr "$BAWN" run -- echo "${args[@]}"
    has_error_and_hint
    [ -z "$output" ]
    mapfile -t args < <(seq 60000)
    run -125 --separate-stderr "$BAWN" run -- echo "${args[@]}"
    has_error_and_hint
    run -0 "$BAWN" run -- echo "${args[@]:0:15000}"
    [ "$output" = "$(seq -s ' ' 15000)" ]
}

@test "run: one limit alone is held as well, or refused" {
    for limit in pids=50 memory_high=64MiB memory=64MiB cpu=50 io_weight=50; do
        run "$BAWN" run --set sandbox.limits.preset=none --set "sandbox.limits.$limit" --stats -- true
        if "$BAWN" run --stats -- true 2>&1 | grep -q sampled; then
            [[ $status -eq 0 && $limit =~ ^(pids|memory)= ]] || [ "$status" -eq 125 ]
        else
            [[ $status -eq 0 && $output != *sampled* ]] || [ "$status" -eq 125 ]
        fi
    done
    # A group without the controller: of v1 that one is taken off, of v2 all of it.
    if ((UID == 0)); then
        local hidden=(unshare --mount sh -c 'umount -l /sys/fs/cgroup/cpu 2>/dev/null ||
            mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh)
        run -0 "${hidden[@]}" "$BAWN" run -- true
        run -125 --separate-stderr "${hidden[@]}" "$BAWN" run --set sandbox.limits.cpu=50 -- echo ran
        has_error_and_hint
        # shellcheck disable=SC2154 # run sets it
        [[ -z $output && $stderr == *sandbox.limits.cpu* ]]
        run -0 --separate-stderr "${hidden[@]}" "$BAWN" run --best-effort --set sandbox.limits.cpu=50 -- true
        [[ $stderr == "bawn: not held here: sandbox.limits.cpu"* ]]
    fi
}

@test "run: the root is the same at every start, whatever the mask" {
    umask 077
    for _ in first second; do
        run -0 "$BAWN" run -- sh -c 'stat -c %a / /tmp /dev; umask'
        [ "$output" = $'755\n1777\n755\n0077' ]
        [ "$(id -u)" -eq 0 ] || continue
        run -0 at_home "$BAWN" run -- sh -c 'stat -c %a / /tmp /dev; umask'
        [ "$output" = $'755\n1777\n755\n0077' ]
        run find "$BATS_TEST_TMPDIR/home/.cache/bawn/plans" -mindepth 2 -maxdepth 2 -name root -perm 755
        [ -n "$output" ]
    done
}

@test "run: options of the command are the command's, with and without --" {
    run "$BAWN" run echo --json -n
    [ "$output" = "--json -n" ]
    run "$BAWN" run -- echo -- x
    [ "$output" = "-- x" ]
}

@test "run: standard input to its end, pipes stay pipes" {
    run sh -c "seq 100000 | '$BAWN' run -- wc -l"
    [ "$output" = 100000 ]
    run sh -c "echo out | '$BAWN' run -- sh -c 'cat; echo err >&2' 2>/dev/null"
    [ "$output" = out ]
    run sh -c "'$BAWN' run -- sh -c '[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none' </dev/null 2>&1 | cat"
    [ "$output" = none ]
    # By their names, too, whoever runs it.
    run sh -c "echo in | '$BAWN' run -- sh -c 'cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr' 2>&1 | cat"
    [ "$output" = $'in\nout\nerr' ]
}

@test "run: the reader of a pipe sees its end when the command closes it" {
    mkfifo go
    "$BAWN" run -- sh -c 'echo one; exec >&-; read -r _ <go' 3>&- | cat >said &
    # The reader ends while the command runs: it waits for a word that comes afterwards.
    wait_for_end() {
        local i

        for ((i = 0; i < 600; i++)); do
            kill -0 "$1" 2>/dev/null || return 0
            sleep 0.05
        done
        return 1
    }
    ended=no
    wait_for_end $! && ended=yes
    exec 8<>go
    echo >&8
    wait
    exec 8>&-
    [ "$ended" = yes ]
    [ "$(<said)" = one ]
}

@test "run: a closed stream is no other file" {
    run sh -c "'$BAWN' run -- sh -c 'ls -l /proc/self/fd | wc -l' <&-"
    [ "$status" -eq 0 ]
}

@test "run: works in the workspace and in directories below it" {
    mkdir -p a/b
    run sh -c "cd a/b && '$BAWN' run -C ../.. -- pwd"
    [ "$output" = "$PWD/a/b" ]
    run "$BAWN" run -C a -- pwd
    [ "$output" = "$PWD/a" ]
}

@test "run: a working directory that is gone or closed is named, and what to do" {
    mkdir gone shut
    cd gone
    rmdir ../gone
    run "$BAWN" run -- true
    [ "$status" -eq 125 ]
    [[ $output == "bawn: the working directory: No such file or directory"*"hint: "*"--workspace"* ]]
    cd "$BATS_TEST_TMPDIR/work/shut"
    # Root enters, but inside it is another.
    [ "$(id -u)" -eq 0 ] && chown 1 .
    chmod "$([ "$(id -u)" -eq 0 ] && echo 700 || echo 000)" .
    run "$BAWN" run -- true
    chmod 755 "$BATS_TEST_TMPDIR/work/shut"
    [ "$status" -eq 125 ]
    [[ $output == "bawn: "*"Permission denied"*"hint: "*"cd"* ]]
    run "$BAWN" run -C "$BATS_TEST_TMPDIR/none" -- true
    [ "$status" -eq 125 ]
    [[ $output == "bawn: workspace $BATS_TEST_TMPDIR/none: No such file or directory"*"hint: "* ]]
}

@test "run: a limit of file sizes that is too small is told, and is the command's too" {
    # What bawn and the command say goes to pipes: the files of this test have the limit as well.
    run bash -c "ulimit -f 1; XDG_STATE_HOME=$PWD/none '$BAWN' run -- true 2>&1 | cat; "'exit ${PIPESTATUS[0]}'
    [ "$status" -eq 125 ]
    [[ $output == "bawn: "*"File too large"* ]]
    # A plan of something that was made a moment ago is not kept.
    sleep 0.2
    "$BAWN" run -- true
    run bash -c "ulimit -f 1; '$BAWN' run -- sh -c 'ulimit -f; truncate -s 9999 long' 2>&1 | cat; "'exit ${PIPESTATUS[0]}'
    [ "$status" -eq $((128 + $(kill -l XFSZ))) ]
    [[ $output == 2* && ! -s long ]]
}

@test "run: what it says to a file outside is there when it has ended, in order" {
    log=$BATS_TEST_TMPDIR/log
    # shellcheck disable=SC2016 # the words are the shell's inside
    "$BAWN" run -- sh -c 'stat -Lc %F /dev/fd/3 3>&1 >&2; seq 200000' >"$log" 2>kind
    [ "$(<kind)" = fifo ]
    cmp "$log" <(seq 200000)
    # One file, one order; between what others say, and at its end.
    # shellcheck disable=SC2016
    { echo before; "$BAWN" run -- sh -c 'for i in $(seq 200); do echo o$i; echo e$i >&2; done'; echo after; } \
        >"$log" 2>&1
    cmp "$log" <(echo before; for i in $(seq 200); do printf 'o%s\ne%s\n' "$i" "$i"; done; echo after)
    "$BAWN" run -- sh -c 'echo out; echo err >&2' >>"$log" 2>>"$log"
    [ "$(tail -n3 "$log" | paste -sd' ')" = "after out err" ]
    "$BAWN" run -- sh -c 'echo out; echo err >&2' >"$log" 2>"$log.err"
    [ "$(<"$log") $(<"$log.err")" = "out err" ]
    # What bawn says itself comes after.
    run -124 sh -c "'$BAWN' run --timeout 1s -- sh -c 'echo said; sleep 20' >'$log' 2>&1"
    [[ $(<"$log") == "said
bawn: the time limit"* ]]
    # Whoever is left behind ends with it; what it has said by then is there.
    run -3 sh -c "'$BAWN' run -- sh -c '(echo left; exec sleep 20) & sleep 0.3; echo said; exit 3' >'$log'"
    [ "$(paste -sd' ' "$log")" = "left said" ]
}

@test "run: a file of the workspace is the command's own as a stream" {
    "$BAWN" run -- sh -c 'stat -Lc %F /dev/fd/3 3>&1 >&2' >log 2>kind
    [ "$(<kind)" = "regular empty file" ]
    "$BAWN" run --workspace-mount /workspace -- sh -c 'stat -Lc %F /dev/fd/3 3>&1 >&2' >log 2>kind
    [ "$(<kind)" = "regular empty file" ]
    mkdir "$BATS_TEST_TMPDIR/also"
    "$BAWN" run --rw "$BATS_TEST_TMPDIR/also" -- sh -c 'stat -Lc %F /dev/fd/3 3>&1 >&2' \
        >"$BATS_TEST_TMPDIR/also/log" 2>kind
    [ "$(<kind)" = "regular empty file" ]
}

@test "run: what cannot be written for the command ends with 125 and a word" {
    log=$BATS_TEST_TMPDIR/log
    # The command that writes on is told by its pipe, the one that has ended is not.
    # shellcheck disable=SC2016 # the words are of other shells
    for command in 'head -c 9999999 /dev/zero; echo $? >status' 'head -c 5000 /dev/zero; echo $? >status'; do
        run -125 sh -c "'$BAWN' run --set sandbox.limits.file_size=4096 -- sh -c '$command' 2>&1 >'$log'"
        [[ $output == *"bawn: "*"standard stream 1: File too large"*hint:* ]]
        [ "$(stat -c %s "$log")" -eq 4096 ]
    done
    [ "$(<status)" = 0 ]
    # The caller's own limit holds as well.
    run -125 bash -c "ulimit -f 4096; '$BAWN' run -- head -c 9999999 /dev/zero 2>&1 >'$log'"
    [ "$(stat -c %s "$log")" -eq 4194304 ]
    ((UID == 0)) || return 0
    run -125 unshare --mount --propagation private sh -c "mount -t tmpfs -o size=64k none '$HOME' &&
        '$BAWN' run --json -- sh -c 'head -c 9999999 /dev/zero; echo \$? >status' >'$HOME/log'"
    [[ $output == *"standard stream 1: No space left on device"* ]]
    [ "$(<status)" = $((128 + $(kill -l PIPE))) ]
}

@test "run: kill -9 of bawn loses nothing that was said to a file outside" {
    log=$BATS_TEST_TMPDIR/log
    "$BAWN" run -- sh -c 'seq 20000; touch said; exec sleep 100' >"$log" 3>&- &
    pid=$!
    for _ in {1..100}; do [ ! -e said ] || break; sleep 0.05; done
    kill -9 "$pid"
    for _ in {1..40}; do ! cmp -s "$log" <(seq 20000) || break; sleep 0.05; done
    cmp "$log" <(seq 20000)
}

@test "run: what it writes is the caller's" {
    "$BAWN" run -- sh -c 'echo x >made; mkdir dir; ln -s made link; chmod 750 dir'
    [ "$(stat -c %u:%g made)" = "$(id -u):$(id -g)" ]
    [ "$(stat -c %a dir)" = 750 ]
    [ "$(cat link)" = x ]
}

@test "run: the umask of the caller holds" {
    (umask 077 && "$BAWN" run -- sh -c 'umask; : >private')
    [ "$(stat -c %a private)" = 600 ]
}

@test "run: the environment is what the policy passes on" {
    run env SECRET_TOKEN=x LANG=C "$BAWN" run -- env
    [[ $output == *"LANG=C"* ]]
    [[ $output != *SECRET_TOKEN* ]]
    [[ $output == *"TMPDIR=/tmp"* ]]
    run env SECRET_TOKEN=x "$BAWN" run --set sandbox.process.env.pass=SECRET_TOKEN -- env
    [[ $output == *"SECRET_TOKEN=x"* ]]
}

@test "run: a signal to bawn reaches the command" {
    "$BAWN" run -- sh -c 'trap "echo got >got; exit 3" TERM; : >ready; while :; do sleep 0.1; done' &
    local pid=$!
    for _ in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
    kill -TERM "$pid"
    local status=0
    wait "$pid" || status=$?
    [ "$status" -eq 3 ]
    [ "$(cat got)" = got ]
}

@test "run: kill -9 of bawn ends everything inside" {
    "$BAWN" run -- sh -c 'setsid sh -c "while :; do date +%N >beat; sleep 0.05; done" & while :; do sleep 1; done' &
    local pid=$!
    for _ in $(seq 100); do [ -e beat ] && break; sleep 0.1; done
    kill -KILL "$pid"
    wait "$pid" || true
    sleep 1
    local before
    before=$(cat beat)
    sleep 0.5
    [ "$(cat beat)" = "$before" ]
}

# The process that makes calls for the command of this launcher.
calls_of() {
    pgrep -P "$1" -x 'bawn: calls'
}

@test "run: who makes the command's calls ends with it, and it with him" {
    "$BAWN" run -- sh -c 'echo >made; while :; do sleep 0.1; done' &
    pid=$!
    for _ in {1..100}; do [ -e made ] && break || sleep 0.05; done
    calls=$(calls_of "$pid")
    kill -9 "$calls"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 137 ]
    "$BAWN" run -- sh -c 'echo >again; while :; do sleep 0.1; done' &
    pid=$!
    for _ in {1..100}; do [ -e again ] && break || sleep 0.05; done
    calls=$(calls_of "$pid")
    kill -9 "$pid"
    for _ in {1..100}; do kill -0 "$calls" 2>/dev/null || break; sleep 0.05; done
    run ! kill -0 "$calls"
}

@test "run: the time limit ends it with 124 and says so" {
    run "$BAWN" run --timeout 1s -- sleep 30
    [ "$status" -eq 124 ]
    [[ $output == *"time limit"* ]]
    [[ $output == *"hint: "* ]]
}

@test "run: a time limit also ends what ignores being asked to" {
    run timeout 20 "$BAWN" run --timeout 1s -- sh -c 'trap "" TERM; while :; do sleep 1; done'
    [ "$status" -eq 124 ]
}

@test "run: a directory as a stream is refused" {
    run "$BAWN" run -- true </
    [ "$status" -eq 125 ]
    [[ $output == *"is a directory"* ]]
}

@test "run: that tracing was refused is told when the command fails" {
    local number=101
    [[ $(uname -m) == aarch64 ]] && number=117
    run "$BAWN" run -- perl -e "exit(syscall($number, 0, 0, 0, 0) < 0 ? 3 : 0)"
    [ "$status" -eq 3 ]
    [[ $output == *"bawn: perl wanted to trace a process, and bawn refused"* ]]
    [[ $output == *"hint: --debug allows it."*"detect_leaks=0"* ]]
    run "$BAWN" run -- perl -e "syscall($number, 0, 0, 0, 0); exit 0"
    [ "$status" -eq 0 ]
    [[ $output != *"trace"* ]]
    run "$BAWN" run --debug -- perl -e "exit(syscall($number, 0, 0, 0, 0) < 0 ? 3 : 4)"
    [ "$status" -eq 4 ]
    [[ $output != *"trace"* ]]
}

@test "run: strace, gdb and a leak checker say what they need, and with --debug they work" {
    local words='wanted to trace a process, and bawn refused' option

    printf '#include <stdlib.h>\nint main(int c, char **v) { void *p = c > 1 ? malloc(9) : 0; return v == p; }\n' >leak.c
    gcc -g -fsanitize=address leak.c -o leak
    # Of containers nobody is told what is called: the command's name is all there is.
    for option in --quiet --allow-containers; do
        run "$BAWN" run $option -- strace -o out true
        [ "$status" -ne 0 ]
        [[ $output == *"bawn: strace $words"$'\n'"hint: --debug allows it."* ]]
    done
    run "$BAWN" run -- gdb -q -batch -ex run ./leak
    [[ $output == *"bawn: gdb $words"$'\n'"hint: --debug allows it."* ]]
    # A shell in which that was tried ends as if nothing was.
    run -0 "$BAWN" run -- sh -c 'gdb -q -batch -ex run true; strace -o out true; exit 0'
    [[ $output == *"bawn: gdb $words"$'\n'"hint: "* ]]
    run "$BAWN" run -- ./leak
    [ "$status" -ne 0 ]
    [[ $output == *"bawn: leak $words"$'\n'"hint: "*"detect_leaks=0"* ]]
    run -0 "$BAWN" run --env ASAN_OPTIONS=detect_leaks=0 -- ./leak
    [ -z "$output" ]
    # The other side.
    run -0 "$BAWN" run --debug -- strace -o out true
    [ -z "$output" ]
    grep -q 'exited with 0' out
    run -0 "$BAWN" run --debug --env ASAN_OPTIONS=detect_leaks=0 -- gdb -q -batch -ex 'break main' -ex run -ex 'print c' ./leak
    # shellcheck disable=SC2016 # the debugger's words
    [[ $output == *'$1 = 1'* && $output != *"$words"* ]]
    run -0 "$BAWN" run --debug -- ./leak
    [ -z "$output" ]
    run "$BAWN" run --debug -- ./leak leaks
    [[ $output == *'9 byte(s) leaked'* && $output != *"$words"* ]]
    # Who traces nothing is told nothing, whatever its name.
    cp /bin/false strace
    run -1 "$BAWN" run -- ./strace
    [ -z "$output" ]
}

@test "run: a .bawn that is no directory is named, with what to do" {
    touch .bawn
    run "$BAWN" run -- true
    [ "$status" -eq 125 ]
    [[ $output == *"/.bawn is no directory, and so holds no policy: remove it, or move it away"* ]]
}

@test "run: errors as JSON" {
    run "$BAWN" run --json --rw /no/such/dir/at/all --policy /no/such/file -- true
    [ "$status" -eq 125 ]
    python3 -c 'import json,sys; json.loads(sys.argv[1])["error"]["code"]' "$output"
}

@test "run: bad use is told by the same words as everywhere" {
    run "$BAWN" run --no-such-option
    [ "$status" -eq 125 ]
    [[ $output == *"hint: "* ]]
    run "$BAWN" run --help
    [ "$status" -eq 0 ]
    [[ $output == *"--detach"* ]]
}

@test "run: a policy that changed counts at once" {
    "$BAWN" run -- true
    mkdir -p extra && echo there >extra/file
    run "$BAWN" run -- cat extra/file
    [ "$output" = there ]
    run "$BAWN" run --deny extra -- cat extra/file
    [ "$status" -ne 0 ]
    run "$BAWN" run -- cat extra/file
    [ "$output" = there ]
    mkdir .bawn
    printf 'version: 1\nsandbox:\n  deny: [extra]\n' >.bawn/policy.yaml
    run "$BAWN" run -- cat extra/file
    [ "$status" -ne 0 ]
    rm -r .bawn
    run "$BAWN" run -- cat extra/file
    [ "$output" = there ]
}

@test "run: a file that a pattern hides is hidden, made before or later" {
    mkdir -p sub && echo secret >sub/.env
    run "$BAWN" run --deny '.env' -- sh -c 'cat sub/.env; echo mine >.env; cat .env'
    [ "$status" -ne 0 ]
    [[ $output != *secret* ]]
    [ ! -e .env ]
    echo late >.env
    run "$BAWN" run --deny '.env' -- cat .env
    [[ $output != *late* ]]
}

@test "run: what the policy asks about is refused where nobody can be asked" {
    echo x >asked
    run "$BAWN" run --ask "$PWD/asked" -- cat asked
    [ "$status" -ne 0 ]
    [[ $output != x ]]
    run "$BAWN" plan --ask "$PWD/asked"
    [[ $output == *"opening and running it is asked about"* ]]
    # A mask is empty, whoever may read it.
    run "$BAWN" run -q --allow-containers --ask "$PWD/asked" -- cat asked
    [[ $output != x ]]
    run "$BAWN" plan --allow-containers --ask "$PWD/asked"
    [[ $output == *"opens cannot be held here, so nobody is asked"* ]]
}

@test "run: protected names can be neither made nor written, and nothing is left" {
    run "$BAWN" run -- sh -c 'mkdir -p .git/hooks; echo x >.bashrc; mkdir .vscode; mkdir d && mv d .idea; ln -s /etc .envrc'
    [ "$status" -ne 0 ]
    [ ! -e .bashrc ]
    [ ! -e .vscode ]
    [ ! -e .idea ]
    [ ! -L .envrc ]
    [ ! -e .git/hooks ]
}

@test "run: --stats says what was used" {
    # shellcheck disable=SC2016 # expanded inside
    run "$BAWN" run --stats -- sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done'
    [ "$status" -eq 0 ]
    [[ $output == *"s of CPU"* ]]
    run -0 --separate-stderr "$BAWN" run --json --stats -- true
    is_json "$stderr"
    [[ $(json_get "$stderr" 'sorted(d)') == *cpu_usec*elapsed_ms*hosts*memory_peak*sampled* ]]
    [ "$(json_get "$stderr" 'd["hosts"]')" = '[]' ]
}

@test "run: with --json all that bawn says at the end is JSON, a document in a line" {
    run -124 --separate-stderr "$BAWN" run --json --stats --set sandbox.limits.time=1 -- sleep 20
    # shellcheck disable=SC2154 # run sets them
    [ "${#stderr_lines[@]}" -eq 2 ]
    [ "$(json_get "${stderr_lines[0]}" 'sorted(d["error"])')" = "['code', 'hint', 'message']" ]
    [ "$(json_get "${stderr_lines[1]}" 'd["elapsed_ms"] >= 1000')" = True ]
}

@test "run: the library's own files are not shown inside" {
    run "$BAWN" run -- sh -c 'ls -a / /run /tmp; cat /proc/1/environ; ls ~/.cache'
    [[ $output != *plans* ]]
    [[ $output != *shelf* ]]
}

@test "run: a workspace that changed needs no other plan, and what appears in it is protected" {
    plan() { find "$BATS_TEST_TMPDIR/home/.cache/bawn/plans" -maxdepth 1 -type f -printf '%f %i\n'; }

    [ "$(id -u)" -eq 0 ] || return 0
    # The first start makes the place of plans, which a plan depends on.
    at_home "$BAWN" run -- true
    at_home "$BAWN" run -- true
    before=$(plan)
    [ -n "$before" ]
    touch new "$BATS_TEST_TMPDIR/home/new"
    at_home "$BAWN" run -- true
    sleep 0.1
    at_home "$BAWN" run -- true
    at_home "$BAWN" run -- true
    [ "$(plan)" = "$before" ]
    mkdir .vscode
    run ! at_home "$BAWN" run -- touch .vscode/x
    [[ $output == *"Read-only file system"* ]]
}

@test "run: what is granted or protected and is no directory needs no other plan either" {
    plan() { find "$BATS_TEST_TMPDIR/home/.cache/bawn/plans" -maxdepth 1 -type f -printf '%i\n' | sort; }

    [ "$(id -u)" -eq 0 ] || return 0
    touch file
    sleep 0.1
    at_home "$BAWN" run -- true
    touch "$BATS_TEST_TMPDIR/home/other"
    at_home "$BAWN" run -- true
    before=$(plan)
    for words in "--ro $BATS_TEST_TMPDIR/home/other" '--ro file' '--protect ./file' '--protect sub/absent'; do
        # shellcheck disable=SC2086 # several words
        at_home "$BAWN" run $words -- true
        [ "$(plan)" != "$before" ]
        before=$(plan)
    done
}

@test "run: when a plan is made anew nothing of the old one is left, masks neither" {
    [ "$(id -u)" -eq 0 ] || return 0
    place=$(mktemp -d /tmp/bawn-place.XXXXXX)
    # shellcheck disable=SC2030,SC2031 # of this test and its teardown
    places+=("$place")
    chmod 755 "$place"
    mkdir -p "$place/home/.config/bawn" "$place/work/hidden"
    chown -R 4711:4711 "$place"/*
    chown 0:0 "$place"
    printf 'user:x:4711:4711::%s:/bin/sh\n' "$place/home" >"$BATS_TEST_TMPDIR/passwd"
    as_user=(at_home setpriv --reuid 4711 --regid 4711 --clear-groups env -i "HOME=$place/home")
    "${as_user[@]}" test -x "$BAWN" || skip "an ordinary user does not get to $BAWN"
    cd "$place/work"
    for i in 1 2 3 4; do
        echo "profile: default # $i" >"$place/home/.config/bawn/policy.yaml"
        sleep 0.1
        run -0 "${as_user[@]}" "$BAWN" run --deny "$place/work/hidden" -- true
    done
    # The plan, and the skeleton of its root; the old ones go while nobody waits for it.
    for _ in {1..50}; do
        run find "$place/home/.cache/bawn/plans" -mindepth 1 -maxdepth 1
        [ "${#lines[@]}" -ne 2 ] || break
        sleep 0.1
    done
    [ "${#lines[@]}" -eq 2 ]
}

@test "run: when a plan does not hold, whoever makes it anew gets streams and signals as they were" {
    local here kind plans

    here=$(dirname "$BAWN")
    plans=$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/bawn/plans
    mkdir bin
    cp "$here/bawn" bin/
    printf '#!/bin/bash\ngrep SigBlk /proc/self/status; cat; ls -l /proc/self/fd |
        grep -c -e anon_inode -e socket: -e plans\n' >bin/script
    chmod 755 bin/script
    for kind in --quiet --detach; do
        cp --remove-destination "$here/bawn-git" "$here/bawn-policy" bin/
        for _ in {1..50}; do
            sleep 0.1 # from what has just changed no plan is kept
            bin/bawn run -- true
            [[ -z $(find "$plans" -maxdepth 1 -type f -newer bin/bawn-policy) ]] || break
        done
        cp --remove-destination bin/script bin/bawn-policy
        run --separate-stderr bin/bawn run $kind -- true <<<"the input"
        [ "${lines[0]}" = $'SigBlk:\t0000000000000000' ]
        [ "${lines[1]}" = "the input" ]
        [ "${lines[2]}" = 0 ]
    done
}

@test "run: where bawn-net is not installed the command runs; when it wants the network that is told, and refused at once" {
    local here

    here=$(dirname "$BAWN")
    [ ! -x /usr/local/libexec/bawn/bawn-net ] || skip "it is installed here"
    mkdir bin
    cp "$here/bawn" "$here/bawn-git" "$here/bawn-policy" bin/
    run -0 --separate-stderr bin/bawn run --net proxy --allow-host web.example -- echo there
    [ "$output/$stderr" = there/ ]
    run --separate-stderr timeout 20 bin/bawn run --net proxy --allow-host web.example -- \
        bash -c 'exec 3<>/dev/tcp/203.0.113.10/443; read -r <&3'
    [[ $status -ne 0 && $status -ne 124 ]]
    [[ $stderr == *"bawn: the command has no network: bawn-net is not installed (Debian: bawn)
hint: it belongs beside bawn-policy: install bawn again"* ]]
}

@test "run: when nobody can prove a new plan nothing runs, and nothing is kept" {
    run -125 strace -f -qq -o /dev/null -e trace=getsockname -e inject=getsockname:signal=KILL \
        "$BAWN" run -- touch ran
    [[ $output == *"the process that proves the plan ended without a word"* ]]
    [ ! -e ran ]
    run -125 strace -f -qq -o /dev/null -e trace=getsockname -e inject=getsockname:signal=KILL \
        "$BAWN" run --detach -- touch ran
    [[ $output == *"the process that proves the plan ended without a word"* ]]
    [ ! -e ran ]
    run -0 strace -f -qq -o trace -e trace=execve "$BAWN" run -- touch ran
    grep -q bawn-policy trace
    [ -e ran ]
}

@test "run: a program has one plan, by whatever name it is called" {
    local here plans name kept same as=()

    own_plans() {
        find "$1" -maxdepth 1 -type f -exec grep -q -F "$PWD" {} \; -exec stat -c '%n %w' {} \; 2>/dev/null ||
            true # another's that is gone meanwhile
    }
    [ "$(id -u)" -ne 0 ] || as=(setpriv --groups "0,4")

    here=$(dirname "$BAWN")
    plans=$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/bawn/plans
    mkdir bin
    cp "$here/bawn" "$here/bawn-git" "$here/bawn-policy" bin/
    ln -s bin/bawn link
    for _ in {1..50}; do
        sleep 0.1 # from what has just changed no plan is kept
        "${as[@]}" ./link run -- true
        kept=$(find "$plans" -maxdepth 1 -type f -newer link -exec grep -l -F "$PWD" {} +) && break
    done
    # Others who run at the same time may crowd a plan out: then once more, with all the names.
    for _ in {1..5}; do
        kept=$(own_plans "$plans")
        same=yes
        for name in ./link bin/bawn "$PWD/bin/bawn"; do
            # Root's groups are taken from it while a plan is tried.
            "${as[@]}" "$name" run -- true
            [ "$(own_plans "$plans")" = "$kept" ] || same=no
        done
        [ "$same" = no ] || break
    done
    [ "$same" = yes ]
    [ "$(wc -l <<<"$kept")" -eq 1 ]
}

@test "run: where plans are kept is no link, nor another's, or none is kept and nothing swept" {
    # shellcheck disable=SC2030,SC2031 # of this test alone
    export HOME=$BATS_TEST_TMPDIR/home
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir -p "$HOME/.cache/bawn" ../victim
    (cd ../victim && seq -f %016g 1 419 | xargs touch -d '3 hours ago' keep)
    ln -s "$BATS_TEST_TMPDIR/victim" "$HOME/.cache/bawn/plans"
    run -0 at_home "$BAWN" run -- true
    [ "$(find ../victim -type f | wc -l)" -eq 420 ]
    rm "$HOME/.cache/bawn/plans"
    mv ../victim "$HOME/.cache/bawn/plans"
    chmod 777 "$HOME/.cache/bawn/plans"
    run -0 at_home "$BAWN" run -- true
    [ "$(find "$HOME/.cache/bawn/plans" -type f | wc -l)" -eq 420 ]
    chmod 700 "$HOME/.cache/bawn/plans"
    chown 1 "$HOME/.cache/bawn/plans"
    run -0 at_home "$BAWN" run -- true
    [ "$(find "$HOME/.cache/bawn/plans" -type f | wc -l)" -eq 420 ]
    chown 0 "$HOME/.cache/bawn/plans"
    # Nor where another could put something else in the place of a directory above it.
    for above in "$HOME/.cache" "$HOME"; do
        chmod 770 "$above"
        run -0 at_home "$BAWN" run -- true
        chmod 700 "$above"
        chown 1 "$above"
        run -0 at_home "$BAWN" run -- true
        chown 0 "$above"
        [ "$(find "$HOME/.cache/bawn/plans" -type f | wc -l)" -eq 420 ]
    done
    # The other side: in one's own they are, and what is old goes, if its name is that of a plan.
    run -0 at_home "$BAWN" run -- true
    # They go while nobody waits for it.
    for _ in {1..100}; do
        [ "$(find "$HOME/.cache/bawn/plans" -maxdepth 1 -type f | wc -l)" -ge 420 ] || break
        sleep 0.1
    done
    [ "$(find "$HOME/.cache/bawn/plans" -maxdepth 1 -type f | wc -l)" -lt 420 ]
    [ -e "$HOME/.cache/bawn/plans/keep" ]
}

@test "run: a kept plan that is damaged, or another's, is made anew; two that are kept at once are whole" {
    [ "$(id -u)" -eq 0 ] || return 0
    plans=$BATS_TEST_TMPDIR/home/.cache/bawn/plans
    # shellcheck disable=SC2016 # for the shell inside
    inside='test "$(ls -A /home 2>/dev/null)" = "" -a ! -e /root/.ssh && echo contained'
    at_home "$BAWN" run -- true
    at_home "$BAWN" run -- true
    plan=$(find "$plans" -maxdepth 1 -type f)
    cp "$plan" ../whole
    for size in 0 1 100 500 1000 5000 20000; do
        truncate -s $size "$plan"
        run -0 at_home "$BAWN" run -- sh -c "$inside"
        [ "$output" = contained ]
    done
    for damage in zeros ones random; do
        case $damage in
        zeros) head -c 60000 /dev/zero ;;
        ones) head -c 60000 /dev/zero | tr '\0' '\377' ;;
        random) head -c 60000 /dev/urandom ;;
        esac >../bytes
        # All of it, and what is behind the key.
        cp ../bytes "$plan"
        run -0 at_home "$BAWN" run -- sh -c "$inside"
        [ "$output" = contained ]
        cp ../whole "$plan"
        dd if=../bytes of="$plan" bs=1 seek=700 count=4000 conv=notrunc status=none
        run -0 at_home "$BAWN" run -- sh -c "$inside"
        [ "$output" = contained ]
    done
    # A FIFO, a link and a directory at its name; one that others may write.
    rm "$plan" && mkfifo -m 600 "$plan"
    run -0 at_home timeout 20 "$BAWN" run -- sh -c "$inside"
    rm -f "$plan" && ln -s "$PWD/../whole" "$plan"
    run -0 at_home "$BAWN" run -- sh -c "$inside"
    rm -rf "$plan" && mkdir "$plan"
    run -0 at_home "$BAWN" run -- sh -c "$inside"
    rm -rf "$plan" && install -m 666 ../whole "$plan"
    run -0 at_home "$BAWN" run -- sh -c "$inside"
    [ "$(stat -c %a "$plan")" = 600 ]
    chown 1 "$plan"
    run -0 at_home "$BAWN" run -- sh -c "$inside"
    [ "$(stat -c %u "$plan")" = 0 ]
    # Many at once, none of which finds one. Who came last may still tidy up.
    for _ in 1 2 3; do
        for _ in {1..100}; do
            ! rm -rf "$plans" 2>/dev/null || break
            sleep 0.05
        done
        [ ! -e "$plans" ]
        for _ in 1 2 3 4 5 6; do
            at_home "$BAWN" run -- true &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do
            wait "$pid"
        done
        pids=()
        run -0 at_home "$BAWN" run -- sh -c "$inside"
        [ "$output" = contained ]
    done
}

@test "run: a plan that another start is writing is not swept away; what a dead one left is" {
    [ "$(id -u)" -eq 0 ] || return 0
    plans=$BATS_TEST_TMPDIR/home/.cache/bawn/plans
    at_home "$BAWN" run -- true
    plan=$(find "$plans" -maxdepth 1 -type f)
    # Held before it has its name: who tidied up after the first start may still be at it.
    touch -d '5 seconds ago' "$BATS_TEST_TMPDIR/home/held"
    exec 8<"$BATS_TEST_TMPDIR/home/held"
    flock -x 8
    mv "$BATS_TEST_TMPDIR/home/held" "$plan.4194301"
    touch -d '5 seconds ago' "$plan.4194302"
    # Something that it was made of changes.
    mkdir .bawn
    at_home "$BAWN" run -- true
    for _ in {1..100}; do
        [ -e "$plan.4194302" ] || break
        sleep 0.05
    done
    [ ! -e "$plan.4194302" ]
    [ -e "$plan.4194301" ]
    exec 8<&-
}

@test "run: root works below a directory that is root's alone, with all else to be read" {
    [ "$(id -u)" -eq 0 ] || return 0
    shut=$(mktemp -d /srv/bawn-test.XXXXXX)
    # shellcheck disable=SC2030,SC2031 # of this test and its teardown
    places+=("$shut")
    mkdir -p "$shut/a/work"
    echo secret >"$shut/secret"
    chmod 700 "$shut"
    for _ in 1 2; do
        run -0 "$BAWN" run -C "$shut/a/work" --set sandbox.reads=static -- \
            sh -c "echo made >x && cat x && ls -A $shut && ! touch $shut/y 2>/dev/null"
        [ "$output" = $'made\na' ]
    done
    # One that others may enter is shown as it is.
    chmod 711 "$shut"
    run -0 "$BAWN" run -C "$shut/a/work" --set sandbox.reads=static -- cat "$shut/secret"
    [ "$output" = secret ]
}

@test "run: a policy that changes while a plan is made of it counts at the next start" {
    # shellcheck disable=SC2030,SC2031 # of this test alone
    export HOME=$BATS_TEST_TMPDIR/home
    mkdir -p "$HOME/out" ../many
    echo secret >"$HOME/out/file"
    # To look through it for sockets takes a while, with the policy read and the plan not made.
    (cd ../many && seq 18000 | xargs touch)
    cat >"$BATS_TEST_TMPDIR/new" <<END
sandbox: {paths: {many: {root: $BATS_TEST_TMPDIR/many, mode: ro}}}
END
    cat >"$BATS_TEST_TMPDIR/old" <<END
sandbox: {paths: {many: {root: $BATS_TEST_TMPDIR/many, mode: ro},
    out: {root: $HOME/out, mode: ro}}}
END
    for delay in 0.005 0.01 0.02 0.04; do
        cp "$BATS_TEST_TMPDIR/old" "$BATS_TEST_TMPDIR/policy.yaml"
        sleep 0.05
        "$BAWN" run --policy "$BATS_TEST_TMPDIR/policy.yaml" -- cat "$HOME/out/file" &
        sleep $delay
        cp "$BATS_TEST_TMPDIR/new" "$BATS_TEST_TMPDIR/policy.yaml"
        wait $! || true
        sleep 0.05
        for _ in once twice; do
            run ! "$BAWN" run --policy "$BATS_TEST_TMPDIR/policy.yaml" -- \
                cat "$HOME/out/file"
            [[ $output != *secret* ]]
        done
    done
}

@test "run: a denied link that leads elsewhere now is no link of an earlier start" {
    # shellcheck disable=SC2030,SC2031 # of this test alone
    export HOME=$BATS_TEST_TMPDIR/home
    for tree in "$HOME/tree" "$BATS_TEST_TMPDIR/tree"; do
        mkdir -p "$tree/a" "$tree/b"
        echo one >"$tree/a/file"
        echo two >"$tree/b/file"
        ln -s "$tree/a" "$tree/link"
        touch -d 2020-01-01 "$tree"
        for _ in cold warm; do
            run ! "$BAWN" run --rw "$tree" --deny "$tree/link" -- cat "$tree/a/file"
        done
        # With the number that the old link had, and the directory's time as it was.
        python3 - "$tree" <<'END'
import os, sys
tree = sys.argv[1]
number = os.lstat(tree + "/link").st_ino
os.unlink(tree + "/link")
made = []
while not made or (os.lstat(made[-1]).st_ino != number and len(made) < 10000):
    made.append(f"{tree}/{len(made)}")
    os.symlink(tree + "/b", made[-1])
os.rename(made.pop(), tree + "/link")
for name in made:
    os.unlink(name)
END
        touch -d 2020-01-01 "$tree"
        run ! "$BAWN" run --rw "$tree" --deny "$tree/link" -- cat "$tree/b/file"
        [[ $output == *"Permission denied"* ]]
    done
}

@test "run: --workspace-mount shows the workspace elsewhere, and all that is held in it" {
    here=$PWD
    mkdir -p .git/hooks src sub
    # Where all of the host is shown there is no place for it.
    run -125 --separate-stderr "$BAWN" run --reads dynamic --workspace-mount /workspace -- echo ran
    [[ -z $output && $stderr == *workspace* ]]
    # shellcheck disable=SC2016 # for the shell inside
    run -0 --separate-stderr "$BAWN" run --workspace-mount /workspace -- sh -c '
        pwd; echo "$PWD"; echo new >src/made
        for name in .git/hooks/pre-commit .vscode .git/config sub/.git/hooks/x; do
            mkdir -p "$(dirname "$name")"; echo x >"$name" && echo "wrote $name"
        done
        mv .git .git2 && echo "moved .git"
        ln -s "$0/src" there && echo x >there/through && echo "wrote through a link"
        ls "$0" && echo "sees $0"; touch "$0/x" && echo "writes in $0"; true' "$here"
    [ "$output" = $'/workspace\n/workspace' ]
    [ "$(cat src/made)" = new ]
    [ ! -e .git/hooks/pre-commit ]
    [ ! -e .vscode ]
    [ ! -e sub/.git/hooks ]
    [ ! -e x ]
    rm -rf src/made there sub/.git
    cd src
    run -0 "$BAWN" run -C .. --workspace-mount /a/b -- sh -c 'pwd; cd ..; git --version >/dev/null; pwd'
    [ "$output" = $'/a/b/src\n/a/b' ]
    for bad in /usr /usr/x "$(dirname "$here")" /proc/x "$here/src" /; do
        run -125 --separate-stderr "$BAWN" run -C .. --workspace-mount "$bad" -- echo ran
        [[ -z $output && $stderr == *workspace* ]]
    done
}

@test "run: a home that is the workspace, with and without a cache; a private place must be there" {
    home=$(mktemp -d "$BATS_TEST_TMPDIR/home.XXXXXX")
    cd "$home"
    for _ in first second; do
        HOME=$home run -0 "$BAWN" run -- sh -c 'echo made >file; cat file'
        [ "$output" = made ]
    done
    run -125 --separate-stderr "$BAWN" run --private "$home/none" -- echo ran
    [[ -z $output && $stderr == *"$home/none: there is no such directory"*hint:* ]]
    [ ! -e "$home/none" ]
    mkdir place
    echo hidden >place/file
    run -0 "$BAWN" run --private "$home/place" -- sh -c 'ls -A place; echo new >place/new'
    [ -z "$output" ]
    [ "$(ls -A place)" = file ]
}

@test "run: the profile strict starts in a home that has no cache" {
    mkdir "$BATS_TEST_TMPDIR/bare"
    run -0 --separate-stderr env HOME="$BATS_TEST_TMPDIR/bare" "$BAWN" run -C "$BATS_TEST_TMPDIR/bare" --profile strict -- \
        sh -c 'touch made && ls'
    [ "$output" = made ]
}

@test "run: a private place that is a file of the host is refused with the remedy" {
    touch file
    run --separate-stderr -125 "$BAWN" run --private file -- echo ran
    has_error_and_hint
    # shellcheck disable=SC2154 # run sets it
    [[ -z $output && $stderr == *"private $PWD/file: there is no such directory"* ]]
}

@test "run: the profiles strict and untrusted start, and real work can be done in them" {
    echo secret >../outside
    printf 'int main(void) { return 0; }\n' >main.c
    # shellcheck disable=SC2016 # for the shell inside
    run -0 --separate-stderr "$BAWN" run --profile strict -- sh -c '
        set -e
        cc -o main main.c && ./main
        mkdir -p sub && mv main sub/ && rm -r sub
        echo text >/tmp/file && cp /tmp/file made && tar -cf made.tar made
        test -s /etc/ld.so.cache && test "$(cat </dev/null)" = ""
        ! cat ../outside 2>/dev/null && ! cat /etc/shadow 2>/dev/null
        ! touch /usr/made 2>/dev/null && echo done'
    [ "$output" = "done" ]
    [ "$(cat made)" = text ]
    # What this host cannot hold of the profile's own limits is left out.
    # shellcheck disable=SC2016 # for the shell inside
    run -0 --separate-stderr "$BAWN" run --profile untrusted -- sh -c '
        set -e
        cc -o /tmp/main main.c && /tmp/main
        ! touch made-too 2>/dev/null
        wc -l <main.c; echo text >"$HOME/file"; ls "$HOME"'
    [ "$output" = $'1\nfile' ]
    [ ! -e made-too ]
}

# shellcheck disable=SC2016 # the words are the shell's inside
@test "run: --fd hands a descriptor in under its number, and no other" {
    mkdir -p "$BATS_TEST_TMPDIR/other"
    echo given >"$BATS_TEST_TMPDIR/other/file"
    exec 5<"$BATS_TEST_TMPDIR/other/file" 6<"$BATS_TEST_TMPDIR/other/file"
    for _ in 1 2; do
        run -0 "$BAWN" run --fd 5 -- sh -c 'cat <&5; [ -e /proc/self/fd/6 ] || echo no other'
        [ "$output" = $'given\nno other' ]
        exec 5<"$BATS_TEST_TMPDIR/other/file"
    done
    # What can be read only is not opened again to be written.
    run "$BAWN" run --fd 5 -- sh -c 'echo changed >/proc/self/fd/5'
    [ "$status" -ne 0 ]
    [ "$(cat "$BATS_TEST_TMPDIR/other/file")" = given ]
    # The numbers that bawn itself uses inside are as good as others.
    for number in 3 4 7 8 9 255; do
        run -0 "$BAWN" run --fd "$number" -- sh -c "cat /proc/self/fd/$number" 3<&5 4<&5 7<&5 8<&5 9<&5 255<&5
        [ "$output" = given ]
        run -127 "$BAWN" run --fd "$number" -- no-such-program 3<&5 4<&5 7<&5 8<&5 9<&5 255<&5
        exec 5<"$BATS_TEST_TMPDIR/other/file"
    done
    exec 5<&- 6<&-
}

@test "run: --fd refuses what leads further than a stream" {
    run -125 --separate-stderr "$BAWN" run --fd 5 -- true
    [[ $stderr == *"--fd: '5' is no descriptor that is open"* ]]
    for number in 0 2 256 x -1; do
        run -125 "$BAWN" run --fd "$number" -- true
    done
    run -125 --separate-stderr "$BAWN" run --fd 5 -- true 5</
    [[ $stderr == *"descriptor 5 is a directory"* ]]
    run -125 --separate-stderr "$BAWN" run --fd 5 -- true 5>>"$BATS_TEST_TMPDIR/log"
    [[ $stderr == *"--fd 5: a file to write"* ]]
    run -125 --separate-stderr "$BAWN" run --fd 5 -- true 5</proc/self/ns/net
    [[ $stderr == *"descriptor 5 is a namespace"* ]]
    # shellcheck disable=SC2046 # several words
    run -125 "$BAWN" run $(printf -- '--fd %s ' 3 4 5 6 7 8 9 10 11) -- true 3</dev/null 4<&3 5<&3 6<&3 7<&3 8<&3 9<&3 10<&3 11<&3
}
