# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2015,SC2016,SC2030,SC2031,SC2154 # run sets output, status and stderr
# Containers inside: --allow-containers. As who runs this and, from root, as bawn-test.
load ../cli/common

setup_file() {
    local root=$BATS_FILE_TMPDIR/root applet

    command -v podman >/dev/null || skip "no podman"
    [[ -x /bin/busybox ]] && ! ldd /bin/busybox >/dev/null 2>&1 || skip "no static busybox"
    mkdir -p "$root/bin"
    cp /bin/busybox "$root/bin/sh"
    for applet in echo id cat mount; do
        ln -s sh "$root/bin/$applet"
    done
    tar -C "$root" -cf "$BATS_FILE_TMPDIR/image.tar" .
    chmod -R a+rX "$BATS_FILE_TMPDIR"
}

setup() {
    cli_setup
    cp "$BATS_FILE_TMPDIR/image.tar" .
    mkdir -p .git/hooks
    as=()
    if [[ ${BATS_TEST_DESCRIPTION} == *"bawn-test"* ]]; then
        [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
        id bawn-test >/dev/null || skip "no user bawn-test"
        chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
        chown -R bawn-test: "$BATS_TEST_TMPDIR"
        as=(runuser -u bawn-test -- env HOME="$HOME")
    fi
}

# sandbox SCRIPT [OPTION]...: with containers allowed.
sandbox() {
    local script=$1
    shift
    run "${as[@]}" "$BAWN" run --allow-containers "$@" -- sh -c "$script"
}

pod='pod() { podman run --rm --cgroups=disabled --network none "$@"; }
    podman import -q image.tar local:1 >/dev/null 2>&1 || podman import image.tar local:1
'

runs_a_container() {
    sandbox "$pod pod local:1 /bin/echo hi; pod --user 1000 local:1 /bin/id
        pod -v \$PWD:/work local:1 /bin/sh -c 'echo made >/work/made'; cat made"
    [[ $output == *"hi"* ]]
    [[ $output == *"uid=1000"* ]]
    [[ $output == *"made"* ]]
    [ "$status" -eq 0 ]
    # What it made in the workspace is the caller's; its storage was the sandbox's own.
    [ "$(stat -c %u made)" = "$(stat -c %u .)" ]
    [ ! -e "$HOME/.local" ]
    [ -z "$(pgrep -f "conmon.*$BATS_TEST_TMPDIR" || true)" ]
}

@test "podman: a container runs inside" { runs_a_container; }
@test "podman: a container runs inside (as bawn-test)" { runs_a_container; }

# Each preset alone: a container works in the workspace. What the preset grants and is not there is no
# reason to refuse; what it protects and nobody holds now is said.
works_with_presets() {
    local preset
    local -A told=([claude]='.claude/projects/\*/memory' [gemini]='.gemini/tmp/bin and what else' [git]='.gitmodules and what else')

    for preset in claude codex gemini opencode aider git node python rust go java c; do
        sandbox "$pod pod -v \$PWD:/work local:1 /bin/sh -c 'echo made >/work/made' && echo worked" --preset "$preset"
        echo "$preset: $output"
        [ "$status" -eq 0 ]
        [ "${lines[-1]}" = worked ]
        [ "$(<made)" = made ]
        rm made
        if [[ -n ${told[$preset]:-} ]]; then
            [[ $output == *"bawn: not held here: protect "*${told[$preset]}*", as containers are allowed"* ]]
        else
            [[ $output != *"not held"* ]]
        fi
    done
    # What is there is held.
    "${as[@]}" mkdir -p "$HOME/.gemini/tmp/bin"
    sandbox 'touch ~/.gemini/tmp/bin/planted' --preset gemini
    [ "$status" -ne 0 ]
    [[ $output == *Read-only* && $output == *'protect '*'.gemini/tmp/*/memory, as containers'* ]]
    # Rules that somebody wrote are a reason to refuse, with the way.
    printf 'version: 1\nsandbox: {paths: {later: {root: ~/later, mode: ro}}}\n' >policy.yaml
    run --separate-stderr "${as[@]}" "$BAWN" run --allow-containers --preset claude --policy policy.yaml -- touch ran
    [ "$status" -eq 125 ]
    [[ $stderr == *"paths.later: ro $HOME/later"*hint:*--allow-containers*"make it before"* ]]
    [ ! -e ran ]
}

@test "podman: with each preset" { works_with_presets; }
@test "podman: with each preset (as bawn-test)" { works_with_presets; }

# Every line is an attempt, harmless where nothing holds; each must fail.
attempts='
no() { "$@" >/dev/null 2>&1 && echo "got through: $*"; }
no umount /etc/hosts
no umount -l /etc
no umount -l /proc
no mount -o remount,bind,rw /usr
no mount -o remount,bind,rw /
no unshare -Urm mount -o remount,bind,rw /usr
no unshare -m umount /etc/passwd
no touch /usr/made /etc/made /made
no touch .git/hooks/pre-commit
no mv .git gone
no mount --bind /etc /tmp
no unshare -Urm mount --bind /etc /tmp
mkdir -p /tmp/u /tmp/w /tmp/m
no mount -t overlay none -o lowerdir=/etc,upperdir=/tmp/u,workdir=/tmp/w,userxattr /tmp/m
no mount -t overlay none -o lowerdir=.,upperdir=/tmp/u,workdir=/tmp/w,userxattr /tmp/m
no grep -q . secret.txt
no grep -rq hidden-text hidden
no chroot /proc/1/root true
no cat /proc/1/environ
no cat /proc/kcore
no sh -c ": >>/proc/sysrq-trigger"
no sh -c ": >>/proc/sys/kernel/core_pattern"
no sh -c ": >>/proc/sys/vm/drop_caches"
no sh -c ": >>/proc/sys/kernel/modprobe"
no sh -c ": >>/sys/fs/cgroup/cgroup.procs"
no mkdir /sys/fs/cgroup/made
no nsenter -t 1 -n true
no mknod /tmp/node b 8 0
no test -e /run/docker.sock -o -e /run/podman/podman.sock
no nsenter --net=/proc/self/ns/net --preserve-credentials ip link add x type bridge
: end
'

is_contained() {
    mkdir hidden
    echo secret >secret.txt
    echo hidden-text >hidden/file
    [ ${#as[@]} -eq 0 ] || chown -R bawn-test: .
    sandbox "$attempts"' echo tried' --deny "$PWD/secret.txt" --deny "$PWD/hidden"
    echo "$output"
    [ "$output" = tried ]
    [ "$status" -eq 0 ]
    [ -z "$(ls .git/hooks)" ]
    # The same where nothing holds: the words are attempts, not nonsense.
    [ "$(cat secret.txt)" = secret ]
}

@test "podman: with its rights nobody gets out" { is_contained; }
@test "podman: with its rights nobody gets out (as bawn-test)" { is_contained; }

@test "podman: without --allow-containers there are no such rights" {
    run "$BAWN" run -- sh -c 'unshare -Ur true; mount -t tmpfs none /tmp'
    [ "$status" -ne 0 ]
    [[ $output == *"not permitted"* ]]
}

@test "podman: it cannot stay the host's root" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    run --separate-stderr "$BAWN" run --allow-containers --as-root -- touch ran
    [ "$status" -eq 125 ]
    has_error_and_hint
    [ ! -e ran ]
}

@test "podman: a rule for what is not there yet is a reason to refuse" {
    printf 'version: 1\nsandbox: {paths: {later: {root: %s, mode: ro}}}\n' "$PWD/later" >"$BATS_TEST_TMPDIR/policy.yaml"
    run --separate-stderr "$BAWN" run --allow-containers --policy "$BATS_TEST_TMPDIR/policy.yaml" -- touch ran
    [ "$status" -eq 125 ]
    [[ $stderr == *later* ]]
    [ ! -e ran ]
    run "$BAWN" run --allow-containers --best-effort --policy "$BATS_TEST_TMPDIR/policy.yaml" -- true
    [ "$status" -eq 0 ]
    run "$BAWN" plan --set sandbox.process.containers=true
    [[ $output == *"[not on this host] "*" protected names that do not exist now"* ]]
}

@test "podman: a pattern against writing is a reason to refuse, one that hides is held" {
    mkdir sub
    echo kept >sub/a.lock
    run --separate-stderr "$BAWN" run --allow-containers --protect '*.lock' -- touch ran
    [ "$status" -eq 125 ]
    [[ $stderr == *.lock* ]]
    [ ! -e ran ]
    run "$BAWN" run --allow-containers --deny '*.lock' -- cat sub/a.lock
    [[ $output != *kept* ]]
    run "$BAWN" plan --set sandbox.process.containers=true --json
    [[ $output != *'"protected /**/.mcp.json", "by": "mount"'* ]]
}

another_bawn() {
    local dir
    dir=$(dirname "$BAWN")
    run "${as[@]}" "$BAWN" run --allow-containers --ro "$dir" -- "$BAWN" run -- \
        sh -c 'id -u; touch made; touch /usr/made; touch .git/hooks/x; echo >.bashrc; ls -d /proc/[0-9]*'
    [ -e made ]
    [ ! -e .git/hooks/x ]
    [ ! -e .bashrc ]
    [[ $output == *"/usr/made"*"Read-only"* ]]
    run --separate-stderr "${as[@]}" "$BAWN" run --ro "$dir" -- "$BAWN" run -- touch ran
    [ "$status" -eq 125 ]
    [[ $stderr == *"hint: "*"--allow-containers"* ]]
    [ ! -e ran ]
}

@test "podman: another bawn holds inside" { another_bawn; }
@test "podman: another bawn holds inside (as bawn-test)" { another_bawn; }
