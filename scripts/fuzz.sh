#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [SECONDS [TARGET...]]: fuzzes every target, or those named, for SECONDS, two at a time, starting
# from its corpus. What crashes stays in build-fuzz/crashes; the corpus in the tree is not changed.
#
# Most of the time a build without sanitizers searches, with short inputs: it is ten times as fast. Then
# one with them runs all inputs that it kept, and goes on from there.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-60}
targets=("${@:2}")

# What fuzz_policy.c has is shared by the formats.
if [ ${#targets[@]} -eq 0 ]; then
    for file in tests/fuzz/fuzz_*.c; do
        name=$(basename "$file" .c)
        [ "$name" = fuzz_policy ] || targets+=("${name#fuzz_}")
    done
fi

# build DIR OPTION...: the targets alone. Other programs have nobody to count what they cover.
build() {
    local dir=$1
    shift
    [ -f "$dir/build.ninja" ] || CC=clang meson setup "$dir" -Dfuzz=true -Db_lundef=false "$@" >/dev/null &&
        ninja -C "$dir" --quiet "${targets[@]/#/tests/fuzz_}"
}

build build-fuzz-plain || exit 1
build build-fuzz -Db_sanitize=address,undefined || exit 1
mkdir -p build-fuzz/crashes

# search BUILD NAME SECONDS BYTES: prints how many inputs were tried; fails with a finding.
search() {
    local build=$1 name=$2 log="$1/fuzz_$2.log" found="build-fuzz/corpus/$2" dictionary=()
    mkdir -p "$found"
    [ -f "tests/fuzz/$name.dict" ] && dictionary=(-dict="tests/fuzz/$name.dict")
    "$build/tests/fuzz_$name" -max_total_time="$3" -max_len="$4" -timeout=20 \
        -entropic=0 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="build-fuzz/crashes/$name-" \
        "${dictionary[@]}" "$found" "tests/fuzz/corpus/$name" >"$log" 2>&1 ||
        { echo "$name: FAILED, see $log"; return 1; }
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $3 s," \
        "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log") a second, in $build, without a finding"
}

fuzz() {
    search build-fuzz-plain "$1" $((seconds * 3 / 4 + 1)) 1024 &&
        search build-fuzz "$1" $((seconds / 4 + 1)) 4096
}

export -f fuzz search
export seconds
# Where memory was taken is told when a finding is run again.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=8
printf '%s\n' "${targets[@]}" | xargs -P2 -I{} bash -c 'fuzz {}'
