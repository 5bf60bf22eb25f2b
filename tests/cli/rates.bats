#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# Bytes and operations per second of the workspace's disk.

load common

setup() {
    cli_setup
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-rates.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
    loops=()
}

teardown() {
    local loop

    "$BAWN" stop --timeout 0 >/dev/null 2>&1 || true
    rm -rf "$XDG_RUNTIME_DIR"
    for loop in "${loops[@]}"; do
        # The mounts of a sandbox end a moment after it.
        for _ in {1..100}; do
            delpart "$loop" 1 2>/dev/null && break
            sleep 0.1
        done
        losetup -d "$loop"
    done
}

# Whether the group that a run has slows down reads.
holds_rates() {
    "$BAWN" run --set sandbox.limits.io_read_bytes=1G -- true
}

# A disk of the test's own, in a mount namespace of its own: on_disk COMMAND...
on_disk() {
    if [[ ! -e $BATS_TEST_TMPDIR/disk ]]; then
        truncate -s 64M "$BATS_TEST_TMPDIR/disk"
        mkfs.ext4 -q "$BATS_TEST_TMPDIR/disk"
    fi
    mkdir -p "$WORK/mnt"
    unshare --mount --propagation private sh -c 'mount -o loop "$0" "$1" && chmod 777 "$1" && cd "$1" && shift &&
        exec "$@"' "$BATS_TEST_TMPDIR/disk" "$WORK/mnt" "$@"
}

# took COMMAND...: how many milliseconds.
took() {
    local began

    began=$(date +%s%N)
    "$@" >/dev/null 2>&1 || return
    echo $((($(date +%s%N) - began) / 1000000))
}

# Only root has a disk of its own, and most others have no control group that could hold its rates.
has_disk() {
    ((UID == 0)) || return 1
    [[ -e /dev/loop-control ]] || skip "no loop devices"
    holds_rates || skip "no control group holds rates here"
}

@test "rates: reading is slowed down to bytes per second, and not without" {
    has_disk || return 0
    on_disk dd if=/dev/urandom of=big bs=1M count=8 oflag=direct status=none
    run -0 took on_disk "$BAWN" run -- dd if=big of=/dev/null bs=64k iflag=direct
    fast=${lines[-1]}
    # 8 MiB by 2 MiB a second; the first moments may be free.
    run -0 took on_disk "$BAWN" run --set sandbox.limits.io_read_bytes=2M -- \
        dd if=big of=/dev/null bs=64k iflag=direct
    slow=${lines[-1]}
    echo "$fast ms without, $slow ms with"
    ((slow >= 3000 && slow > fast + 1500))
    # What a buffered read fetches is slowed down, too.
    run -0 took on_disk "$BAWN" run --set sandbox.limits.io_read_bytes=2M -- cat big
    ((${lines[-1]} >= 2500))
}

@test "rates: reading is slowed down to operations per second" {
    has_disk || return 0
    on_disk dd if=/dev/urandom of=big bs=1M count=2 oflag=direct status=none
    run -0 took on_disk "$BAWN" run --set sandbox.limits.io_read_ops=50 -- \
        dd if=big of=/dev/null bs=4k count=200 iflag=direct
    echo "${lines[-1]} ms"
    ((${lines[-1]} >= 3000))
}

@test "rates: the group outside has them, for the disk and not for its partition" {
    has_disk || return 0
    truncate -s 64M "$BATS_TEST_TMPDIR/parted"
    loop=$(losetup -f --show "$BATS_TEST_TMPDIR/parted")
    loops+=("$loop")
    # Whoever had the number before may still be leaving.
    for _ in {1..100}; do
        addpart "$loop" 1 2048 100000 2>/dev/null && break
        sleep 0.1
    done
    mkfs.ext4 -q "${loop}p1"
    mkdir -p mnt
    cat >look.sh <<'END'
mount "$1" "$2" && cd "$2" || exit 1
sid=$("$BAWN" run --detach --set sandbox.limits.io_read_bytes=1M --set sandbox.limits.io_read_ops=70 -- sleep 1000)
"$BAWN" plan --set sandbox.limits.io_read_bytes=1M | grep 'sandbox.limits.io_read_bytes'
for dir in $("$BAWN" status --json "$sid" |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["cgroups"])'); do
    cat "$dir"/io.max "$dir"/blkio.throttle.read_bps_device "$dir"/blkio.throttle.read_iops_device
done 2>/dev/null
"$BAWN" stop --timeout 0 "$sid" >&2
END
    disk=$(cat "/sys/class/block/${loop##*/}/dev")
    BAWN=$BAWN run -0 --separate-stderr unshare --mount --propagation private sh look.sh "${loop}p1" "$PWD/mnt"
    echo "$output"
    [[ $output == *"[cgroup] sandbox.limits.io_read_bytes: 1M"*"of the disk $disk, which the workspace is on"* ]]
    [[ $output == *"$disk 1048576"*"$disk 70"* || $output == *"$disk rbps=1048576 wbps=max riops=70 wiops=max"* ]]
}

@test "rates: writing is held by cgroup v2 alone; elsewhere bawn refuses, or says so" {
    holds_rates || return 0
    run --separate-stderr "$BAWN" run --set sandbox.limits.io_write_bytes=2M -- echo ran
    if ((status == 0)); then
        # All that is written, sooner or later.
        has_disk || return 0
        run -0 took on_disk "$BAWN" run --set sandbox.limits.io_write_bytes=2M -- \
            sh -c 'dd if=/dev/zero of=new bs=64k count=128 && sync new'
        ((${lines[-1]} >= 2500))
        return 0
    fi
    [ "$status" -eq 125 ]
    has_error_and_hint
    [[ -z $output && $stderr == *"sandbox.limits.io_write_bytes: 2M: cgroup v1 slows down direct writes only"* ]]
    run -0 --separate-stderr "$BAWN" run --best-effort --set sandbox.limits.io_write_bytes=1M -- echo ran
    [[ $output == ran && $stderr == *"sandbox.limits.io_write_bytes: 1M"* ]]
    # What can be done is done: a direct write is slow.
    if ((UID == 0)) && [[ -e /dev/loop-control ]]; then
        run -0 took on_disk "$BAWN" run --best-effort --set sandbox.limits.io_write_bytes=2M -- \
            dd if=/dev/zero of=new bs=64k count=128 oflag=direct
        ((${lines[-1]} >= 2500))
    fi
}

@test "rates: where the workspace is on no disk, or no group holds them, nothing runs" {
    local shm

    shm=$(mktemp -d /dev/shm/bawn-rates.XXXXXX)
    for key in io_read_bytes io_write_bytes io_read_ops io_write_ops; do
        run -125 --separate-stderr "$BAWN" run -C "$shm" --set "sandbox.limits.$key=100" -- echo ran
        echo "$key: $stderr"
        has_error_and_hint
        [[ -z $output && $stderr == *"sandbox.limits.$key: 100: "* ]]
        [[ $stderr == *"without one disk of its own (tmpfs)"* || $stderr == *"there is no control group to hold it"* ]]
        run -0 --separate-stderr "$BAWN" run -C "$shm" --best-effort --set "sandbox.limits.$key=100" -- echo ran
        [[ $output == ran && $stderr == *"sandbox.limits.$key: 100"* ]]
        run -0 "$BAWN" plan -C "$shm" --set "sandbox.limits.$key=100"
        [[ $output == *"$key"*" per second"* ]]
    done
    rmdir "$shm"
    if ((UID == 0)); then
        # A hierarchy of v1 that is not there, or all of v2.
        local hidden=(unshare --mount sh -c 'umount -l /sys/fs/cgroup/blkio 2>/dev/null ||
            mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh)
        run -125 --separate-stderr "${hidden[@]}" "$BAWN" run --set sandbox.limits.io_read_bytes=1M -- echo ran
        has_error_and_hint
        [[ -z $output && $stderr == *"sandbox.limits.io_read_bytes"* ]]
        run -0 --separate-stderr "${hidden[@]}" "$BAWN" run --best-effort \
            --set sandbox.limits.io_read_bytes=1M -- true
        [[ $stderr == *"bawn: not held here: sandbox.limits.io_read_bytes"* ]]
    fi
}

@test "rates: another file system at the workspace's place does not run with the old plan" {
    has_disk || return 0
    at_home "$BAWN" run --set sandbox.limits.io_read_bytes=1M -- true
    run -125 --separate-stderr at_home unshare --mount --propagation private sh -c \
        'mount -t tmpfs none . && cd "$PWD" && exec "$@"' sh \
        "$BAWN" run --set sandbox.limits.io_read_bytes=1M -- echo ran
    [[ -z $output && $stderr == *"(tmpfs)"* ]]
}
