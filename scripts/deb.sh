#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh DIR: Debian packages of this tree in DIR, which is made anew, and what lintian says of them.
# deb.sh DIR VERSION: what was built there last, as packages of another version, in DIR/VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1 version=${2:-}
log=$dir/build.log

package=$(dpkg-parsechangelog -S Version)
grep -qxF "  version: '$package'," meson.build || {
    echo "bawn: debian/changelog has version $package, which is not the one in meson.build" >&2
    exit 1
}

if [ -z "$version" ]; then
    rm -rf "$dir"
    mkdir -p "$dir/bawn"
    tar -c --exclude=./.git --exclude='./build*' --exclude=__pycache__ --mode=u+w,go-w,a+rX . | tar -x -C "$dir/bawn"
    how=(--build=full)
else
    sed -i "1s/(.*)/($version)/" "$dir/bawn/debian/changelog"
    how=(--build=binary --no-pre-clean)
    export DEB_BUILD_OPTIONS=noautodbgsym
fi
(cd "$dir/bawn" && dpkg-buildpackage --unsigned-source --unsigned-changes "${how[@]}") >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    exit 1
}
if [ -z "$version" ]; then
    # It leaves files where it works.
    mkdir "$dir/lintian"
    TMPDIR=$(realpath "$dir/lintian") lintian --allow-root --fail-on error,warning "$dir"/*.changes
    rm -rf "$dir/lintian"
    ls "$dir"/*.deb
else
    mkdir -p "$dir/$version"
    mv "$dir"/*_"$version"_* "$dir/$version"
fi
