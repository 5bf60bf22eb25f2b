#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test-deb.sh DIR: tries the packages that deb.sh has made in DIR, in a copy of this machine's root.
# test-deb.sh DIR SUITE...: also in roots of other suites, which are fetched once and kept in build-roots; the
# AppArmor profile with the last one's parser, in a virtual machine; and builds the packages again,
# elsewhere, and compares them. Results in TAP. As root.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
dir=$1
shift
status=0
# What the packages depend on, and what the tests of them use.
packages=apparmor,bash-completion,binutils,fish,gcc,libc-ares-dev,libc6-dev,libgit2-dev,libjansson-dev,libmd-dev
packages+=,libseccomp-dev,libyaml-dev,man-db,pkg-config,zsh

newer=$(dpkg-parsechangelog -S Version)+1
[ -d "$dir/$newer" ] || scripts/deb.sh "$dir" "$newer" || exit 1
tests/deb/run "$dir" "$dir/$newer" || status=1

for suite in "$@"; do
    root=build-roots/$suite
    if [ ! -d "$root" ] || [ "$(cat "$root.packages" 2>/dev/null)" != "$packages" ]; then
        rm -rf "$root" "$root.new"
        mkdir -p build-roots
        mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$root.new" >&2 || exit 1
        mv "$root.new" "$root"
        echo "$packages" >"$root.packages"
    fi
    echo "# $suite"
    tests/deb/run "$dir" "$dir/$newer" "$root" || status=1
done

[ $# -gt 0 ] || exit $status
echo "# in a virtual machine"
scripts/test-vm.sh -k 6.12 -- "$(realpath tests/deb/apparmor)" "$(realpath "$dir")" "$(realpath "$root")" ||
    status=1
again=$(mktemp -d /tmp/bawn-again.XXXXXX)
trap 'rm -rf "$again"' EXIT
(umask 077 && TZ=Pacific/Chatham scripts/deb.sh "$again/deb") >&2 || exit 1
if diff <(cd "$dir" && sha256sum ./*.deb) <(cd "$again/deb" && sha256sum ./*.deb); then
    echo "ok - built again, the packages are the same"
else
    echo "not ok - built again, the packages are the same"
    status=1
fi
exit $status
