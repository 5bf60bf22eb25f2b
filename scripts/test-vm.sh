#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what needs another kernel than this machine's: stock Debian kernels in a virtual machine, with
# all of cgroup v2, a delegated group, a systemd of the user's, older Landlocks, nf_tables as modules, and
# once without IPv6.
#
#     scripts/test-vm.sh [-k 6.1|6.12]...                the tests; ends with N passed, N failed, N skipped
#     scripts/test-vm.sh [-k 6.1|6.12]... -- COMMAND...  one command as root; ends with its status
#
# How it works: qemu boots a kernel of a Debian package with a small initramfs. The guest's root is this
# machine's own, read-only over virtiofs, under an overlay in memory: the guest sees the programs that
# were built here, and nothing that it writes comes back. Its /tmp is an ext4 of its own: ids can be
# mapped there, on every kernel. This same script is the guest's first process
# (--guest). The output comes over a virtio console; a last line in it has the status. Without hardware
# to help, a guest is 20 to 30 times slower: only tests run there, nothing is built.
#
# Kernels and initramfs are kept in build-vm. BAWN_VM_ACCEL (tcg), BAWN_VM_MEMORY (MiB), BAWN_VM_SECONDS
# and BAWN_VM_CASES (of tests/escape; none; or all, for which an emulated guest is too slow) change what
# their names say.
set -uo pipefail

build=${BUILD:-build}
declare -A packages=([6.1]=linux-image-cloud-amd64 [6.12]=linux-image-6.12-cloud-amd64)
programs=(test_cgroup test_usage test_probe test_systemd)
modules=(virtio_pci virtio_console virtio_blk virtiofs overlay)
test_user=bawn-test
mark=bawn-vm
# What depends on the kernel, and takes seconds even there.
cases=${BAWN_VM_CASES:-A-01 A-05 A-26 B-01 B-03 B-09 B-11 B-21 B-25 B-37 C-02 C-05 D-01 D-02 D-06 D-13
    E-01 E-03 R-01 R-09 R-22 T-04}
# Rows of tests/net/clients.py.
declare -A clients=([root]="static" ["$test_user"]="static|IPv6 only, a name")
passed=0 failed=0 skipped=0

die() {
    echo "bawn: test-vm: $1" >&2
    [ -z "${2:-}" ] || echo "hint: $2" >&2
    exit 1
}

# --- on this machine ---

need_programs() {
    local program
    for program in qemu-system-x86_64 busybox cpio depmod modprobe mkfs.ext4 xz apt-get dpkg-deb; do
        command -v "$program" >/dev/null ||
            die "$program is missing" "scripts/deps.sh vm installs what this needs"
    done
    [ "$(id -u)" -eq 0 ] || die "only root can share the filesystem with a guest"
    [ "$(uname -m)" = x86_64 ] || die "only for x86_64"
    virtiofsd=$(command -v /usr/lib/qemu/virtiofsd /usr/libexec/virtiofsd | head -n 1)
    [ -n "$virtiofsd" ] || die "virtiofsd is missing" "scripts/deps.sh vm installs what this needs"
}

# The package that a name stands for, unpacked in build-vm. Sets release.
fetch_kernel() {
    local package
    package=$(apt-cache depends "${packages[$1]}" | awk '/Depends: linux-image-/ { print $2; exit }')
    [ -n "$package" ] || die "no package gives a kernel $1" "apt-get update, and try again"
    release=${package#linux-image-}
    [ -f "build-vm/$release/unpacked" ] && return
    echo "fetching $package"
    rm -rf "build-vm/$release"
    mkdir -p "build-vm/$release"
    (cd "build-vm/$release" && apt-get download -qq -o APT::Sandbox::User=root "$package" &&
        dpkg-deb -x ./*.deb . && rm ./*.deb && depmod -b . "$release") ||
        die "cannot fetch $package"
    touch "build-vm/$release/unpacked"
}

# The modules that it takes to see the root, each after those that it needs.
copy_modules() {
    local to=$1 module file name
    : >"$to/order"
    for module in "${modules[@]}"; do
        modprobe -d "build-vm/$release" -S "$release" --show-depends "$module" 2>/dev/null |
            awk '$1 == "insmod" { print $2 }'
    done | while read -r file; do
        name=$(basename "$file" .xz)
        grep -qxF "$name" "$to/order" && continue
        case $file in
            *.xz) xz -dc "$file" >"$to/$name" ;;
            *) cp "$file" "$to/$name" ;;
        esac
        echo "$name" >>"$to/order"
    done
}

make_initramfs() {
    local root=build-vm/$release/initramfs
    [ "$root.gz" -nt scripts/test-vm.sh ] && return
    rm -rf "$root"
    mkdir -p "$root"/{bin,proc,sys,dev,host,memory,root,modules}
    cp "$(command -v busybox)" "$root/bin/busybox"
    copy_modules "$root/modules"
    cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done </modules/order
mount -t virtiofs -o ro host /host && mount -t tmpfs -o size=90% memory /memory &&
    mkdir /memory/upper /memory/work &&
    mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root ||
    poweroff -f
for dir in proc sys dev; do mount -o move /$dir /root/$dir; done
guest=$(sed -n 's/.*bawn_guest=\([^ ]*\).*/\1/p' /root/proc/cmdline)
exec switch_root /root /bin/bash "$guest/guest.sh" --guest "$guest"
INIT
    chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$root.gz" ||
        die "cannot make the initramfs"
}

# What the guest needs, where any user can read it.
stage() {
    local program
    mkdir -p "$work/bin" "$work/tests"
    cp scripts/test-vm.sh "$work/guest.sh"
    chmod -R a+rX "$work"
    [ $# -eq 0 ] || { printf '%q ' "$@" >"$work/command"; return; }
    for program in "${programs[@]}"; do
        [ -x "$build/tests/$program" ] || die "$build/tests/$program is missing" "make test builds it"
        cp "$build/tests/$program" "$work/bin/"
    done
    [ -x "$build/bawn" ] || die "$build/bawn is missing" "make builds it"
    find "$build" -maxdepth 1 -type f -name 'bawn*' -perm -u+x -exec cp {} "$work/bin/" \;
    tests/net/client/build.sh "$build/tests/net" || die "cannot build the clients of tests/net"
    cp -r tests/net tests/deb tests/cli "$work/tests/"
    cp "$build/tests/net/static" "$work/bin/"
    if [ -x tests/escape/run ] && [ "$cases" != none ]; then
        cp -r data "$work/"
        cp -r tests/escape "$work/tests/"
        tests/escape/build.sh "$work/probes" || die "cannot build the programs of tests/escape"
    fi
    [ "$cases" = all ] || printf '%s' "$cases" >"$work/cases"
    chmod -R a+rX "$work"
}

share_root() {
    case $virtiofsd in
        */libexec/*) set -- --shared-dir / --cache always --xattr --sandbox chroot ;;
        *) set -- -o source=/ -o cache=always -o xattr -o sandbox=chroot ;;
    esac
    "$virtiofsd" --socket-path="$work/fs.sock" "$@" >"$work/fs.log" 2>&1 &
    share=$!
    for _ in $(seq 100); do
        [ -S "$work/fs.sock" ] && return
        sleep 0.05
    done
    die "virtiofsd does not start: $(tail -n 1 "$work/fs.log")"
}

# boot [ARGUMENT]...: boots the kernel in release, with these arguments besides. Shows what the guest says, and
# leaves its last line in status.
boot() {
    local memory=${BAWN_VM_MEMORY:-1024} line
    share_root
    rm -f "$work/status" "$work/disk"
    truncate -s 2G "$work/disk"
    mkfs.ext4 -q "$work/disk" || die "cannot make a disk"
    timeout -k 5 "${BAWN_VM_SECONDS:-1800}" qemu-system-x86_64 \
        -accel "${BAWN_VM_ACCEL:-tcg,thread=multi}" -M q35 -cpu "${BAWN_VM_CPU:-qemu64}" -smp 2 \
        -m "$memory" -nodefaults -no-user-config -display none -no-reboot \
        -object "memory-backend-memfd,id=memory,size=${memory}M,share=on" \
        -numa node,memdev=memory -chardev "socket,id=fs,path=$work/fs.sock" \
        -device vhost-user-fs-pci,chardev=fs,tag=host -device virtio-rng-pci \
        -drive "file=$work/disk,if=virtio,format=raw,cache=unsafe" \
        -device virtio-serial-pci -chardev stdio,id=out,signal=off -device virtconsole,chardev=out \
        -serial "file:$work/console.log" -kernel "build-vm/$release/boot/vmlinuz-$release" \
        -initrd "build-vm/$release/initramfs.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off cgroup_no_v1=all bawn_guest=$work \
lsm=landlock,lockdown,yama,apparmor,bpf bawn_modules=$PWD/build-vm/$release/lib/modules $*" \
        </dev/null 2>"$work/qemu.log" |
        while IFS= read -r line; do
            line=${line%$'\r'}
            case $line in
                "$mark: "*) echo "${line#"$mark: "}" >"$work/status" ;;
                *) echo "$line" ;;
            esac
        done
    kill "$share" 2>/dev/null
    wait "$share" 2>/dev/null
    share=
    [ -s "$work/status" ] || {
        tail -n 5 "$work/console.log" "$work/qemu.log" "$work/fs.log" >&2
        return 1
    }
}

# run_tests LABEL [ARGUMENT]...: one boot for the tests, counted.
run_tests() {
    local ok bad skips
    echo "==> Linux $release$1"
    if ! boot "${@:2}"; then
        echo "FAILED: Linux $release$1 did not come to its end"
        failed=$((failed + 1))
    else
        read -r ok bad skips <"$work/status"
        passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skips))
    fi
}

on_this_machine() {
    local kernels=() kernel
    while getopts k: option; do
        case $option in
            k) [ -n "${packages[$OPTARG]:-}" ] || die "no kernel $OPTARG: ${!packages[*]}"
               kernels+=("$OPTARG") ;;
            *) exit 2 ;;
        esac
    done
    shift $((OPTIND - 1))
    [ ${#kernels[@]} -gt 0 ] || kernels=(6.1 6.12)
    need_programs
    share=
    work=$(mktemp -d /tmp/bawn-vm.XXXXXX)
    trap '[ -z "$share" ] || kill "$share"; rm -rf "$work"' EXIT
    chmod 755 "$work"
    stage "$@"
    for kernel in "${kernels[@]}"; do
        fetch_kernel "$kernel"
        make_initramfs
        if [ $# -eq 0 ]; then
            run_tests ""
        elif boot; then
            [ "$(cat "$work/status")" -eq 0 ] || exit "$(cat "$work/status")"
        else
            die "Linux $release did not come to its end"
        fi
    done
    [ $# -gt 0 ] || run_tests ", without IPv6" ipv6.disable=1
    [ $# -eq 0 ] && echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ] || exit 1
    if [ "${BAWN_TEST_REQUIRE:-}" = all ] && [ $skipped -ne 0 ]; then
        echo "hint: BAWN_TEST_REQUIRE=all: a skip is a failure here" >&2
        exit 1
    fi
}

# --- in the guest, as its first process ---

argument() {
    sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

guest_mounts() {
    mkdir -p /dev/pts /dev/shm /dev/mqueue
    mount -t devpts -o ptmxmode=666,gid=5,mode=620 devpts /dev/pts
    mount -t tmpfs tmpfs /dev/shm
    mount -t mqueue mqueue /dev/mqueue
    mount -t tmpfs -o mode=755 tmpfs /run
    mount -t tmpfs -o mode=1777 tmpfs /var/tmp
    mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
    # What the tests make is on a disk; where they are themselves stays in sight.
    mkdir /run/guest
    mount --bind "$guest" /run/guest
    mount -t ext4 -o nodev /dev/vda /tmp
    chmod 1777 /tmp
    mkdir "$guest"
    mount --move /run/guest "$guest"
    mkdir -p /lib/modules
    mount --bind "$(argument bawn_modules)" /lib/modules
    ln -s /proc/self/fd /dev/fd
    ln -s /proc/self/fd/0 /dev/stdin
    ln -s /proc/self/fd/1 /dev/stdout
    ln -s /proc/self/fd/2 /dev/stderr
    chmod 666 /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx
    ip link set lo up
    hostname bawn-vm
}

# hand_out DIR: every controller there is, to the groups below.
hand_out() {
    local controller
    for controller in $(<"$1/cgroup.controllers"); do
        echo "+$controller" >"$1/cgroup.subtree_control"
    done
}

# As systemd leaves it: the root hands out all, and no process is in it.
guest_groups() {
    mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
    mkdir /sys/fs/cgroup/init
    echo 1 >/sys/fs/cgroup/init/cgroup.procs
    hand_out /sys/fs/cgroup
}

# delegate DIR: a group that the test user may use as it likes.
delegate() {
    mkdir -p "$1"
    chown "$test_user" "$1" "$1/cgroup.procs" "$1/cgroup.subtree_control" "$1/cgroup.threads"
}

# in_group GROUP COMMAND...: the command is in it from its start.
in_group() {
    (echo "$BASHPID" >"$1/cgroup.procs" && shift && exec "$@")
}

# add OK BAD SKIPS
add() {
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    echo "    $1 passed, $2 failed, $3 skipped"
}

# suite LABEL USER GROUP PROGRAM...: as in test.sh, what failed is shown.
suite() {
    local label=$1 user=$2 group=$3 tap program name status ok=0 bad=0 skips=0
    shift 3
    echo "==> $label"
    tap=$(mktemp -d /tmp/tap.XXXXXX)
    chown "$user" "$tap"
    for program in "$@"; do
        name=${program#test_}
        in_group "$group" runuser -u "$user" -- env -C "$tap" "BAWN_TEST_TAP=$tap" "HOME=$tap" \
            CK_TIMEOUT_MULTIPLIER=20 \
            ${runtime:+"XDG_RUNTIME_DIR=$runtime"} \
            timeout 900 "$guest/bin/$program" >"$tap/$name.out" 2>&1
        status=$?
        [ $status -eq 0 ] || cat "$tap/$name.out"
        # A program that failed without a case that says so is a failure of its own.
        if [ $status -ne 0 ] && ! grep -q '^not ok ' "$tap/$name.tap"; then
            echo "FAILED: $program ended with status $status"
            bad=$((bad + 1))
        fi
    done
    ok=$(cat "$tap"/*.tap | grep -c '^ok ')
    bad=$((bad + $(cat "$tap"/*.tap | grep -c '^not ok ')))
    [ -f "$tap/skips" ] && { cat "$tap/skips"; skips=$(wc -l <"$tap/skips"); }
    add $((ok - skips)) $bad "$skips"
}

# A manager of the test user's, as the system's would start it.
start_manager() {
    local uid slice
    uid=$(id -u "$test_user")
    slice=/sys/fs/cgroup/user.slice/user-$uid.slice
    runtime=/run/user/$uid
    mkdir -p "$slice"
    hand_out /sys/fs/cgroup/user.slice
    hand_out "$slice"
    delegate "$slice/user@$uid.service"
    # It starts only where this directory says that systemd runs the system.
    mkdir -p /run/systemd/system "$runtime"
    chown "$test_user" "$runtime"
    chmod 700 "$runtime"
    in_group "$slice/user@$uid.service" runuser -u "$test_user" -- \
        env XDG_RUNTIME_DIR="$runtime" /lib/systemd/systemd --user >/run/manager.log 2>&1 &
    for _ in $(seq 300); do
        [ -S "$runtime/systemd/private" ] && [ -d "$slice/user@$uid.service/app.slice" ] && break
        sleep 0.1
    done
    session=$slice/user@$uid.service/session
    delegate "$session"
}

# try NAME COMMAND...: one result; what a failed one said is shown.
try() {
    echo "==> $1"
    if "${@:2}" >/run/try.log 2>&1; then
        add 1 0 0
    else
        echo "FAILED: $1"
        tail -n 12 /run/try.log
        add 0 1 0
    fi
}

# filtered COMMAND...: in a sandbox of the test user's that reaches web.example alone, and is told of no proxy.
filtered() {
    install -d -o "$test_user" /tmp/filtered
    runuser -u "$test_user" -- env -i -C /tmp/filtered HOME=/tmp/filtered PATH="$PATH" timeout 300 \
        "$guest/bin/bawn" run -q --isolated --net proxy --set sandbox.network.proxy_env=false \
        --ro "$guest" --allow-host web.example -- "$@"
}

# An emulated guest may take longer to load them than an attempt has time; then the next one finds them.
modules_are_loaded() {
    ! grep -E '^(nft_tproxy|tcp_diag|udp_diag) ' /proc/modules && { filtered true || filtered true; } &&
        [ "$(grep -cE '^(nft_tproxy|tcp_diag|udp_diag) ' /proc/modules)" -eq 3 ]
}

# network USER: clients in the lab. KERNEL(6.3): before, ids can be mapped on the disk, and not in the lab's tmpfs.
network() {
    local names ok bad
    IFS='|' read -r -a names <<<"${clients[$1]}"
    echo "==> tests/net, as $1"
    install -d -o "$1" "/tmp/lab-$1"
    "$guest/tests/net/lab" --user "$1" -- env "LAB_WORK=/tmp/lab-$1" python3 "$guest/tests/net/clients.py" \
        --bawn "$guest/bin/bawn" --clients "$guest/bin" "${names[@]}" >/run/net.tap 2>&1
    grep -A8 '^not ok' /run/net.tap
    ok=$(grep '^ok ' /run/net.tap | grep -vc '# SKIP')
    bad=$(grep -c '^not ok ' /run/net.tap)
    if [ "$ok" -lt $((4 * ${#names[@]})) ] && [ "$bad" -eq 0 ]; then
        tail -n 5 /run/net.tap
        echo "FAILED: tests/net gave $ok results"
        bad=1
    fi
    add "$ok" "$bad" 0
}

# does_not_reach HOST: the client says so itself.
does_not_reach() {
    filtered "$guest/bin/static" "$1" 80 /
    [ $? -eq 1 ]
}

without_v6_is_filtered() {
    filtered "$guest/bin/static" web.example 80 / | grep hello && does_not_reach other.example &&
        does_not_reach 203.0.113.99 && does_not_reach 2001:db8::1
}

guest_without_v6() {
    echo "nameserver 127.0.0.1" >/run/resolv.conf
    mount --bind /run/resolv.conf "$(realpath /etc/resolv.conf)"
    ip addr add 203.0.113.10 dev lo
    exec 3< <(exec "$guest/tests/deb/servers")
    read -r -t 60 -u 3
    try "the network is filtered" without_v6_is_filtered
}

# rate KEY RATE WORDS...: by the rate, these words of dd take seconds longer than without.
rate() {
    local began without start=("$guest/bin/bawn" run -q -C /tmp/rates)
    began=$(date +%s%3N)
    "${start[@]}" -- dd status=none "${@:3}" || return
    without=$(($(date +%s%3N) - began))
    # Compiled before the time is taken.
    "${start[@]}" --set "sandbox.limits.$1=$2" -- true || return
    began=$(date +%s%3N)
    "${start[@]}" --set "sandbox.limits.$1=$2" -- dd status=none "${@:3}" || return
    echo "$1: $(($(date +%s%3N) - began)) ms with, $without ms without"
    [ $(($(date +%s%3N) - began)) -ge $((without + 2000)) ]
}

# On the guest's own disk, and in groups of cgroup v2: bytes, and what is read and written at once.
rates_are_held() {
    mkdir /tmp/rates && "$guest/bin/bawn" run -q -C /tmp/rates -- true &&
        rate io_write_bytes 2M if=/dev/zero of=big oflag=direct bs=1M count=8 &&
        rate io_read_bytes 2M if=big of=/dev/null iflag=direct bs=1M &&
        rate io_read_ops 4 if=big of=/dev/null iflag=direct bs=4k count=16 &&
        rate io_write_ops 4 if=/dev/zero of=big oflag=direct bs=4k count=16
}

# overlays USER: what their tests say, with homes on the guest's own disk, which can hold layers.
overlays() {
    local home part user
    local -a files
    for part in overlay overlay_all interactive layers_room; do
        files+=("$guest/tests/cli/$part.bats")
    done
    for user in root "$test_user"; do
        home=$(getent passwd "$user" | cut -d: -f6)
        [ ! -e "/tmp/home-$user" ] || continue
        mkdir "/tmp/home-$user" && chown "$user:" "/tmp/home-$user" && mount --bind "/tmp/home-$user" "$home" || return
    done
    home=$(getent passwd "$1" | cut -d: -f6)
    runuser -u "$1" -- env BAWN="$guest/bin/bawn" HOME="$home" PATH="$PATH" \
        bats "${files[@]}"
}

# battery USER: the last line has the counts.
battery() {
    local options=(--bawn "$guest/bin/bawn" --probes "$guest/probes" --seconds 600) last words
    [ -n "$1" ] && options+=(--user "$1")
    echo "==> tests/escape, as ${1:-root}"
    # shellcheck disable=SC2046 # several cases are several words
    "$guest/tests/escape/run" "${options[@]}" $(cat "$guest/cases" 2>/dev/null) >/run/escape.tap 2>&1
    grep -A8 '^not ok' /run/escape.tap
    last=$(tail -n 1 /run/escape.tap)
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        words=("${BASH_REMATCH[@]:1}")
        add "${words[@]}"
    else
        tail -n 5 /run/escape.tap
        echo "FAILED: tests/escape gave no results"
        add 0 1 0
    fi
}

# The other side has a descriptor open for every file that is known here.
forget_files() {
    while sleep 10; do
        echo 2 >/proc/sys/vm/drop_caches
    done
}

guest_tests() {
    local root=/sys/fs/cgroup/init own=/sys/fs/cgroup/delegated runtime=
    # Before somebody else needs these modules.
    try "the kernel loads the modules of a filtered network for $test_user" modules_are_loaded
    delegate "$own"
    hand_out "$own"
    delegate "$own/session"
    suite "as root" root "$root" test_cgroup test_usage test_probe
    suite "as $test_user, in a delegated group" "$test_user" "$own/session" \
        test_cgroup test_usage test_probe
    if [ -x /lib/systemd/systemd ]; then
        start_manager
        suite "as $test_user, with a systemd of its own" "$test_user" "$session" test_systemd
    else
        echo "test_systemd: there is no systemd here"
        skipped=$((skipped + 1))
    fi
    try "the rates of the disk are held" rates_are_held
    network root
    network "$test_user"
    try "overlays, as root" overlays root
    try "overlays, as $test_user" overlays "$test_user"
    if [ -x "$guest/tests/escape/run" ]; then
        battery ""
        battery "$test_user"
    fi
}

in_the_guest() {
    guest=$1
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb
    guest_mounts
    guest_groups
    stty -F /dev/hvc0 raw -echo
    if [ -f "$guest/command" ]; then
        bash -c "$(<"$guest/command")" </dev/null >/dev/hvc0 2>&1
        printf '\n%s: %d\n' "$mark" $? >/dev/hvc0
    else
        id "$test_user" >/dev/null 2>&1 || useradd -m "$test_user"
        forget_files &
        if [ -e /proc/sys/net/ipv6 ]; then guest_tests; else guest_without_v6; fi </dev/null >/dev/hvc0 2>&1
        echo "$mark: $passed $failed $skipped" >/dev/hvc0
    fi
    sync
    # The console is read by another thread of qemu.
    sleep 0.5
    echo o >/proc/sysrq-trigger
    sleep 10
}

if [ "${1:-}" = --guest ]; then
    in_the_guest "$2"
else
    cd "$(dirname "$0")/.." || exit 1
    on_this_machine "$@"
fi
