#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files that are copied into the sandbox, and taken back when asked for.
# shellcheck disable=SC2016,SC2154,SC2164 # words for the shell inside; run sets stderr; a cd that fails ends the test
load common

setup() {
    cli_setup
    mkdir -p "$HOME/src/app"
    file=$HOME/.agent.json
    echo mine >"$file"
    chmod 640 "$file"
    cd "$HOME/src/app"
}

# As agents write: a new file takes the place of the old.
change='cat ~/.agent.json; echo theirs >~/.agent.json.tmp && mv ~/.agent.json.tmp ~/.agent.json && cat ~/.agent.json'

@test "copy: the command reads and replaces its own, and the file stays as it is" {
    before=$(stat -c '%i %y %z %a' "$file")
    run -0 --separate-stderr "$BAWN" run --copy "$file" -- sh -c "$change"
    [ "$output" = $'mine\ntheirs' ]
    [ "$stderr" = "bawn: $file: the command changed its copy, and that is gone now"$'\n'"hint: --write-back takes such a copy back; look at it then, for it was written inside" ]
    [ "$(cat "$file")" = mine ]
    [ "$(stat -c '%i %y %z %a' "$file")" = "$before" ]
    # Who changes nothing hears nothing. The mode is that of the original.
    run -0 --separate-stderr "$BAWN" run --copy "$file" -- stat -c '%a %s' "$file"
    [ "$output" = "640 5" ]
    [ -z "$stderr" ]
    run -0 --separate-stderr "$BAWN" run --copy "$file" -- sh -c 'echo mine >~/.agent.json; rm ~/.agent.json'
    [ -z "$stderr" ]
    # What is read is the file as it is now, with a plan that was kept.
    echo newer >"$file"
    run -0 "$BAWN" run --copy "$file" -- cat "$file"
    [ "$output" = newer ]
}

# One system call, as programs make it: mv would copy where that fails.
rename='import os, sys; os.rename(os.path.expanduser(sys.argv[1]), os.path.expanduser(sys.argv[2]))'

@test "copy: a file is renamed over it, and over names of the lists in the home" {
    run -0 "$BAWN" run --copy "$file" -- sh -c 'for name in .agent.json .npmrc .bashrc .netrc .claude.json; do
        echo theirs >~/new && python3 -c "$0" "~/new" "~/$name" && cat ~/$name && python3 -c "$0" "~/$name" "~/gone" || exit 1; done' "$rename"
    [[ $output == $'theirs\ntheirs\ntheirs\ntheirs\ntheirs'* ]]
    # Not a directory over a name below which something is held.
    run -0 "$BAWN" run -- sh -c 'mkdir -p ~/new/bawn; python3 -c "$0" "~/new" "~/.config" 2>&1 | tail -n 1; ls ~/.config 2>/dev/null || echo none' "$rename"
    [[ $output == *"Invalid cross-device link"*none ]]
}

@test "copy: with --write-back it replaces the file, whole and with its mode" {
    run -0 --separate-stderr "$BAWN" run --copy "$file" --write-back -- sh -c "$change; chmod 777 ~/.agent.json"
    [ "$stderr" = "bawn: $file: what the command wrote to its copy was written back" ]
    [ "$(cat "$file")" = theirs ]
    [ "$(stat -c '%a %u' "$file")" = "640 $(id -u)" ]
    [ "$(ls -A "$HOME")" = $'.agent.json\nsrc' ]
    # Nothing changed, nothing written. In the middle of a command that fails or is ended, too.
    before=$(stat -c '%i %z' "$file")
    run -0 --separate-stderr "$BAWN" run --copy "$file" --write-back -- true
    [ -z "$stderr" ]
    [ "$(stat -c '%i %z' "$file")" = "$before" ]
    run -3 "$BAWN" run --copy "$file" --write-back -- sh -c 'echo failed >~/.agent.json; exit 3'
    [ "$(cat "$file")" = failed ]
    run -124 "$BAWN" run --copy "$file" --write-back --timeout 1 -- sh -c 'echo late >~/.agent.json; sleep 60'
    [ "$(cat "$file")" = late ]
}

@test "copy: one that was not there is made, with --write-back alone" {
    rm "$file"
    printf 'sandbox: {paths: {agent: {root: ~/.agent.json, mode: copy}}}\n' >policy.yaml
    run -0 --separate-stderr "$BAWN" run --policy policy.yaml -- sh -c 'cat ~/.agent.json 2>/dev/null || echo theirs >~/.agent.json'
    [[ $stderr == *"changed its copy"* ]]
    [ ! -e "$file" ]
    run -0 "$BAWN" run --policy policy.yaml --write-back -- sh -c 'echo theirs >~/.agent.json'
    [ "$(cat "$file")" = theirs ]
    [ "$(stat -c %a "$file")" = 600 ]
}

@test "copy: a file that changed outside meanwhile is not replaced" {
    mkfifo ready go
    for new in 'echo outside >>"$file"' 'echo outside >"$file.new"; mv "$file.new" "$file"' 'rm "$file"' \
        'ln -sf /etc/hostname "$file"' 'rm "$file"; mkdir "$file"'; do
        rm -rf "$file"
        echo mine >"$file"
        "$BAWN" run --copy "$file" --write-back -- sh -c 'echo theirs >~/.agent.json; echo >ready; read -r _ <go' 2>said 3>&- &
        read -r _ <ready
        eval "$new"
        before=$(stat -c '%i %F %y' "$file" || true)
        echo >go
        wait $!
        [ "$(cat said)" = "bawn: $file: not written back: it changed outside meanwhile" ]
        [ "$before" = "$(stat -c '%i %F %y' "$file" || true)" ]
        [ -z "$(find "$HOME" -maxdepth 1 -name '.bawn-*')" ]
    done
}

@test "copy: what is no file any more, or too large, is not taken back" {
    for what in 'rm ~/.agent.json; ln -s /etc/passwd ~/.agent.json' 'rm ~/.agent.json; mkfifo ~/.agent.json' \
        'rm ~/.agent.json; mkdir ~/.agent.json' 'truncate -s 33M ~/.agent.json' 'rm ~/.agent.json; ln -s "$PWD/link" ~/.agent.json'; do
        run -0 --separate-stderr "$BAWN" run --copy "$file" --write-back -- sh -c "$what"
        [[ $stderr == "bawn: $file: not written back: the copy is "* ]]
        [ "$(cat "$file")" = mine ]
    done
    truncate -s 33M "$file"
    run -125 --separate-stderr "$BAWN" run --copy "$file" -- true
    [[ $stderr == *"copy $file: it is larger than 32 MiB"* ]]
    rm "$file"
    mkfifo "$file"
    run -125 --separate-stderr "$BAWN" run --copy "$file" -- true
    [[ $stderr == *"copy $file: it is not a file"* ]]
    rm "$file"
    mkdir "$file"
    run -125 --separate-stderr "$BAWN" run --copy "$file" -- true
    [[ $stderr == *"a directory is not copied"* ]]
}

@test "copy: --write-back without anything to write back is refused" {
    run -125 --separate-stderr "$BAWN" run --write-back -- touch ran
    [[ $stderr == "bawn: --write-back: this policy has no path of mode copy"* ]]
    [ ! -e ran ]
}

@test "copy: where the home is shown the file is read-only, and that is said" {
    run -0 --separate-stderr "$BAWN" run --rw "$HOME" --copy "$file" -- sh -c 'cat ~/.agent.json; echo theirs 2>/dev/null >~/.agent.json || echo refused'
    [ "$output" = $'mine\nrefused' ]
    [[ $stderr == *"$file is shown read-only: there is no private place around it for a copy"* ]]
    [ "$(cat "$file")" = mine ]
}

@test "copy: check and why tell what it is" {
    run -0 "$BAWN" check --copy "$file" write "$file"
    [[ $output == *", a copy: the host's file stays as it is, unless --write-back is given" ]]
    run -0 "$BAWN" check --copy "$file" read "$file"
    [[ $output != *private* ]]
    run -0 "$BAWN" why --copy "$file" write "$file"
    [[ $output == *"copy $file"* ]]
    run -0 "$BAWN" plan --copy "$file"
    [[ $output == *"copy         $file"* ]]
}

@test "copy: through a link of the host's" {
    mkdir "$HOME/dot"
    mv "$file" "$HOME/dot/agent.json"
    ln -s dot/agent.json "$file"
    run -0 "$BAWN" run --copy "$file" --write-back -- sh -c 'cat ~/.agent.json; echo theirs >~/.agent.json'
    [ "${lines[0]}" = mine ]
    [ -L "$file" ]
    [ "$(cat "$HOME/dot/agent.json")" = theirs ]
}

@test "copy: in a kept home it is made once, and is not an older one that is written back" {
    keep=(--set sandbox.home=keep --copy "$file")
    place=$("$BAWN" plan "${keep[@]}" | sed -n 's/^  kept .*, which is //p')
    run -0 --separate-stderr "$BAWN" run "${keep[@]}" -- sh -c "$change"
    [ -z "$stderr" ]
    [ "$(cat "$file")" = mine ]
    run -0 "$BAWN" run "${keep[@]}" -- cat "$file"
    [ "$output" = theirs ]
    run -125 --separate-stderr "$BAWN" run "${keep[@]}" --write-back -- touch ran
    [[ $stderr == *"the kept home has a $file of an earlier run, which is not yours"*"remove $place/.agent.json" ]]
    [ ! -e ran ]
    rm "$place/.agent.json"
    run -0 "$BAWN" run "${keep[@]}" --write-back -- sh -c "$change"
    [ "$(cat "$file")" = theirs ]
    run -0 "$BAWN" run "${keep[@]}" --write-back -- sh -c 'echo again >~/.agent.json'
    [ "$(cat "$file")" = again ]
    rm -rf "$place"
}

@test "copy: a command that ends at once does not take its copy along" {
    # Its mounts go with it, maybe before the launcher has found the copy: many at once, so that some do.
    for i in {1..60}; do
        { "$BAWN" run --set sandbox.home=keep --copy "$file" -- true || echo "$i" >>"$HOME/failed"; } &
    done
    wait
    rm -rf "$("$BAWN" plan --set sandbox.home=keep | sed -n 's/^  kept .*, which is //p')"
    [ ! -e "$HOME/failed" ]
}

@test "presets of agents: what mixes login, state and code is a copy" {
    mkdir "$HOME/.codex" "$HOME/.gemini"
    for name in .claude.json .codex/config.toml .gemini/settings.json .gemini/trustedFolders.json; do
        preset=${name#.}
        preset=${preset%%[./]*}
        echo mine >"$HOME/$name"
        run -0 "$BAWN" run --preset "$preset" -- sh -c "cat ~/$name; echo theirs >~/x && mv ~/x ~/$name && cat ~/$name"
        [[ $output == *$'mine\ntheirs'* ]]
        [ "$(cat "$HOME/$name")" = mine ]
        run -0 "$BAWN" run --preset "$preset" --write-back -- sh -c "echo theirs >~/x && mv ~/x ~/$name"
        [ "$(cat "$HOME/$name")" = theirs ]
    done
}

@test "preset claude: of the transcripts only those of this workspace are there" {
    name=${PWD//[^a-zA-Z0-9]/-}
    there=$HOME/src/
    mkdir -p "$HOME/.claude/projects/-other"
    echo secret >"$HOME/.claude/projects/-other/x.jsonl"
    run -0 "$BAWN" run --preset claude -- sh -c 'ls ~/.claude/projects; cat ~/.claude/projects/-other/* 2>/dev/null || echo none
        for d in ~/.claude/projects/*; do echo mine >"$d/x.jsonl"; done; mkdir ~/.claude/projects/-other; echo x >~/.claude/projects/-other/x.jsonl'
    [ "$output" = "$name"$'\nnone' ]
    [ "$(cat "$HOME/.claude/projects/$name/x.jsonl" "$HOME/.claude/projects/-other/x.jsonl")" = $'mine\nsecret' ]
    # As the agent does it: characters, not bytes.
    mkdir "$HOME/src/ä ö€.𝄞"
    cd "$HOME/src/ä ö€.𝄞"
    run -0 "$BAWN" run --preset claude -- sh -c 'ls ~/.claude/projects'
    [ "$output" = "${there//[^a-zA-Z0-9]/-}-------" ]
    # A name that is too long for the agent's way breaks nothing.
    mkdir -p "$HOME/src/$(printf 'a%.0s' {1..200})/$(printf 'b%.0s' {1..200})"
    run -0 "$BAWN" run -C "$HOME/src/$(printf 'a%.0s' {1..200})/$(printf 'b%.0s' {1..200})" --preset claude -- true
}

@test "presets of agents follow the variables that move their directories" {
    mkdir -p "$HOME/moved" "$HOME/.claude" "$HOME/.codex" "$HOME/.gemini" "$HOME/moved/.gemini"
    for place in "$HOME/moved" "$HOME/.claude" "$HOME/.codex" "$HOME/.gemini" "$HOME/moved/.gemini"; do
        echo "$place" | tee "$place"/{.credentials.json,auth.json,settings.json,oauth_creds.json,config.toml} >"$place/other"
    done
    unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME
    for preset in claude:CLAUDE_CONFIG_DIR:settings.json codex:CODEX_HOME:config.toml; do
        IFS=: read -r preset variable name <<<"$preset"
        # A plan that was kept for one place does not serve the other.
        run -0 "$BAWN" run --preset "$preset" -- cat "$HOME/.$preset/$name"
        run -0 env "$variable=$HOME/moved" "$BAWN" run --preset "$preset" -- sh -c 'cat "$'"$variable/$name"'"; ls ~/.'"$preset/$name"' 2>/dev/null || echo none'
        [[ $output == *"$HOME/moved"$'\nnone' ]]
        run -0 "$BAWN" run --preset "$preset" -- cat "$HOME/.$preset/$name"
    done
    run -0 env GEMINI_CLI_HOME="$HOME/moved" "$BAWN" run --preset gemini -- sh -c 'cat "$GEMINI_CLI_HOME/.gemini/settings.json"; ls ~/.gemini 2>/dev/null || echo none'
    [ "$output" = "$HOME/moved/.gemini"$'\nnone' ]
    # The logins are secret there too, and where they usually are.
    for variable in CLAUDE_CONFIG_DIR/.credentials.json CODEX_HOME/auth.json; do
        run -1 env "${variable%%/*}=$HOME/moved" "$BAWN" check --ro "$HOME" read "$HOME/moved/${variable#*/}"
        [[ $output == *secret* ]]
    done
    run -1 env CLAUDE_CONFIG_DIR="$HOME/moved" "$BAWN" check --ro "$HOME" read "$HOME/.claude/.credentials.json"
}
