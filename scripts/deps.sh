#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing for the groups named: build, test, work, npm, lint, deb, roots,
# fuzz, bench, vm.
set -euo pipefail

declare -A groups=(
    [build]="binutils gcc libc6-dev make meson ninja-build pkg-config python3 libyaml-dev libjansson-dev libmd-dev libseccomp-dev libgit2-dev libc-ares-dev libmnl-dev libnftnl-dev musl-tools linux-libc-dev"
    [lint]="clang clang-format clang-tidy cppcheck shellcheck"
    [test]="check libsubunit-dev bats python3 podman uidmap busybox-static groff man-db bash-completion zsh fish clang clang-format clang-tidy cppcheck shellcheck libclang-rt-dev dbus-daemon python3-dbus python3-gi gdb strace git procps btrfs-progs dash less tmux vim curl dropbear-bin iproute2 nodejs openssh-client openssl perl wget iptables nftables slirp4netns passt"
    [work]="cargo curl default-jdk-headless dpkg-dev golang-go nodejs python3-pip python3-venv sqlite3"
    [npm]="npm" # other packages of nodejs bring it along
    [deb]="debhelper dpkg-dev lintian"
    [roots]="mmdebstrap"
    [vm]="e2fsprogs qemu-system-x86 busybox-static kmod cpio xz-utils iproute2 systemd"
    [fuzz]="clang libclang-rt-dev"
    [bench]="bubblewrap crun firejail gcc git make openssl iproute2 python3 socat strace util-linux"
)

missing=()
for group in "$@"; do
    for package in ${groups[$group]}; do
        dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' ||
            missing+=("$package")
    done
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "bawn: missing packages: ${missing[*]}" >&2
        echo "hint: as root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
