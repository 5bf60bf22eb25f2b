#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# Running a file that a rule asks about: sandbox.ask, --ask, sandbox.reads: dynamic.

load common
load answering

setup() {
    sessions_setup
    TOOLS=$(mktemp -d /tmp/bawn-tools.XXXXXX)
    # The default profile has a /tmp of its own.
    bare=(-q --profile none --rw "$PWD" --ro /usr --ro /bin --ro /lib --ro /lib64 --ro /etc)
    cp /bin/echo "$TOOLS/tool"
    cp /bin/echo "$TOOLS/other"
    chmod -R a+rX "$TOOLS"
    mkdir -p .bawn sub
    printf 'sandbox:\n  ask: ["*.tool", "sub"]\n' >.bawn/policy.yaml
    cp /bin/echo a.tool
    cp /bin/echo b.tool
    cp /bin/echo plain
    cp /bin/echo sub/below
    printf '#!%s/a.tool\n' "$PWD" >script
    printf '#!/bin/sh\necho ran\n' >c.tool
    chmod +x script c.tool
    here=(-q)
}

teardown() {
    answering_teardown
    rm -rf "$TOOLS"
    sessions_teardown
}

@test "in a granted tree: what is asked about is not run without a yes, and all else is" {
    run -2 "$BAWN" check "${here[@]}" exec ./a.tool
    [[ $output == ask* ]]
    run -0 "$BAWN" check "${here[@]}" exec ./plain
    run -126 "$BAWN" run "${here[@]}" -- sh -c './a.tool ran'
    [[ $output != ran* ]]
    run -126 "$BAWN" run "${here[@]}" -- sh -c './sub/below ran'
    run -0 "$BAWN" run "${here[@]}" -- sh -c './plain ran'
    [ "$output" = ran ]
    answer deny "{op: exec, path: \"$PWD/a.tool\", answer: allow, scope: once}"
    run -0 "$BAWN" run "${here[@]}" -- sh -c './a.tool ran; ./a.tool again'
    [ "$output" = $'ran\nagain' ]
    # A yes to running holds for the session: the second time nobody is asked.
    [ "$(answers '"op": "exec".*a.tool')" = 1 ]
    run -126 "$BAWN" run "${here[@]}" -- sh -c './a.tool ran; ./b.tool ran'
    [[ $output == ran$'\n'*"b.tool: Permission denied" ]]
}

@test "outside of grants: what is asked about is run after a yes, and only that" {
    answer deny "{op: exec, path: \"$TOOLS/tool\", answer: allow, scope: file}"
    run -2 "$BAWN" check "${bare[@]}" --ask "$TOOLS" exec "$TOOLS/tool"
    run -0 "$BAWN" run "${bare[@]}" --ask "$TOOLS" -- sh -c "'$TOOLS/tool' ran"
    [ "$output" = ran ]
    run -126 "$BAWN" run "${bare[@]}" --ask "$TOOLS" -- sh -c "'$TOOLS/tool' ran; '$TOOLS/other' ran"
    [[ $output == ran$'\n'*"Permission denied" ]]
    run -0 "$BAWN" run "${bare[@]}" --reads dynamic -- sh -c "'$TOOLS/tool' ran"
    [ "$output" = ran ]
    run -126 "$BAWN" run "${bare[@]}" --reads dynamic -- sh -c "'$TOOLS/other' ran"
    # In a tree that may only be read.
    run -0 "$BAWN" run "${bare[@]}" --ro "$TOOLS" --ask "$TOOLS/tool" -- sh -c "'$TOOLS/other' a; '$TOOLS/tool' b"
    [ "$output" = $'a\nb' ]
    run -126 "$BAWN" run "${bare[@]}" --ro "$TOOLS" --ask "$TOOLS/other" -- sh -c "'$TOOLS/tool' a; '$TOOLS/other' b"
    [[ $output == a$'\n'*"Permission denied" ]]
}

@test "a yes for a directory holds for all that lies in it" {
    answer deny "{op: exec, path: \"$TOOLS/**\", answer: allow, scope: dir}"
    run -0 "$BAWN" run "${bare[@]}" --reads dynamic -- sh -c "'$TOOLS/tool' one; '$TOOLS/other' two; '$TOOLS/tool' three"
    [ "$output" = $'one\ntwo\nthree' ]
    [ "$(answers '"op": "exec"')" = 1 ]
}

@test "a script: what it is run by is asked about, and the script itself" {
    run -126 "$BAWN" run "${here[@]}" -- sh -c './script ran'
    [[ $output != *ran ]]
    answer deny "{op: [exec, read], path: \"$PWD/*\", answer: allow, scope: file}"
    run -0 "$BAWN" run "${here[@]}" -- sh -c './script ran'
    [ "$output" = './script ran' ]
    [ "$(answers '"op": "exec".*a.tool')" = 1 ]
    # Its interpreter reads it, which is another question.
    run -0 "$BAWN" run "${here[@]}" -- sh -c ./c.tool
    [ "$output" = ran ]
    [ "$(answers '"op": "exec".*c.tool')" = 1 ]
    [ "$(answers '"op": "read".*c.tool')" = 1 ]
}

@test "execveat: by a path it is asked about, by a descriptor of an approved read refused" {
    cat >run.py <<'EOF'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_EMPTY_PATH = 0x1000
how, path, word = sys.argv[1:]
argv = (ctypes.c_char_p * 3)(b"x", word.encode(), None)
envp = (ctypes.c_char_p * 1)(None)
if how == "path":
    fd = os.open(os.path.dirname(path), os.O_PATH)
    libc.syscall(322, fd, os.path.basename(path).encode(), argv, envp, 0)
elif how == "read":
    fd = os.open(path, os.O_RDONLY)
    libc.syscall(322, fd, b"", argv, envp, AT_EMPTY_PATH)
elif how == "proc":
    fd = os.open(path, os.O_RDONLY)
    libc.execve(b"/proc/self/fd/%d" % fd, argv, envp)
elif how == "opath":
    fd = os.open(path, os.O_PATH)
    libc.syscall(322, fd, b"", argv, envp, AT_EMPTY_PATH)
elif how == "map":
    import mmap
    fd = os.open(path, os.O_RDONLY)
    try:
        mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
        print("mapped")
    except OSError as e:
        sys.exit(os.strerror(e.errno))
    sys.exit(0)
sys.exit(os.strerror(ctypes.get_errno()))
EOF
    answer deny "{op: [exec, read], path: \"$PWD/a.tool\", answer: allow, scope: file}" \
        "{op: read, path: \"$PWD/b.tool\", answer: allow, scope: file}"
    run -0 "$BAWN" run "${here[@]}" -- python3 run.py path "$PWD/a.tool" ran
    [ "$output" = ran ]
    run -1 "$BAWN" run "${here[@]}" -- python3 run.py path "$PWD/b.tool" ran
    for how in read proc opath; do
        run -1 "$BAWN" run "${here[@]}" -- python3 run.py "$how" "$PWD/b.tool" ran
        [[ $output == *"Permission denied" ]]
        run -1 "$BAWN" run "${here[@]}" -- python3 run.py "$how" "$PWD/a.tool" ran
        # Opened after a yes to running it, it is as any other.
        run -0 "$BAWN" run "${here[@]}" -- sh -c './a.tool >/dev/null; exec python3 run.py "$0" "$PWD/a.tool" ran' "$how"
        [ "$output" = ran ]
    done
    # As a library.
    run -1 "$BAWN" run "${here[@]}" -- python3 run.py map "$PWD/b.tool" ran
    [[ $output == *"Operation not permitted" ]]
    run -0 "$BAWN" run "${here[@]}" -- python3 run.py map "$PWD/plain" ran
    run -1 "$BAWN" run "${here[@]}" -- sh -c '/lib64/ld-linux-x86-64.so.2 ./b.tool ran || exit 1'
}

@test "what gets such a name later is asked about as well, and what is replaced" {
    answer deny "{op: write, path: \"$PWD/*\", answer: allow, scope: file}" \
        "{op: exec, path: \"$PWD/b.tool\", answer: allow, scope: file}"
    run -126 "$BAWN" run "${here[@]}" -- sh -c 'cp plain new.tool; chmod +x new.tool; ./new.tool ran'
    [[ $output == *"Permission denied" ]]
    [ "$(answers '"op": "exec".*new.tool')" = 1 ]
    run -0 "$BAWN" run "${here[@]}" -- sh -c 'cp plain next; mv next b.tool; ./b.tool ran; rm b.tool; ls'
    [[ $output == ran$'\n'* && $output != *b.tool* ]]
    [ ! -e b.tool ]
}

@test "the command itself is not asked about: it is refused, and said so" {
    answer allow
    run -126 "$BAWN" run "${here[@]}" -- ./a.tool ran
    [[ $output == *"hint: it is not executable inside; nobody can be asked about the command itself"* ]]
}

@test "plan says what can be run, and holds no call more where nothing is asked about" {
    run -0 "$BAWN" plan "${here[@]}"
    [[ $output == *"/a.tool, asked about, run only after a yes"* ]]
    [[ $output == *"opening or running one is asked about, and making or changing one"* ]]
    [[ $output == *"notify"*"execve execveat"* ]]
    rm .bawn/policy.yaml
    run -0 "$BAWN" plan "${here[@]}"
    [[ $output != *execve* ]]
    run -0 "$BAWN" plan --image "${here[@]}"
    [[ $output != *execve* && $output != *noexec* ]]
}
