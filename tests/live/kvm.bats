# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # run sets output, status and stderr
# A virtual machine inside: --allow-kvm, and the lists of devices. As root, and from there as the
# ordinary user bawn-test with a node of his own.
load ../cli/common

setup_file() {
    [[ -c /dev/kvm && -w /dev/kvm ]] || skip "no /dev/kvm"
    "${CC:-gcc}" -std=gnu17 -O1 -Wall -Wextra -Werror -static -o "$BATS_FILE_TMPDIR/kvm" \
        "$BATS_TEST_DIRNAME/kvm.c"
    "$BATS_FILE_TMPDIR/kvm" || skip "no virtual machine runs here"
}

setup() {
    cli_setup
    cp "$BATS_FILE_TMPDIR/kvm" kvm
}

@test "kvm: a guest runs inside with --allow-kvm" {
    run "$BAWN" run --allow-kvm -- ./kvm
    [ "$output" = "guest says 7" ]
    [ "$status" -eq 0 ]
}

@test "kvm: there is no such device without it" {
    run "$BAWN" run -- ./kvm
    [ "$status" -eq 2 ]
    [[ $output == *"No such file or directory" ]]
}

@test "kvm: a device that is denied is not there, allowed or not" {
    run "$BAWN" run --allow-kvm --set sandbox.devices.deny=/dev/kvm -- ./kvm
    [ "$status" -eq 2 ]
    run "$BAWN" run --set sandbox.devices.allow=/dev/kvm --set sandbox.devices.deny=/dev/kvm -- ./kvm
    [ "$status" -eq 2 ]
    run "$BAWN" run --set sandbox.devices.allow=/dev/kvm -- ./kvm
    [ "$output" = "guest says 7" ]
}

@test "kvm: the host's node stays whose it was" {
    before=$(stat -c '%a %u %g %i' /dev/kvm)
    run "$BAWN" run --allow-kvm -- sh -c 'chmod 666 /dev/kvm; chown 5 /dev/kvm; rm /dev/kvm'
    [ "$(stat -c '%a %u %g %i' /dev/kvm)" = "$before" ]
}

@test "kvm: an ordinary user whom the node lets in" {
    [ "$(id -u)" -eq 0 ] || skip "only root can lend bawn-test a node"
    id bawn-test >/dev/null || skip "no user bawn-test"
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR"/..
    node=$BATS_TEST_TMPDIR/node
    mknod -m 666 "$node" c 10 232
    chown -R bawn-test: "$BATS_TEST_TMPDIR/home" "$BATS_TEST_TMPDIR/config" "$WORK"
    lent='mount --bind "$1" /dev/kvm; shift; exec runuser -u bawn-test -- "$@"'
    run unshare -m sh -c "$lent" sh "$node" env HOME="$HOME" "$BAWN" run --allow-kvm -- ./kvm
    [ "$output" = "guest says 7" ]
    # The host's own is root's alone.
    if [ "$(stat -c %a /dev/kvm)" = 600 ]; then
        run runuser -u bawn-test -- env HOME="$HOME" "$BAWN" run --allow-kvm -- ./kvm
        [ "$status" -eq 2 ]
    fi
}
