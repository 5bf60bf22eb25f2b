#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Overlays over trees in which something is mounted, and over all that the command sees. Only root mounts: the
# tests run from root, as root and as the ordinary user.
# shellcheck disable=SC2016,SC2154,SC2164 # words for the shell inside; run sets stderr; a cd that fails ends the test
load common

setup() {
    cli_setup
    session=t${BATS_SUITE_TEST_NUMBER:-0}-$$
    [ "$(id -u)" -ne 0 ] || users=(root bawn-test)
}

teardown() {
    forget_changes
    for user in "${users[@]}"; do
        runuser -u "$user" -- bash -c "$(declare -f forget_changes); forget_changes /srv/work"
    done
}

# among_mounts USER PREPARE SCRIPT: a script of the user's in a workspace on a mount of its own, with a home beside it.
# Before that root prepares more there; $MOUNT DIRECTORY mounts something, on every kernel with ids that can be mapped.
among_mounts() {
    rm -rf "$BATS_TEST_TMPDIR/srv" "$BATS_TEST_TMPDIR/more"
    mkdir "$BATS_TEST_TMPDIR/srv" "$BATS_TEST_TMPDIR/more"
    unshare --mount --propagation private env BAWN="$BAWN" S="$session-$1" U="$1" MOUNT="mount --bind $BATS_TEST_TMPDIR/more" sh -ec '
        mount --bind "$BATS_TEST_TMPDIR/srv" /srv
        mkdir -p /srv/home/.ssh /srv/work
        echo key >/srv/home/.ssh/id_rsa
        cd /srv/work
        '"$2"'
        chown -R "$U:" /srv
        unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
        exec runuser -u "$U" -- env HOME=/srv/home XDG_CACHE_HOME=/srv/home/.cache sh -ec "$0"' "$3"
}

@test "overlay: a tree with a mount in it is divided: each directory without one is an overlay" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'mkdir -p sub/mnt sub/dir dir
            echo one >top; echo one >sub/file; echo one >sub/dir/f; echo one >dir/f
            $MOUNT sub/mnt
            echo one >sub/mnt/f' '
            "$BAWN" run -q --overlay . --session "$S" -- sh -c "for f in top sub/file sub/dir/f sub/mnt/f dir/f dir/new; do
                echo two 2>/dev/null >>\$f && echo \$f; done"
            cat top sub/file sub/dir/f sub/mnt/f dir/f | sort -u
            "$BAWN" diff "$S" --list
            "$BAWN" apply -q "$S"
            cat sub/mnt/f dir/new
            "$BAWN" undo -q "$S"
            cat sub/mnt/f
            ! test -e dir/new
            "$BAWN" run --overlay . -- true'
        [ "$output" = 'sub/dir/f
sub/mnt/f
dir/f
dir/new
one
M  /srv/work/dir/f
A  /srv/work/dir/new
M  /srv/work/sub/dir/f
M  /srv/work/sub/mnt/f
one
two
two
one' ]
        [[ $stderr == *"--overlay .: warning: /srv/work/sub/mnt is mounted in /srv/work: "*hint:* ]]
    done
}

@test "overlay: check, why and plan say how a tree is divided" {
    for user in "${users[@]}"; do
        run -0 among_mounts "$user" 'mkdir -p sub/mnt dir
            $MOUNT sub/mnt' '
            for f in top dir/f sub/f sub/mnt/f; do "$BAWN" check write --overlay . $f >/dev/null 2>&1 && echo $f || :; done
            "$BAWN" plan --overlay . 2>/dev/null | grep -o "overlay  .*"
            "$BAWN" why write --overlay . top 2>/dev/null || :'
        [[ $output == $'dir/f\nsub/mnt/f\noverlay      /srv/work/dir\noverlay      /srv/work/sub/mnt\ndeny: write /srv/work/top'* ]]
        [[ $output == *"/srv/work/sub/mnt is mounted in it"* ]]
    done
}

@test "overlay: a plan that was kept is made anew when something is mounted or not any more" {
    [ "$(id -u)" -eq 0 ] || return 0
    run -0 --separate-stderr among_mounts root 'mkdir -p sub/mnt' '
        try() { "$BAWN" run -q --overlay . --session "$S" -- sh -c "echo x 2>/dev/null >top && echo whole || echo divided"; }
        try; try
        $MOUNT sub/mnt
        try; try
        umount sub/mnt
        mkdir dir
        try'
    [ "$output" = $'whole\nwhole\ndivided\ndivided\nwhole' ]
    # A layer is made for trees that are there, not for those of an older plan.
    run -0 --separate-stderr among_mounts root 'mkdir -p sub/mnt one
        $MOUNT sub/mnt' '
        "$BAWN" run -q --overlay . --session "$S" -- touch one/x
        rmdir one
        "$BAWN" run -q --overlay . --session "$S-2" -- touch sub/mnt/x
        "$BAWN" diff "$S-2" --list'
    [ "$output" = 'A  x' ]
}

@test "overlay: a part of a divided tree opens nothing that a rule closes" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'mkdir -p .git/hooks held/in shut mnt ro
            echo secret >shut/f; echo secret >held/.env
            $MOUNT mnt
            cat >policy.yaml <<END
version: 1
sandbox:
  paths: {ro: {root: ro, mode: ro}}
  deny: [shut, .env]
  protect: [held]
END' '
            "$BAWN" run -q --policy policy.yaml --overlay . --session "$S" -- sh -c "
                cat shut/f held/.env; for f in shut/x held/x held/in/x ro/x .git/hooks/x; do echo x >\$f && echo \$f; done" ||:'
        [ "$output" = .git/hooks/x ]
    done
}

@test "overlay-all: the command sees the host and its home, writes to both, and nothing of it changes" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'echo note >/srv/home/note' '
            state() { find /srv -xdev -printf "%p %y %m %T@ %i\n" | sort | sha256sum; }
            before=$(state)
            "$BAWN" run -q --overlay-all --session "$S" -- sh -c "cat /etc/hostname >/dev/null && cat \$HOME/note && echo more >>\$HOME/note &&
                mkdir -p \$HOME/.config/new && echo x >\$HOME/.profile && echo y >out && cat \$HOME/note; cat \$HOME/.ssh/id_rsa || echo hidden; echo z >/z" || :
            [ "$(state)" = "$before" ] && echo same
            "$BAWN" run -q --overlay-all --session "$S" -- cat $HOME/note out
            "$BAWN" diff "$S" --list'
        [ "$output" = 'note
note
more
hidden
same
note
more
y
A  /srv/home/.config/
A  /srv/home/.config/new/
A  /srv/home/.profile
M  /srv/home/note
A  /srv/work/out' ]
        [[ $stderr == *"create /z: Read-only"* ]]
    done
}

@test "overlay-all: what was changed is applied and taken back, and protected files want a word of their own" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'echo note >/srv/home/note' '
            "$BAWN" run -q --overlay-all --session "$S" -- sh -c "echo more >>\$HOME/note; echo x >\$HOME/.profile; echo y >out"
            "$BAWN" apply -q "$S" || echo stopped
            cat $HOME/note
            "$BAWN" apply -q "$S" $HOME/note out
            cat $HOME/note out
            "$BAWN" apply -q "$S" --protected
            cat $HOME/.profile
            "$BAWN" undo -q "$S"
            ! test -e $HOME/.profile'
        [ "$output" = $'stopped\nnote\nnote\nmore\ny\nx' ]
        [[ $stderr == *"/srv/home/.profile is protected"*--protected* ]]
    done
}

@test "overlay-all: grants for writing are overlays, and a directory is not made on the host" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'mkdir /srv/data
            echo one >/srv/data/f' '
            "$BAWN" run -q --overlay-all --rw /srv/data --session "$S" -- sh -c "echo two >>/srv/data/f; cat /srv/data/f"
            cat /srv/data/f
            "$BAWN" run -q --profile default --set sandbox.overlay_all=true --rw /srv/data --session "$S-2" -- sh -c "cat /srv/data/f; echo x >/srv/data/w; echo x >w"
            "$BAWN" diff "$S-2" --list
            ls /srv/work
            "$BAWN" run --overlay-all --rw-new /srv/made -- true || echo $?
            ls /srv'
        [ "$output" = $'one\ntwo\none\none\nA  /srv/data/w\nA  /srv/work/w\n125\ndata\nhome\nwork' ]
        [[ $stderr == *'/srv/made would be made on the host'*'hint: '* ]]
    done
}

@test "overlay-all: another profile beside it is an error, and the word in a policy is enough" {
    run --separate-stderr -125 "$BAWN" run --overlay-all --profile strict -- true
    has_error_and_hint
    run -0 "$BAWN" run -q --set profile=overlay --session "$session" -- sh -c 'echo x >x; cat /etc/hostname >/dev/null'
    run -0 "$BAWN" diff "$session" --list
    [ "$output" = 'A  x' ] || [[ $output == *"A  $WORK/x" ]]
    [ ! -e x ]
}

@test "overlay-all: what root changes of the system is kept apart" {
    [ "$(id -u)" -eq 0 ] || return 0 # the system's files are root's
    if [ "$(stat -f -c %T /etc)" = overlayfs ]; then # whose ids cannot be mapped: then it can be read
        run -1 "$BAWN" run -q --overlay-all --session "$session" -- touch /etc/bawn-new
        [[ $output == *"Read-only file system"* ]]
        return 0
    fi
    before=$(stat -c '%Y %i' /etc /usr/bin)
    run -0 "$BAWN" run -q --overlay-all --session "$session" -- sh -c 'echo x >/etc/bawn-new; rm /etc/hostname; cp /bin/true /usr/bin/bawn-new; /usr/bin/bawn-new && ls /etc/bawn-new'
    [ "$(stat -c '%Y %i' /etc /usr/bin)" = "$before" ]
    [ -e /etc/hostname ]
    [ ! -e /etc/bawn-new ]
    run -0 "$BAWN" diff "$session" --list
    [[ $output == *$'A  /etc/bawn-new\n'* && $output == *$'D  /etc/hostname\n'* ]]
    [[ $output == *'A  /usr/bin/bawn-new  (executable)'* ]]
}

@test "overlay-all: a secret that is made outside while the command runs cannot be read" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'mkdir /srv/home/.config' '
            "$BAWN" run -q --overlay-all --session "$S" -- sh -c "sleep 2
                cat \$HOME/.aws/credentials || echo kept; cat \$HOME/go" &
            sleep 1
            mkdir $HOME/.aws
            echo secret >$HOME/.aws/credentials
            echo shown >$HOME/go
            wait'
        [ "$output" = $'kept\nshown' ]
        [[ $stderr == *".aws/credentials: Permission denied"* ]]
    done
}

@test "overlay: where a divided tree has more directories than overlays are made, it can be read, and bawn says so" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'mkdir -p sub/mnt dir few/in few/mnt
            for i in $(seq 60); do mkdir sub/$i; done
            $MOUNT sub/mnt' '
            "$BAWN" run --overlay . --session "$S" -- sh -c "for f in sub/1/x sub/mnt/x dir/x few/x; do
                echo x 2>/dev/null >\$f && echo \$f || :; done"
            for f in sub/1/x sub/mnt/x dir/x few/x; do "$BAWN" check write --overlay . $f >/dev/null 2>&1 && echo $f || :; done'
        [ "$output" = $'dir/x\nfew/x\ndir/x\nfew/x' ]
        [[ $stderr == *"/srv/work/sub can only be read: something is mounted in it, and there are no overlays left for the 61 directories in it"* ]]
    done
}

@test "overlay-all: files that are granted, and what an agent's preset copies or makes, are laid over, too" {
    for user in "${users[@]}"; do
        run -0 --separate-stderr among_mounts "$user" 'echo one >/srv/home/file; echo "{}" >/srv/home/.claude.json; mkdir /srv/home/.claude' '
            "$BAWN" run -q --overlay-all --rw $HOME/file --preset claude --session "$S" -- sh -c "echo two >>\$HOME/file; echo x >>\$HOME/.claude.json
                mkdir -p \$HOME/.claude/projects/-srv-work && echo y >\$HOME/.claude/projects/-srv-work/t; cat \$HOME/file \$HOME/.claude.json"
            cat $HOME/file $HOME/.claude.json
            ls -A $HOME/.claude
            "$BAWN" diff "$S" --list'
        [ "$output" = 'one
two
{}
x
one
{}
A  /srv/home/.claude/projects/
A  /srv/home/.claude/projects/-srv-work/
A  /srv/home/.claude/projects/-srv-work/t
M  /srv/home/.claude.json
M  /srv/home/file' ]
    done
}

@test "overlay-all: whatever reads are elsewhere, and with the root itself granted" {
    run -0 "$BAWN" run -q --overlay-all --reads dynamic --prompt never --session "$session" -- sh -c 'cat /etc/hostname >/dev/null; echo x >x; cat x'
    [ "$output" = x ]
    [ ! -e x ]
    for reads in strict static dynamic; do
        run -0 "$BAWN" run -q --ro / --reads "$reads" --prompt never -- sh -c 'cat /etc/hostname >/dev/null && echo read'
        [ "$output" = read ]
    done
}

@test "overlay: one over the root outdoes the grant of a workspace in a place of the sandbox's own, and others are told of" {
    run -0 --separate-stderr "$BAWN" run -q --overlay / --session "$session" -- sh -c 'echo x >x; cat x'
    [ "$output" = x ]
    [ ! -e x ]
    run -0 "$BAWN" diff "$session" --list
    [[ $output == *"A  "*x ]]
    mkdir sub
    run -0 --separate-stderr "$BAWN" run --overlay . --rw sub -- touch sub/real kept
    [[ $stderr == *"$WORK/sub is written for real, though it lies in the overlay $WORK: another rule grants it"*"hint: "* ]]
    [ -e sub/real ]
    [ ! -e kept ]
}
