#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The home inside.
# shellcheck disable=SC2016,SC2154,SC2164 # words for the shell inside; run sets stderr; a cd that fails ends the test
load common

setup() {
    cli_setup
    mkdir -p "$HOME/.ssh" "$HOME/src/app" "$HOME/tool"
    echo key >"$HOME/.ssh/id_rsa"
    echo alias >"$HOME/.bashrc"
    echo tool >"$HOME/tool/name"
    cd "$HOME/src/app"
}

# Kept homes are in the home that the user database names, and not the test's.
teardown() {
    local dir

    for dir in "$BATS_TEST_TMPDIR"/home/src/*/ "$BATS_TEST_TMPDIR/home/"; do
        dir=$(kept_home -C "$dir") && [[ $dir == */homes/* ]] && rm -rf "$dir"
    done
    return 0
}

# kept_home [OPTION]...: where it is outside.
kept_home() {
    "$BAWN" plan --set sandbox.home=keep "$@" 2>/dev/null | sed -n 's/^  kept .*, which is //p'
}

@test "home: empty, writable, and gone afterwards; the workspace is in it" {
    run -0 "$BAWN" run -- sh -c 'ls -A ~ ~/src'
    [ "$output" = "$HOME:"$'\n.cache\nsrc\n\n'"$HOME/src:"$'\napp' ]
    run -0 "$BAWN" run -- sh -c 'cd ~ && mkdir .aws .config .ssh && for f in .npmrc .netrc .bashrc .claude.json \
        .aws/credentials .config/x .ssh/id_rsa; do echo inside >$f && cat $f; done; echo work >~/src/app/made'
    [ "$(sort -u <<<"$output")" = inside ]
    [ "$(cat "$HOME/.ssh/id_rsa" "$HOME/.bashrc")" = $'key\nalias' ]
    [ "$(cat "$HOME/src/app/made")" = work ]
    [ "$(ls -A "$HOME")" = $'.bashrc\n.ssh\nsrc\ntool' ]
    run -0 "$BAWN" run -- ls -A "$HOME"
    [ "$output" = $'.cache\nsrc' ]
}

@test "home: what is granted in it is the host's" {
    run -0 "$BAWN" run --ro ~/tool -- sh -c 'cat ~/tool/name; echo x >~/tool/name || echo refused; echo y >~/beside'
    [[ $output == tool*refused ]]
    [ "$(cat "$HOME/tool/name")" = tool ]
    [ ! -e "$HOME/beside" ]
    run -0 "$BAWN" run --rw ~/tool -- sh -c 'echo new >~/tool/name'
    [ "$(cat "$HOME/tool/name")" = new ]
    run -0 "$BAWN" run --ro ~ -- sh -c 'cat ~/.bashrc; cat ~/.ssh/id_rsa || echo refused'
    [[ $output == alias*refused ]]
}

@test "home: as the workspace it is the host's" {
    cd "$HOME"
    run -0 "$BAWN" run -- sh -c 'cat tool/name; echo made >made; cat .ssh/id_rsa || echo refused'
    [[ $output == tool*refused ]]
    [ "$(cat "$HOME/made")" = made ]
}

@test "home: the way to what is granted in it cannot be moved away" {
    mkdir -p .git/hooks
    run -0 "$BAWN" run -- sh -c 'mv ~/src ~/away || echo stays; mkdir -p ~/away/app 2>/dev/null
        echo x >~/src/app/.git/hooks/pre-commit || echo refused'
    [[ $output == *stays*refused* ]]
    [ ! -e .git/hooks/pre-commit ]
}

@test "home: check tells that it is not the host's" {
    run -0 "$BAWN" check read ~/.ssh/id_rsa
    [[ $output == "allow read $HOME/.ssh/id_rsa ("*"private: nothing of the host is there" ]]
    run -0 "$BAWN" check --json read ~/.ssh/id_rsa
    [ "$(json_get "$output" 'd["text"]')" = "private: nothing of the host is there" ]
    run -1 "$BAWN" check --set sandbox.home=none read ~/.ssh/id_rsa
}

@test "home: when the private directories are full, the end says which and what raises it" {
    run -1 --separate-stderr "$BAWN" run --set sandbox.limits.tmp_size=1M -- sh -c 'head -c 2M /dev/zero >~/x'
    [[ $stderr == *"private directories are full: "*"/tmp"*"1 MiB together (limits.tmp_size)"* ]]
    [[ $stderr == *"--set sandbox.limits.tmp_size=2MiB"* ]]
    run -1 --separate-stderr "$BAWN" run --set sandbox.limits.tmp_size=1M -- sh -c 'head -c 512K /dev/zero >~/x; exit 1'
    [[ $stderr != *full* ]]
}

@test "home: private directories are as large as an eighth of the memory" {
    memory=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 8 / 1024 * 1024))
    [ "$memory" -gt $((256 * 1024)) ] || memory=$((256 * 1024))
    run -0 "$BAWN" run -- df -k --output=size /tmp
    [ "${lines[1]// /}" -le "$memory" ]
    [ "${lines[1]// /}" -ge $((memory - memory / 4)) ]
}

@test "a program that the policy does not show: where it is, and what would show it" {
    mkdir -p "$HOME/.npm-global/bin" "$HOME/.npm-global/lib/agent"
    printf '#!/bin/sh\necho from outside\n' >"$HOME/.npm-global/lib/agent/cli"
    chmod +x "$HOME/.npm-global/lib/agent/cli"
    ln -s ../lib/agent/cli "$HOME/.npm-global/bin/agent"
    PATH=$HOME/.npm-global/bin:$PATH
    run -127 --separate-stderr "$BAWN" run -- agent
    [[ $stderr == "bawn: agent is $HOME/.npm-global/bin/agent, which this policy does not show"$'\n'"hint: --ro $HOME/.npm-global" ]]
    run -1 "$BAWN" check exec agent
    [[ $output == *"is $HOME/.npm-global/bin/agent, which this policy does not show"*"--ro $HOME/.npm-global" ]]
    run -1 "$BAWN" why exec agent
    [[ $output == "deny: "*"does not show"* ]]
    run -0 "$BAWN" run --ro "$HOME/.npm-global" -- agent
    [ "$output" = "from outside" ]
    run -0 "$BAWN" check --ro "$HOME/.npm-global" exec agent
    [[ $output == "allow exec $HOME/.npm-global/lib/agent/cli ("* ]]
    ln -s ../lib/agent/cli "$HOME/.npm-global/bin/claude"
    run -127 --separate-stderr "$BAWN" run -- claude
    [[ $stderr == *"hint: --preset claude, or --ro $HOME/.npm-global" ]]
    run -0 "$BAWN" run --preset claude -- claude
    [ "$output" = "from outside" ]
    run -127 --separate-stderr "$BAWN" run -- no-such-agent
    [[ $stderr == *"run no-such-agent: No such file or directory"* ]]
    run -1 "$BAWN" check exec no-such-agent
    [[ $output == *"no such program in PATH"* ]]
}

@test "home: a home that is the root, or a directory of the system, is nobody's" {
    for home in / /etc /usr; do
        HOME=$home run -0 "$BAWN" run -- sh -c 'cat /etc/shadow /proc/kmsg 2>/dev/null || echo refused; echo x 2>/dev/null >~/x || echo not writable
            stat -c %a /tmp'
        [ "$output" = $'refused\nnot writable\n1777' ]
    done
}

@test "home: kept, one for each workspace, there again the next time" {
    keep=(--set sandbox.home=keep)
    run -0 "$BAWN" run "${keep[@]}" -- sh -c 'mkdir ~/.ssh ~/.config; for f in .npmrc .bashrc .ssh/id_rsa .config/x; do echo inside >~/$f; done
        ls ~/tool 2>/dev/null || echo nothing of the host'
    [ "$output" = "nothing of the host" ]
    [ "$(cat "$HOME/.ssh/id_rsa" "$HOME/.bashrc")" = $'key\nalias' ]
    run -0 "$BAWN" run "${keep[@]}" --ro ~/tool -- sh -c 'cat ~/.npmrc ~/.bashrc ~/.ssh/id_rsa ~/.config/x ~/tool/name; echo more >>~/.npmrc'
    [ "$output" = $'inside\ninside\ninside\ninside\ntool' ]
    run -0 "$BAWN" run -- ls -A "$HOME"
    [ "$output" = $'.cache\nsrc' ]
    mkdir "$HOME/src/other"
    run -0 "$BAWN" run -C "$HOME/src/other" "${keep[@]}" -- sh -c 'ls -A ~; echo of the other >~/.npmrc'
    [ "$output" = $'.cache\nsrc' ]
    run -0 "$BAWN" run "${keep[@]}" -- cat "$HOME/.npmrc"
    [ "$output" = $'inside\nmore' ]
    [ "$(ls -A "$HOME")" = $'.bashrc\n.ssh\nsrc\ntool' ]
    # Its place is printed, and nobody else may look; removed, it begins anew, with a kept plan too.
    place=$(kept_home)
    [ "$(stat -c '%a %u' "$place")" = "700 $(id -u)" ]
    [ "$(cat "$place/.npmrc")" = $'inside\nmore' ]
    rm -rf "$place"
    run -0 "$BAWN" run "${keep[@]}" -- ls -A "$HOME"
    [ "$output" = $'.cache\nsrc' ]
}

@test "home: plan and check make no kept one, and tell of it" {
    mkdir "$HOME/src/fresh"
    cd "$HOME/src/fresh"
    run -0 "$BAWN" check --set sandbox.home=keep write ~/.ssh/id_rsa
    [[ $output == "allow write $HOME/.ssh/id_rsa ("*"kept for this workspace: nothing of the host is there" ]]
    run -0 "$BAWN" plan --set sandbox.home=keep
    [[ $output == *"kept      rw $HOME, which is "*/.local/state/bawn/homes/* ]]
    [ ! -e "$(kept_home)" ]
    run -0 "$BAWN" plan --set sandbox.home=keep --image
    [ ! -e "$(kept_home)" ]
    # With the real home as the workspace there is none to keep.
    run -0 --separate-stderr "$BAWN" plan -C "$HOME" --set sandbox.home=keep
    [[ $output != *"  kept "* ]]
    [[ $stderr == *"sandbox.home: keep has no effect: the home itself is shown"* ]]
}

@test "home: two sandboxes of a workspace share the kept one" {
    mkfifo ready go
    "$BAWN" run --set sandbox.home=keep -- sh -c 'echo first >~/first; echo >ready; read -r _ <go; cat ~/second' >out 3>&- &
    read -r _ <ready
    run -0 "$BAWN" run --set sandbox.home=keep --ro ~/tool -- sh -c 'cat ~/first; echo second >~/second'
    [ "$output" = first ]
    echo >go
    wait $!
    [ "$(cat out)" = second ]
}

@test "home: what is denied in the kept one is, whatever an earlier command left there" {
    keep=(--set sandbox.home=keep)
    run -0 "$BAWN" run "${keep[@]}" -- sh -c 'mkdir -p ~/mine ~/a/b; for f in mine/x file a/b/c held; do echo left >~/$f; done; ln -s file ~/link'
    denied=(--deny ~/mine --deny ~/file --deny ~/a/b --deny ~/link --protect ~/held)
    run -0 --separate-stderr "$BAWN" run "${keep[@]}" "${denied[@]}" -- sh -c 'for f in mine/x file a/b/c link; do cat ~/$f && echo READ; done 2>/dev/null
        echo x >~/held && echo WROTE; mv ~/a ~/moved 2>/dev/null; cat ~/moved/b/c 2>/dev/null && echo READ; cat ~/held'
    [ "$output" = left ]
    run -0 "$BAWN" run "${keep[@]}" -- cat "$HOME/mine/x"
    # Nobody looks through it for names that a pattern hides.
    run -125 --separate-stderr "$BAWN" run "${keep[@]}" --deny "$HOME/**/*.pem" -- true
    [[ $stderr == *"is not looked for: name paths there, not patterns, or use sandbox.home: private"* ]]
    run -0 "$BAWN" run "${keep[@]}" --deny '*.pem' -- true
}

@test "home: none is kept where others could change the place" {
    # Only root can have a user database of its own.
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir -p "$HOME/.local/elsewhere"
    ln -s elsewhere "$HOME/.local/state"
    run -125 --separate-stderr at_home "$BAWN" run --set sandbox.home=keep -- true
    [[ $stderr == *"no place to keep a home in: $HOME/.local/state is not a directory, or not one that only you can change"* ]]
    rm "$HOME/.local/state"
    mkdir "$HOME/.local/state"
    chmod 777 "$HOME/.local/state"
    run -125 at_home "$BAWN" run --set sandbox.home=keep -- true
    chmod 755 "$HOME/.local/state"
    run -0 at_home "$BAWN" run --set sandbox.home=keep -- true
}
