#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn policy save and forget: answers that are remembered.
# shellcheck disable=SC2016,SC2030,SC2031,SC2088,SC2154 # words of other shells and of policies; run sets stderr

load common

setup() {
    cli_setup
    DATA=$(mktemp -d /tmp/bawn-save.XXXXXX)
    FILE=$XDG_CONFIG_HOME/bawn/policy.yaml
    chmod 755 "$DATA"
    echo content >"$DATA/file"
}

teardown() {
    rm -r "$DATA"
}

# file_is TEXT: the user's policy is exactly that.
file_is() { diff <(printf '%s' "$1") "$FILE"; }

@test "save: what was refused is allowed the next time, to check and to the kernel alike" {
    run ! "$BAWN" run -- cat "$DATA/file"
    run -0 "$BAWN" policy save read "$DATA"
    [ "$output" = "$FILE: saved read $DATA" ]
    run -0 "$BAWN" check read "$DATA/file"
    [[ $output == "allow read $DATA/file (rule paths.bawn-save-${DATA##*.}, $FILE:3)" ]]
    run -0 "$BAWN" run -- cat "$DATA/file"
    [ "$output" = content ]
    run -1 "$BAWN" check write "$DATA/file"
    run ! "$BAWN" run -- sh -c "echo x >$DATA/file"
    run -0 "$BAWN" policy save write "$DATA"
    run -0 "$BAWN" check write "$DATA/file"
    run -0 "$BAWN" run -- sh -c "echo x >$DATA/file"
    [ "$(<"$DATA/file")" = x ]
    run -0 "$BAWN" policy forget write "$DATA"
    run ! "$BAWN" run -- cat "$DATA/file"
    file_is ''
}

@test "save: a new file is the user's alone, an old one keeps its mode, its comments and its order" {
    "$BAWN" policy save deny '*.pem'
    [ "$(stat -c %a "$FILE")" = 600 ]
    [ "$(stat -c %a "${FILE%/*}")" = 700 ]
    printf '# mine\nsandbox:\n    deny: [a,   "b"]  # two\n    reads: strict\n' >"$FILE"
    chmod 640 "$FILE"
    "$BAWN" policy save deny c host example.org:443 read "$DATA"
    [ "$(stat -c %a "$FILE")" = 640 ]
    file_is "# mine
sandbox:
    deny: [a,   \"b\", c]  # two
    reads: strict
    network:
        allow:
            - example.org:443
    paths:
        bawn-save-${DATA##*.}: {root: $DATA, mode: ro}
"
    [ "$(ls "${FILE%/*}")" = policy.yaml ]
}

@test "save: --dry-run prints a diff that patch takes, and writes nothing" {
    mkdir -p "${FILE%/*}"
    printf 'sandbox:\n  deny:\n    - a' >"$FILE"
    run --separate-stderr -0 "$BAWN" policy save --dry-run deny b write "$DATA"
    file_is 'sandbox:
  deny:
    - a'
    patch -s -o "$BATS_TEST_TMPDIR/patched" "$FILE" <<<"$output"
    "$BAWN" policy save deny b write "$DATA"
    cmp "$FILE" "$BATS_TEST_TMPDIR/patched"
    rm -r "${FILE%/*}"
    run --separate-stderr -0 "$BAWN" policy save --dry-run --scope project read "$DATA"
    [[ $output == "--- /dev/null"* ]]
    run --separate-stderr -0 "$BAWN" policy save --dry-run read "$DATA"
    [ ! -e "${FILE%/*}" ]
    [ ! -e .bawn ]
}

@test "save: a rule that is there already changes nothing, in whatever words" {
    "$BAWN" policy save read "$HOME/x" deny '*.pem'
    grep -q 'root: "~/x"' "$FILE"
    cp "$FILE" before
    run -0 "$BAWN" policy save read '~/x' deny '*.pem'
    [ "$output" = "$FILE: there is already: read ~/x
$FILE: there is already: deny *.pem" ]
    run -0 "$BAWN" policy save read '$HOME/x'
    cmp "$FILE" before
    "$BAWN" policy forget read "$HOME/x"
    run ! grep -q paths "$FILE"
}

@test "save: JSON has the lines that a person should see first" {
    run --separate-stderr -0 "$BAWN" policy save --json --dry-run host a.example:443
    is_json "$output"
    [ "$(json_get "$output" 'd["dry_run"], d["written"], d["scope"]')" = "(True, False, 'user')" ]
    [ "$(json_get "$output" 'd["rules"][0]["lines"]')" = "sandbox:
  network:
    allow:
      - a.example:443" ]
    run --separate-stderr -0 "$BAWN" policy save --json host a.example:443
    [ "$(json_get "$output" 'd["written"], d["rules"][0]["changed"]')" = "(True, True)" ]
    run --separate-stderr -125 "$BAWN" policy save --json read "$HOME/.ssh"
    is_json "$output"
    [ "$(json_get "$output" 'd["error"]["code"]')" = save.listed ]
}

@test "save: a secret is opened only by its very path, and by who says so" {
    mkdir "$HOME/.ssh"
    echo key >"$HOME/.ssh/id"
    ln -s .ssh "$HOME/notes"
    for path in "$HOME/.ssh" "$HOME/.ssh/id"; do
        run --separate-stderr -125 "$BAWN" policy save read "$path"
        [[ $stderr == *"'~/.ssh' is on the built-in list of secrets"*"--reopen"* ]]
    done
    run --separate-stderr -125 "$BAWN" policy save reopen '~/.ssh'
    run --separate-stderr -125 "$BAWN" policy save write .git/hooks
    [[ $stderr == *"built-in list of protected paths"* ]]
    [ ! -e "$FILE" ]
    # A link is not its name, whatever anybody says.
    for more in -q --reopen; do
        run --separate-stderr -125 "$BAWN" policy save $more read "$HOME/notes/id"
        [[ $stderr == *"would have no effect: 'secret ~/.ssh'"* ]]
    done
    # A directory around it opens no secret.
    "$BAWN" policy save read "$HOME"
    run ! "$BAWN" run -- cat "$HOME/.ssh/id"
    "$BAWN" policy save --reopen read "$HOME/.ssh/id"
    run -0 "$BAWN" run -- cat "$HOME/.ssh/id"
    [ "$output" = key ]
}

@test "save: a rule that another one would overrule is refused, with that one's place" {
    mkdir -p "${FILE%/*}"
    printf 'sandbox:\n  deny:\n    - /tmp/**/secret\n  network: {mode: proxy, deny: [bad.example]}\n' >"$FILE"
    cp "$FILE" before
    run --separate-stderr -125 "$BAWN" policy save read "$DATA/secret"
    [[ $stderr == *"would have no effect: 'deny /tmp/**/secret' at $FILE:3:7 decides"*"bawn why read"* ]]
    run --separate-stderr -125 "$BAWN" policy save host bad.example:443
    [[ $stderr == *"at $FILE:4:"* ]]
    # All of them or none.
    run -125 "$BAWN" policy save deny other read "$DATA/secret"
    cmp "$FILE" before
}

@test "save: a file that cannot be extended safely is refused, with the rule to write by hand" {
    mkdir -p "${FILE%/*}"
    printf 'sandbox:\n  network: true\n' >"$FILE"
    run --separate-stderr -125 "$BAWN" policy save host a.example
    [[ $stderr == *"$FILE:2:12: error: "*"hint: "*"sandbox: {network: {allow: [a.example]}}"* ]]
    printf 'sandbox:\n  reads: sometimes\n' >"$FILE"
    run --separate-stderr -125 "$BAWN" policy save deny x
    [[ $stderr == *"$FILE:2:"* ]]
    file_is 'sandbox:
  reads: sometimes
'
}

@test "save: bad words are refused" {
    run --separate-stderr -125 "$BAWN" policy save reed x
    [[ $stderr == *read* ]]
    run --separate-stderr -125 "$BAWN" policy save read x deny
    has_error_and_hint
    run --separate-stderr -125 "$BAWN" policy save read ''
    run --separate-stderr -125 "$BAWN" policy save read $'/x\xff'
    [[ $stderr == *"not UTF-8"* ]]
    run --separate-stderr -125 "$BAWN" policy save host 'a.example b'
    run --separate-stderr -125 "$BAWN" policy forget deny x
    [[ $stderr == *"has no rule 'deny x'"* ]]
    [ ! -e "$FILE" ]
}

@test "save: a project's file that is new, or was approved, is approved as it becomes" {
    run -0 "$BAWN" policy save --scope project read "$DATA"
    [ "$(<.bawn/policy.yaml)" = "sandbox:
  paths:
    bawn-save-${DATA##*.}: {root: $DATA, mode: ro}" ]
    run -0 "$BAWN" run -- cat "$DATA/file"
    run -0 "$BAWN" policy save --scope project write "$WORK/sub" deny '*.pem'
    grep -q 'root: "./sub"' .bawn/policy.yaml
    run -0 "$BAWN" run -- cat "$DATA/file"
    [ "$output" = content ]
    run -0 "$BAWN" policy save --scope local read "$DATA/file"
    [ "$(stat -c %a .bawn/local.yaml)" = 600 ]
    # Somebody else's change is not.
    echo '# more' >>.bawn/policy.yaml
    rm .bawn/local.yaml
    run ! "$BAWN" run -q -- cat "$DATA/file"
}

@test "save: nothing that a project brought along is approved by the way" {
    mkdir .bawn
    printf 'sandbox: {paths: {loot: {root: %s, mode: rw}}}\n' "$DATA" >.bawn/policy.yaml
    cp .bawn/policy.yaml before
    run --separate-stderr -125 "$BAWN" policy save --scope project read /srv
    [[ $stderr == *"you have not approved this file"*"bawn policy approve"*"--scope user"* ]]
    cmp .bawn/policy.yaml before
    # What narrows can be saved, and approves nothing.
    run -0 "$BAWN" policy save -q --scope project deny '*.pem'
    grep -q pem .bawn/policy.yaml
    run ! "$BAWN" run -q -- cat "$DATA/file"
    run ! "$BAWN" run -q -- sh -c "echo x >$DATA/file"
    [ "$(<"$DATA/file")" = content ]
    [ ! -e "$XDG_CONFIG_HOME/bawn/approved" ]
}

@test "save: no sandbox changes a policy, whatever it is granted" {
    # A leak checker needs ptrace, which is refused inside.
    local inside=("$BAWN" run -q --env XDG_CONFIG_HOME --env ASAN_OPTIONS=detect_leaks=0 --ro "${BAWN%/*}")

    "$BAWN" policy save deny '*.pem'
    sha256sum "$FILE" >"$BATS_TEST_TMPDIR/sum"
    for scope in user project local org; do
        for grant in '' "--rw=$XDG_CONFIG_HOME"; do
            run --separate-stderr -125 "${inside[@]}" ${grant:+"$grant"} -- \
                "$BAWN" policy save --scope $scope deny x
            [[ $stderr == *"a sandbox cannot change a policy"* ]]
        done
    done
    run ! "${inside[@]}" --rw "$XDG_CONFIG_HOME" -- sh -c "echo >>$FILE"
    run ! "${inside[@]}" --rw "$XDG_CONFIG_HOME" -- mv "$FILE" "$FILE.old"
    sha256sum -c "$BATS_TEST_TMPDIR/sum"
    [ "$(ls "${FILE%/*}")" = policy.yaml ]
    [ ! -e .bawn ]
}

@test "save: of many at once none is lost" {
    for i in {1..12}; do
        "$BAWN" policy save -q deny "x$i" &
    done
    wait
    for i in {1..12}; do
        grep -q -- "- x$i\$" "$FILE"
    done
    [ "$(ls "${FILE%/*}")" = policy.yaml ]
    "$BAWN" policy lint
}

@test "save: who holds the lock makes the others give up, not wait for ever" {
    "$BAWN" policy save -q deny a
    flock "${FILE%/*}" sleep 20 3>&- &
    sleep 0.3
    run --separate-stderr -125 timeout 15 "$BAWN" policy save deny b
    kill %1
    [[ $stderr == *"another program holds it"* ]]
    has_error_and_hint
    run ! grep -q -- '- b' "$FILE"
}

@test "save: a file that cannot be written whole stays as it was" {
    "$BAWN" policy save -q deny a
    cp "$FILE" before
    run -125 bash -c '(ulimit -f 0; "$@") 2>&1 | cat; exit ${PIPESTATUS[0]}' - "$BAWN" policy save deny b
    [[ $output == *"write $FILE: "*"as it was"* ]]
    cmp "$FILE" before
    [ "$(ls "${FILE%/*}")" = policy.yaml ]
}

@test "save: a full disk leaves the old file" {
    [ "$(id -u)" -eq 0 ] || return 0 # only root mounts a small disk
    run -0 unshare --mount --propagation private bash -ec '
        mount -t tmpfs -o size=16k tmpfs "$XDG_CONFIG_HOME"
        "$0" policy save -q deny a
        head -c 100000 /dev/zero >"$XDG_CONFIG_HOME/bawn/filler" || true
        cp "$XDG_CONFIG_HOME/bawn/policy.yaml" before
        if "$0" policy save deny b; then exit 3; fi
        cmp before "$XDG_CONFIG_HOME/bawn/policy.yaml"
        rm "$XDG_CONFIG_HOME/bawn/filler"
        test "$(ls "$XDG_CONFIG_HOME/bawn")" = policy.yaml' "$BAWN"
    [[ $output == *"No space left"*"as it was"* ]]
}

@test "save: who is killed on the way leaves the old file or the new one" {
    "$BAWN" policy save -q deny a0
    for i in {1..25}; do
        "$BAWN" policy save -q deny "a$i" &
        sleep "0.00$((RANDOM % 10))"
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        "$BAWN" policy lint -q >/dev/null
        grep -q -- '- a0$' "$FILE"
    done
    # What such a one can leave is gone with the next; what only looks alike stays.
    touch "$FILE".{0123456789abcdef,bak,0123456789abcdeff}
    "$BAWN" policy save -q deny last
    rm "$FILE".{bak,0123456789abcdeff}
    [ "$(ls "${FILE%/*}")" = policy.yaml ]
}

@test "save: no link is followed, and none is replaced" {
    mkdir -p "${FILE%/*}"
    echo '# elsewhere' >elsewhere
    ln -s "$WORK/elsewhere" "$FILE"
    run --separate-stderr -125 "$BAWN" policy save deny a
    [[ $stderr == *"is a symbolic link"* ]]
    has_error_and_hint
    [ -L "$FILE" ]
    mkdir other
    ln -s other .bawn
    run --separate-stderr -125 "$BAWN" policy save --scope project deny a
    [ -z "$(ls other)" ]
    [ "$(<elsewhere)" = '# elsewhere' ]
    rm "$FILE"
    mkfifo "$FILE"
    run --separate-stderr -125 timeout 10 "$BAWN" policy save deny a
    [ -p "$FILE" ]
}

# with_org TEXT COMMAND...: where /etc/bawn/policy.yaml has that text.
with_org() {
    mkdir -p "$BATS_TEST_TMPDIR/upper/bawn" "$BATS_TEST_TMPDIR/overlay"
    printf '%s' "$1" >"$BATS_TEST_TMPDIR/upper/bawn/policy.yaml"
    shift
    unshare --mount --propagation private sh -c '
        mount -t tmpfs tmpfs "$0/overlay" && mkdir "$0/overlay/u" "$0/overlay/w" &&
        cp -r "$0/upper/bawn" "$0/overlay/u" &&
        mount -t overlay -o "lowerdir=/etc,upperdir=$0/overlay/u,workdir=$0/overlay/w" overlay /etc &&
        exec "$@"' "$BATS_TEST_TMPDIR" "$@"
}

@test "save: what the org denies stays denied, and it is said where" {
    [ "$(id -u)" -eq 0 ] || return 0 # only root has an org policy of its own for a test
    local org="sandbox:
  deny:
    - $DATA
  network:
    deny: [bad.example]
lock: [sandbox.protect]
"
    run --separate-stderr -125 with_org "$org" "$BAWN" policy save read "$DATA"
    [[ $stderr == *"would have no effect: 'deny $DATA' at /etc/bawn/policy.yaml:3:7 decides"* ]]
    run --separate-stderr -125 with_org "$org" "$BAWN" policy save --reopen write "$DATA/file"
    [[ $stderr == *"/etc/bawn/policy.yaml:3:7"* ]]
    run --separate-stderr -125 with_org "$org" "$BAWN" policy save host bad.example:443
    [[ $stderr == *"/etc/bawn/policy.yaml:5:"* ]]
    run --separate-stderr -125 with_org "$org" "$BAWN" policy save protect x
    [[ $stderr == *"sandbox.protect is locked by /etc/bawn/policy.yaml:6:"* ]]
    [ ! -e "$FILE" ]
    run -0 with_org "$org" sh -c '"$1" policy save --scope org read /srv/none && cat /etc/bawn/policy.yaml &&
        stat -c %a /etc/bawn/policy.yaml' - "$BAWN"
    [[ $output == *"- $DATA"*"paths:"*"root: /srv/none"*"lock: [sandbox.protect]"*644 ]]
}

@test "save: the org's file is root's" {
    [ "$(id -u)" -ne 0 ] || return 0 # root may
    run --separate-stderr -125 "$BAWN" policy save --scope org deny x
    [[ $stderr == *"sudo"* ]]
}

@test "save: a plan that was kept is not used with an older policy" {
    [ "$(id -u)" -eq 0 ] || return 0 # to others no plan is kept in a test
    unset XDG_CONFIG_HOME
    for _ in 1 2; do
        run ! at_home "$BAWN" run -- cat "$DATA/file"
    done
    compgen -G "$HOME/.cache/bawn/plans/*"
    run -0 at_home "$BAWN" policy save read "$DATA"
    for _ in 1 2; do
        run -0 at_home "$BAWN" run -- cat "$DATA/file"
        [ "$output" = content ]
        run -0 at_home "$BAWN" check read "$DATA/file"
    done
    run -0 at_home "$BAWN" policy forget read "$DATA"
    run ! at_home "$BAWN" run -- cat "$DATA/file"
}

@test "why: what is to be typed makes it allowed, and no more" {
    local refused=/srv/bawn-none/a\'b\ c command

    run -1 "$BAWN" why read "$refused"
    command=$(sed -n 's/.*or save it: //p' <<<"$output")
    [ "$command" = "bawn policy save read '/srv/bawn-none/a'\\''b c'" ]
    PATH=${BAWN%/*}:$PATH run -0 bash -c "$command"
    run -0 "$BAWN" check read "$refused"
    run -1 "$BAWN" check read /srv/bawn-none/other
    run -1 "$BAWN" check write "$refused"
    run -1 "$BAWN" why --net proxy connect a.example:443
    command=$(sed -n 's/.*or save it: //p' <<<"$output")
    PATH=${BAWN%/*}:$PATH run -0 bash -c "$command"
    run -0 "$BAWN" check connect a.example:443
    run -1 "$BAWN" check connect a.example:80
    # Never everything, never a home, never what holds a secret.
    run -1 "$BAWN" why --profile none read "$HOME"
    [[ $output == *"to change: that is a whole home"* ]]
    run -1 "$BAWN" why --profile none read "$HOME/.config"
    [[ $output == *"to change: a secret is in it"* ]]
    run -1 "$BAWN" why write /
    [[ $output == *"to change: that is everything"* ]]
    run -1 "$BAWN" why --profile none read "$HOME/.ssh/id"
    [[ $output == *"add --ro '$HOME/.ssh/id', or save it: bawn policy save --reopen read '$HOME/.ssh/id'"* ]]
}
