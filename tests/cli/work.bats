# SPDX-License-Identifier: Apache-2.0
# Real work, unmodified, under the default profile and one preset.
load common

setup() {
    mkdir -p "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return 1
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
    export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
}

teardown() {
    forget_changes "$(realpath -- "$BATS_TEST_TMPDIR")"
}

# A repository with one commit, made outside.
make_repository() {
    git init -q -b main "$1"
    git -C "$1" config user.email a@example.org
    git -C "$1" config user.name a
    echo one >"$1/file"
    git -C "$1" add file
    git -C "$1" commit -qm one
}

@test "work: git clone of a local repository, and a commit in it" {
    make_repository origin
    run "$BAWN" run --preset git -- sh -c \
        'git clone -q origin copy && cd copy && echo two >>file && git commit -qam two && git log --format=%s'
    [ "$status" -eq 0 ]
    [ "$output" = $'two\none' ]
    [ "$(git -C copy status --porcelain)" = "" ]
}

@test "work: a commit in a worktree" {
    make_repository origin
    git -C origin worktree add -q ../tree
    run "$BAWN" run --preset git -- sh -c 'cd tree && echo two >>file && git commit -qam two && git log --format=%s'
    [ "$status" -eq 0 ]
    [ "$output" = $'two\none' ]
}

@test "work: a commit in the workspace's own repository needs no preset" {
    make_repository origin
    cd origin
    run "$BAWN" run -- sh -c 'echo two >>file && git commit -qam two && git gc -q && git status --porcelain'
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    [ "$(git log --format=%s)" = $'two\none' ]
}

@test "work: a python venv and unittest" {
    printf 'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n' >test_one.py
    run "$BAWN" run --preset python -- sh -c 'python3 -m venv --without-pip v && v/bin/python -m unittest -q'
    [ "$status" -eq 0 ]
    [[ $output == *OK* ]]
}

@test "work: npm install of a local tarball, and its test" {
    command -v npm >/dev/null || skip "npm is not installed"
    mkdir dep
    printf '{"name":"dep","version":"1.0.0","main":"i.js"}' >dep/package.json
    echo 'module.exports = 42' >dep/i.js
    (cd dep && npm pack -s >/dev/null)
    printf '{"name":"app","version":"1.0.0","scripts":{"test":"node t.js"}}' >package.json
    echo 'if (require("dep") !== 42) process.exit(1); console.log("it is")' >t.js
    run "$BAWN" run --preset node -- sh -c 'npm install -s --offline ./dep/dep-1.0.0.tgz && npm test -s'
    [ "$status" -eq 0 ]
    [ "$output" = "it is" ]
}

@test "work: a meson build" {
    printf "project('p', 'c')\nexecutable('p', 'p.c')\n" >meson.build
    printf '#include <stdio.h>\nint main(void) { puts("built"); }\n' >p.c
    run "$BAWN" run --preset c -- sh -c 'meson setup b >/dev/null && ninja -C b >/dev/null && b/p'
    [ "$status" -eq 0 ]
    [ "$output" = built ]
}

@test "work: what wants a network is told that there is none" {
    run "$BAWN" run -- python3 -c \
        'import socket; socket.create_connection(("192.0.2.1", 80), 2)'
    [ "$status" -ne 0 ]
    [[ $output == *"Network is unreachable"* ]]
    run "$BAWN" run -- getent hosts example.org
    [ "$status" -ne 0 ]
}

@test "work: archives, pipes, temporary files, background jobs" {
    mkdir tree && seq 1000 >tree/numbers
    # shellcheck disable=SC2016 # expanded inside
    run "$BAWN" run -- bash -c 'tar cf - tree | (mkdir out && tar xf - -C out); t=$(mktemp); sort -rn <out/tree/numbers >"$t" & wait; head -n1 "$t"; diff <(sort tree/numbers) <(sort out/tree/numbers) && echo same'
    [ "$status" -eq 0 ]
    [ "$output" = $'1000\nsame' ]
}

@test "work: every profile with every preset starts, and the preset's tool works in it" {
    local profile preset
    local -A work=(
        [c]='printf "int main(void) { return 0; }\n" >a.c && cc -o a a.c && ./a'
        [git]='git init -q repo && cd repo && git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m one && git log --oneline | grep -q one'
        [python]='python3 -c "import json, tempfile; open(tempfile.mktemp(), \"w\").write(json.dumps([1]))"'
        [node]='! command -v node >/dev/null || node -e "require(\"fs\").writeFileSync(\"n\", \"1\")"'
        [go]='! command -v go >/dev/null || go version'
        [rust]='! command -v rustc >/dev/null || rustc --version'
        [java]='! command -v java >/dev/null || java -version'
    )
    # What does not work outside cannot work inside: rustc of a rustup that has no toolchain in this home, say.
    for preset in node go rust java; do
        (cd "$BATS_TEST_TMPDIR" && eval "${work[$preset]}" && rm -f n) >/dev/null 2>&1 || work[$preset]=true
    done

    for profile in default strict untrusted static overlay; do
        for preset in "${!work[@]}"; do
            echo "profile $profile, preset $preset"
            run -0 "$BAWN" run -q --profile "$profile" --preset "$preset" -- \
                sh -c "(echo made >made) 2>/dev/null; cd \"\$(mktemp -d)\" && ${work[$preset]} && echo worked"
            [ "${lines[-1]}" = worked ]
            # There the workspace may only be read, or what is written goes to a layer.
            [ -e made ] || [ "$profile" = untrusted ] || [ "$profile" = static ] || [ "$profile" = overlay ]
            rm -f made
        done
    done
    forget_changes "$(realpath -- "$BATS_TEST_TMPDIR")"
    run -0 "$BAWN" run --reads static -- true
}

# shellcheck disable=SC2016 # the words are the shell's inside
@test "work: what is installed can be listed" {
    command -v dpkg >/dev/null || skip "no dpkg"
    run -0 --separate-stderr "$BAWN" run -- sh -c 'dpkg-query -f "\${Package}\n" -W bash; dpkg -S /bin/bash; apt list --installed 2>/dev/null | grep -c ^bash/'
    [ "$output" = $'bash\nbash: /bin/bash\n1' ]
}

@test "work: every profile with the preset of every agent starts, and what the agent keeps is kept" {
    local profile preset

    cli_setup
    local -A kept=([claude]=.claude/projects/${WORK//[^a-zA-Z0-9]/-} [codex]=.codex/sessions [gemini]=.gemini/tmp [aider]=.aider/caches
        [opencode]='')

    for profile in default strict untrusted; do
        for preset in "${!kept[@]}"; do
            run -0 "$BAWN" run -q --profile "$profile" --preset "$preset" -- \
                sh -c "mkdir -p ~/own && echo made >~/${kept[$preset]:-own}/made"
            [ -z "${kept[$preset]}" ] || rm "$HOME/${kept[$preset]}/made"
        done
    done
    [ ! -e "$HOME/own" ]
}
