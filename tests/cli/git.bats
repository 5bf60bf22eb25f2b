#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Git as people use it: who one is, in a subdirectory, in a linked worktree, in a submodule.
# shellcheck disable=SC2016,SC2086,SC2103,SC2154,SC2164 # words for the shell inside; options in one word; run sets stderr; a cd that fails ends the test
load common

setup() {
    cli_setup
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    # Git of the test's own: neither the host's settings nor a repository around the test.
    export GIT_CONFIG_SYSTEM=/dev/null
    HOME=$(realpath -- "$HOME")
    printf '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
    mkdir -p "$HOME/src"
    cd "$HOME/src"
}

# A repository with one commit and two directories, made outside.
make_repository() {
    git init -q "$1"
    mkdir "$1/sub" "$1/other"
    echo one >"$1/sub/file"
    echo one >"$1/other/file"
    git -C "$1" add .
    git -C "$1" commit -qm one
}

@test "git: name, mail and settings that run nothing are there without a preset" {
    cat >>"$HOME/.gitconfig" <<'END'
[core]
    autocrlf
    editor = evil
    pager = evil
    fsmonitor = evil
    hooksPath = /evil
    sshCommand = evil
    excludesFile = ~/evil
[pull]
    rebase = true
[color "diff"]
    meta = yellow bold
[alias]
    st = !evil
[user]
    signingkey = secret
[commit]
    gpgSign = true
[credential]
    helper = evil
[url "evil"]
    insteadOf = https://
[include]
    path = more
END
    printf '[http "https://x"]\n\textraHeader = token\n[push]\n\tdefault = current\n' >"$HOME/more"
    run -0 "$BAWN" run -- git config --global --list
    [ "$output" = "user.name=Ada
user.email=ada@example.org
init.defaultbranch=main
core.autocrlf=true
pull.rebase=true
color.diff.meta=yellow bold
push.default=current" ]
    run -0 "$BAWN" plan
    [[ $output == *"  file         $HOME/.gitconfig, of your git configuration what runs nothing:"*'[user] name = "Ada"'* ]]
    [[ $("$BAWN" plan --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["gitconfig"])') == *'name = "Ada"'* ]]
    run -0 "$BAWN" check read ~/.gitconfig
    [[ $output == *"the command's own: of the host there are at most settings of git that run nothing" ]]
    run -0 "$BAWN" run -- sh -c 'echo mine >>~/.gitconfig'
    [[ $(cat "$HOME/.gitconfig") != *mine* ]]
}

@test "git: no value becomes another key" {
    git config --global user.name $'a\n[core]\n\teditor = evil\n"\\ #;'
    git config --global user.email $'"]\n[alias]\n\tst = !evil'
    git config --global color.ui $'\t x \\" '
    run -0 "$BAWN" run -- git config --global --list -z
    want=$(git config --global --list -z | sed -z '/^init/d' | tr '\0' '@')
    [ "$("$BAWN" run -- git config --global --list -z | sed -z '/^init/d' | tr '\0' '@')" = "$want" ]
    run ! "$BAWN" run -- git config core.editor
    run ! "$BAWN" run -- git config alias.st
}

@test "git: included files count, with conditions, and when they change" {
    git init -q one && git init -q two
    printf '[includeIf "gitdir:~/src/one/"]\n\tpath = ~/one.inc\n[includeIf "onbranch:topic"]\n\tpath = topic.inc\n' \
        >>"$HOME/.gitconfig"
    git config -f "$HOME/one.inc" user.email one@example.org
    git config -f "$HOME/topic.inc" user.name Topic
    run -0 "$BAWN" run -C two -- git config user.email
    [ "$output" = ada@example.org ]
    run -0 "$BAWN" run -C one -- git config user.email
    [ "$output" = one@example.org ]
    git config -f "$HOME/one.inc" user.email other@example.org
    run -0 "$BAWN" run -C one -- git config user.email
    [ "$output" = other@example.org ]
    git -C two checkout -q -b topic
    run -0 "$BAWN" run -C two -- git config user.name
    [ "$output" = Topic ]
}

@test "git: a plan that was kept is made anew when a file of git's changes" {
    [ "$(id -u)" -eq 0 ] || return 0
    git init -q repo && cd repo
    printf '[include]\n\tpath = more\n' >>"$HOME/.gitconfig"
    sleep 0.1
    for _ in 1 2; do
        run -0 at_home "$BAWN" run -- git config --get-all user.name
        [ "$output" = Ada ]
    done
    git config -f "$HOME/more" user.name Included
    run -0 at_home "$BAWN" run -- git config user.name
    [ "$output" = Included ]
    sleep 0.1
    at_home "$BAWN" run -- true
    git config -f "$HOME/more" user.name Changed
    run -0 at_home "$BAWN" run -- git config user.name
    [ "$output" = Changed ]
    sleep 0.1
    at_home "$BAWN" run -- true
    mkdir -p "$HOME/.config/git"
    git config -f "$HOME/.config/git/config" push.default matching
    run -0 at_home "$BAWN" run -- git config push.default
    [ "$output" = matching ]
    sleep 0.1
    at_home "$BAWN" run -- true
    rm "$HOME/.gitconfig" "$HOME/.config/git/config"
    run ! at_home "$BAWN" run -- git config user.name
}

@test "git: with the preset, or where it is granted, the real one is there" {
    git config --global alias.st status
    for words in "--preset git" "--ro $HOME/.gitconfig" "--ro $HOME"; do
        run -0 "$BAWN" run $words -- git config alias.st
        [ "$output" = status ]
        run -0 "$BAWN" plan $words
        [[ $output != *"of your git configuration"* ]]
    done
    run ! "$BAWN" run --set sandbox.home=none -- git config user.name
    run ! "$BAWN" run --env HOME=/tmp -- git config user.name
    GIT_CONFIG_GLOBAL=/dev/null run ! "$BAWN" run -- git config user.name
    mkdir "$HOME/xdg" && XDG_CONFIG_HOME=$HOME/xdg git config -f "$HOME/.gitconfig" --unset user.email
    mkdir "$HOME/xdg/git" && git config -f "$HOME/xdg/git/config" user.email xdg@example.org
    XDG_CONFIG_HOME=$HOME/xdg run -0 "$BAWN" run -- git config user.email
    [ "$output" = xdg@example.org ]
}

@test "git: configuration that cannot be read is told, and the command runs" {
    echo '[user' >>"$HOME/.gitconfig"
    run -0 --separate-stderr "$BAWN" run -- echo there
    [ "$output" = there ]
    [[ $stderr == "bawn: your git configuration is not there inside, neither name nor mail: $HOME/.gitconfig: "* ]]
    run -0 "$BAWN" plan
    [[ $output == *"$HOME/.gitconfig is not made: "* ]]
    rm "$HOME/.gitconfig" && mkfifo "$HOME/pipe" && printf '[include]\n\tpath = pipe\n' >"$HOME/.gitconfig"
    run -0 --separate-stderr timeout 20 "$BAWN" run -- echo there
    [[ $output == there && $stderr == *"could not be read in time"* ]]
}

@test "git: where nothing is installed that reads the configuration, that is told, and the command runs" {
    mkdir bin
    cp "$(dirname "$BAWN")/bawn" "$(dirname "$BAWN")/bawn-policy" bin/
    run -0 --separate-stderr bin/bawn run -- echo there
    [ "$output" = there ]
    [[ $stderr == *"bawn-git is not installed (Debian: bawn-git)" || -x /usr/local/libexec/bawn/bawn-git ]]
}

@test "git: from a subdirectory: commit -a, rebase, stash, gc, branches" {
    make_repository repo
    cd repo/sub
    echo two >>file
    run -0 "$BAWN" run -- sh -ec 'git status --short; git commit -qam two; git log --format=%s
        echo three >>file; git stash -q; git stash pop -q; git commit -qam three; git gc -q
        git branch topic; git rebase -q HEAD~1; git tag -a -m v v1; git status --short'
    [ "$output" = $' M file\ntwo\none' ]
    [ "$(git log --format=%s:%an | head -1)" = three:Ada ]
    [ "$(git show --stat --format= HEAD~1 | grep -c '|')" -eq 1 ]
    [ -z "$(git status --short)" ]
    git fsck --strict
}

@test "git: from a subdirectory the rest can be read, and not be written; check says so" {
    make_repository repo
    cd repo/sub
    run "$BAWN" run -- sh -c 'cat ../other/file; for f in ../other/file ../new ../.git/config ../.git/hooks/x \
        ../.git/config.worktree ../.git/info/attributes ../.git/commondir; do (echo x >$f) 2>/dev/null && echo "wrote $f"; done
        mv ../.git/hooks ../.git/h 2>/dev/null && echo moved; echo x >../.git/made && cat ../.git/made; rm ../.git/made'
    [ "$output" = $'one\nx' ]
    run -0 "$BAWN" check read ../other/file
    run -1 "$BAWN" check write ../other/file
    run -0 "$BAWN" check write ../.git/index
    run -1 "$BAWN" check write ../.git/config
    [[ $output == *"path is protected (git config names programs that git runs)"* ]]
    run -1 "$BAWN" check --preset git write ../.git/hooks/pre-commit
    run -0 "$BAWN" plan
    [[ $output == *"bind      ro $HOME/src/repo"$'\n'* && $output == *"bind      rw $HOME/src/repo/.git"$'\n'* ]]
    run -0 "$BAWN" why read ../other/file
    [[ $output == *"paths.repository"* ]]
    run -0 "$BAWN" policy show
    [[ $output == *"  ro      $HOME/src/repo "* && $output == *"  rw      $HOME/src/repo/.git "* ]]
    # It is found anew by who reads an exported policy.
    run -0 "$BAWN" policy export
    [[ $output == *"repository: auto"* && $output != *'"git-dir"'* ]]
}

@test "git: secrets and denials bind in the rest of the work tree" {
    make_repository repo
    cd repo
    echo key >.env && echo key >other/my.pem && mkdir -p "$HOME/.config/bawn"
    printf 'version: 1\nsandbox: {deny: ["~/src/repo/**/*.pem", ~/src/repo/.env]}\n' >"$HOME/.config/bawn/policy.yaml"
    cd sub
    run "$BAWN" run -- sh -c 'cat ../.env ../other/my.pem 2>/dev/null; cat ../other/file'
    [ "$output" = one ]
}

@test "git: sandbox.repository: none, another profile, a read-only workspace" {
    make_repository repo
    cd repo/sub
    for words in "--set sandbox.repository=none" "--profile untrusted"; do
        run ! "$BAWN" run $words -- git status
        run -0 "$BAWN" check $words read ../other/file
        [[ $output == *"private: nothing of the host is there" ]]
    done
    run -0 "$BAWN" run --profile strict -- git status --short
    run "$BAWN" run --ro . -- sh -c 'git log --format=%s; echo x >../.git/x || echo refused'
    [[ $output == one*refused ]]
    run -0 "$BAWN" run --rw "$HOME/src" -- sh -c 'echo two >../other/file'
    [ "$(cat ../other/file)" = two ]
}

@test "git: a socket in the rest of the work tree cannot be connected to" {
    make_repository repo
    cd repo/sub
    python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("../other/s"); s.listen(); time.sleep(20)' 3>&- &
    while [ ! -S ../other/s ]; do sleep 0.05; done
    run ! "$BAWN" run -- python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("../other/s")'
    kill $!
}

@test "git: in a linked worktree: commit, stash, gc, rebase; of the others nothing" {
    make_repository repo
    git -C repo worktree add -q ../tree
    git -C repo worktree add -q ../more
    cd tree
    echo two >>sub/file
    run -0 "$BAWN" run -- sh -ec 'git status --short; git commit -qam two; git log --format=%s; echo x >>sub/file
        git stash -q; git stash pop -q; git commit -qam three; git gc -q; git rebase -q HEAD~1; git branch topic
        git worktree list | wc -l; git status --short; git checkout -q -b fresh'
    [ "$output" = $' M sub/file\ntwo\none\n3' ]
    cd sub
    echo four >>file
    run -0 "$BAWN" run -- git commit -qam four
    [ "$(git log --format=%s fresh | tr '\n' ' ')" = "four three two one " ]
    cd ..
    before=$(cd ../repo/.git && cat HEAD index config worktrees/more/HEAD worktrees/tree/gitdir | sha256sum)
    run --separate-stderr "$BAWN" run -- sh -c 'ls ~/src; cd ~/src/repo/.git && for f in HEAD index config hooks/x config.worktree info/attributes commondir \
        rebase-merge sequencer worktrees/more/HEAD worktrees/more/index worktrees/more/gitdir worktrees/tree/gitdir worktrees/tree/commondir \
        worktrees/tree/config.worktree worktrees/tree/modules/x/config modules/x/hooks/y; do
        (mkdir -p "$(dirname $f)"; echo x >$f) 2>/dev/null && echo "wrote $f"; done; rm -rf worktrees/more/rebase-merge; mkdir worktrees/more/rebase-merge 2>/dev/null && echo made'
    [ "$output" = $'repo\ntree' ]
    [ "$(cd ../repo/.git && cat HEAD index config worktrees/more/HEAD worktrees/tree/gitdir | sha256sum)" = "$before" ]
    git -C ../repo fsck --strict
    git -C ../more status --short
}

@test "git: a worktree of a bare repository" {
    make_repository repo
    git clone -q --bare repo bare.git
    git -C bare.git worktree add -q ../tree
    cd tree
    echo two >>sub/file
    run -0 "$BAWN" run -- sh -c 'git commit -qam two; echo x >~/src/bare.git/config || echo refused'
    [[ $output == *refused ]]
    [ "$(git -C ../bare.git log --format=%s tree | head -1)" = two ]
}

@test "git: in a submodule, and in one of a linked worktree" {
    make_repository lib
    make_repository repo
    git -C repo -c protocol.file.allow=always submodule --quiet add "$PWD/lib" parts/lib
    git -C repo commit -qm module
    git -C repo worktree add -q ../tree
    git -C tree -c protocol.file.allow=always submodule --quiet update --init
    for dir in repo/parts/lib tree/parts/lib; do
        cd "$HOME/src/$dir"
        git config user.name >/dev/null
        echo two >>sub/file
        run -0 "$BAWN" run -- sh -ec 'git commit -qam two; git log --format=%s; ls -A ~/src/*'
        [[ $output == $'two\none\n'* && $output != *other/file* ]]
        run -1 "$BAWN" check write "$(git rev-parse --git-dir)/config"
        run -1 "$BAWN" check --preset git write "$(git rev-parse --git-dir)/hooks/post-commit"
        run "$BAWN" run -- sh -c 'echo x >"$(git rev-parse --git-dir)/config" || echo refused'
        [[ $output == *refused ]]
    done
}

@test "git: what is no repository of the user's, or leads elsewhere, grants nothing" {
    make_repository repo
    mkdir -p "$HOME/.ssh" plain/sub "$HOME/.git/objects" "$HOME/.git/refs"
    echo key >"$HOME/.ssh/id"
    # The home is no work tree.
    git init -q "$HOME"
    run ! "$BAWN" run -C plain/sub -- git status
    run -0 "$BAWN" run -C plain/sub -- sh -c 'ls -A ~/src'
    [ "$output" = plain ]
    rm -rf "$HOME/.git"
    # A directory .git without a configuration, which any command can make.
    mkdir -p plain/.git/objects plain/.git/refs && cp repo/.git/HEAD plain/.git
    run -0 "$BAWN" run -C plain/sub -- sh -c 'ls -A ~/src/plain'
    [ "$output" = sub ]
    rm -rf plain/.git
    # A file .git that leads to something else, to another repository, to another's worktree.
    git -C repo worktree add -q ../tree
    mkdir fake
    for to in "$HOME/.ssh" ../../.ssh "$PWD/repo/.git" "$PWD/repo/.git/worktrees/tree" /etc /proc/self/cwd; do
        echo "gitdir: $to" >fake/.git
        run -0 "$BAWN" run -C fake -- sh -c 'ls -A ~ ~/src'
        [ "$output" = "$HOME:"$'\n.cache\n.gitconfig\nsrc\n\n'"$HOME/src:"$'\nfake' ]
    done
    # The back-link is right, but stands in the workspace and names what is no repository.
    mkdir -p fake/x/worktrees/y && echo "$HOME/.ssh" >fake/x/worktrees/y/commondir
    echo "$PWD/fake/.git" >fake/x/worktrees/y/gitdir
    echo "gitdir: $PWD/fake/x/worktrees/y" >fake/.git
    run -0 "$BAWN" run -C fake -- sh -c 'ls -A ~'
    [ "$output" = $'.cache\n.gitconfig\nsrc' ]
    # A link in the place of a worktree: its back-link leads to the workspace then.
    rm -rf fake/x tree && ln -s fake tree
    echo "gitdir: $PWD/repo/.git/worktrees/tree" >fake/.git
    run -0 "$BAWN" run -C fake -- sh -c 'ls -A ~/src'
    [ "$output" = fake ]
    rm -rf fake/.git && ln -s ../repo/.git fake/.git && mkdir fake/sub
    run -0 "$BAWN" run -C fake/sub -- sh -c 'ls -A ~/src'
    [ "$output" = fake ]
}

@test "git: a plan that was kept does not outlive what it was granted for" {
    [ "$(id -u)" -eq 0 ] || return 0
    make_repository repo
    git -C repo worktree add -q ../tree
    git -C repo worktree add -q ../more
    cd tree
    # now RESULT: what is granted; then the plan is kept.
    now() {
        for _ in 1 2; do
            run -0 at_home "$BAWN" run -- sh -c '[ -e ~/src/repo/.git/config ] && echo granted || echo gone'
            [ "$output" = "$1" ]
            sleep 0.05
        done
    }
    now granted
    echo "$HOME/src/more/.git" >../repo/.git/worktrees/tree/gitdir
    now gone
    echo "$HOME/src/tree/.git" >../repo/.git/worktrees/tree/gitdir
    now granted
    echo "gitdir: $HOME/src/repo/.git/worktrees/more" >.git
    now gone
    echo "gitdir: $HOME/src/repo/.git/worktrees/tree" >.git
    now granted
    chown 1 ../repo/.git/config
    now gone
    chown 0 ../repo/.git/config
    now granted
    mv ../repo/.git ../repo/git && mkdir ../repo/.git
    run -0 at_home "$BAWN" run -- sh -c 'ls -A ~/src'
    [ "$output" = tree ]
    rmdir ../repo/.git && mv ../repo/git ../repo/.git
    # Another worktree is the next plan's to hold.
    git -C ../repo worktree add -q ../third
    run ! at_home "$BAWN" run -- sh -c 'echo x >~/src/repo/.git/worktrees/third/HEAD'
    mkdir sub/deep && cd sub/deep && now granted && git init -q .. && now gone
}

@test "git: a kept home has the settings the first time, and its own afterwards" {
    local keep=(--set sandbox.home=keep) kept

    kept=$("$BAWN" plan "${keep[@]}" 2>/dev/null | sed -n 's/^  kept .*, which is //p')
    run -0 "$BAWN" run "${keep[@]}" -- sh -c 'git config user.name && git config --global user.name Eve'
    [ "$output" = Ada ]
    run -0 "$BAWN" run "${keep[@]}" -- sh -c 'git config user.name && ln -sf "$PWD/planted" ~/.gitconfig'
    [ "$output" = Eve ]
    run "$BAWN" run "${keep[@]}" -- true
    [ "$status" -eq 0 ]
    [ ! -e planted ]
    [ "$(git config --global user.name)" = Ada ]
    rm -r "$kept"
}

@test "git: names that are denied anywhere in the workspace are denied around it" {
    make_repository repo
    cd repo/sub
    echo secret >../.env
    echo secret >../other/key.pem
    run ! "$BAWN" run --deny .env --deny '*.pem' -- sh -c 'cat ../.env || cat ../other/key.pem || cat ../other/none.pem'
    [[ $output != *secret* ]]
    run -1 "$BAWN" check --deny .env read ../.env
    run -0 "$BAWN" check --deny .env read ../other/file
    run -0 "$BAWN" run --deny .env -- sh -c 'cat ../other/file && git status --short'
}

@test "git: a work tree with places of secrets in it is not shown" {
    make_repository "$HOME/.config"
    echo token >"$HOME/.config/other/token"
    run -0 "$BAWN" run -C "$HOME/.config/sub" -- sh -c 'ls -A ~/.config'
    [ "$output" = sub ]
    git -C "$HOME/.config" worktree add -q "$HOME/src/tree"
    run -0 "$BAWN" run -C tree -- git commit -q --allow-empty -m two
}

@test "git: in a subdirectory of a large repository a plan is kept, too" {
    local first

    [ "$(id -u)" -eq 0 ] || return 0
    make_repository repo
    mkdir repo/other/{1..600}
    cd repo/sub
    sleep 0.1
    # What is made of the plan, and what it was made of before is removed, when the command has ended.
    for _ in 1 2; do
        at_home "$BAWN" run -- true
        sleep 1
    done
    first=$(stat -c '%n %w' "$HOME"/.cache/bawn/plans/*)
    [ -n "$first" ]
    at_home "$BAWN" run -- true
    [ "$(stat -c '%n %w' "$HOME"/.cache/bawn/plans/*)" = "$first" ]
}

@test "git: who else's repository it is grants nothing" {
    [ "$(id -u)" -eq 0 ] || return 0
    make_repository repo
    for part in repo repo/.git repo/.git/config repo/.git/objects; do
        chown 1 "$part"
        run -0 "$BAWN" run -C repo/sub -- sh -c 'ls -A ~/src/repo'
        [ "$output" = sub ]
        chown 0 "$part"
    done
    run -0 "$BAWN" run -C repo/sub -- git status --short
}

@test "git: with the preset: clone, worktree, submodule, remote and config in repositories below the workspace" {
    make_repository lib
    git config --global protocol.file.allow always
    run -0 --separate-stderr "$BAWN" run --preset git -- sh -ec 'git clone -q lib copy; cd copy; git remote add more ../lib
        git config core.autocrlf input; git worktree add -q ../tree; git worktree list | wc -l; cd ../tree; echo two >>sub/file
        git commit -qam two; cd ../copy; git worktree remove ../tree; git worktree list | wc -l; git merge -q tree
        git submodule --quiet add "$PWD/../lib" parts/lib; git commit -qm module; git submodule --quiet update --init; git gc -q
        git branch -m main trunk; git log --format=%s'
    [ "$output" = $'2\n1\nmodule\ntwo\none' ]
    git -C copy fsck --strict
}

@test "git: what the workspace's own repository is not changed for is told with the way" {
    make_repository repo
    cd repo
    for words in "" "--preset git"; do
        run -128 --separate-stderr "$BAWN" run $words -- git remote add origin https://example.org/x
        [[ $stderr == *"  write $PWD/.git/config"*" (protected \$WORKSPACE/.git/config"* ]]
        [[ $stderr == *"    allow with: --rw '$PWD/.git/config"* ]]
        run -128 --separate-stderr "$BAWN" run $words -- git worktree add -q tree
        [[ $stderr == *"to change: do it outside; a worktree or submodule that is there can be worked in" ]]
    done
    [ -z "$(git remote)" ]
    run -0 --separate-stderr "$BAWN" run --rw .git/config -- sh -ec 'git remote add origin https://example.org/x; git config core.autocrlf input'
    [ -z "$stderr" ]
    [ "$(git remote) $(git config core.autocrlf)" = "origin input" ]
    run ! --separate-stderr "$BAWN" run --rw .git/config -- sh -c 'echo x >.git/hooks/post-commit'
}

@test "git: its configuration in the home inside is the command's to change" {
    git init -q repo && cd repo
    run -0 "$BAWN" run -- sh -ec 'git config --global user.name Other; git config --global alias.st status; git config user.name
        echo x >~/new; mv ~/new ~/.npmrc; mkdir ~/d; mv ~/d ~/.vscode; ls -d ~/.npmrc ~/.vscode'
    [ "$output" = "Other"$'\n'"$HOME/.npmrc"$'\n'"$HOME/.vscode" ]
    [ "$(git config --global user.name)" = Ada ]
}
