#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every target for SECONDS, two at a time, starting from its corpus. What crashes stays in
# build-fuzz/crashes; the corpus in the tree is not changed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-60}

[ -f build-fuzz/build.ninja ] ||
    CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
        >/dev/null || exit 1
ninja -C build-fuzz --quiet || exit 1
mkdir -p build-fuzz/crashes

# fuzz NAME: prints one line on how it went.
fuzz() {
    local name=$1 log="build-fuzz/fuzz_$1.log" found="build-fuzz/corpus/$1" dictionary=()
    mkdir -p "$found"
    [ -f "tests/fuzz/$name.dict" ] && dictionary=(-dict="tests/fuzz/$name.dict")
    if "build-fuzz/tests/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=20 \
        -entropic=0 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="build-fuzz/crashes/$name-" \
        "${dictionary[@]}" "$found" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
        echo "$name: $(grep -o 'number_of_executed_units: [0-9]*' "$log") without a finding"
    else
        echo "$name: FAILED, see $log"
        return 1
    fi
}

targets=()
for target in build-fuzz/tests/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] && targets+=("$(basename "$target" | sed s/^fuzz_//)")
done
export -f fuzz
export seconds
# Where memory was taken is told when a finding is run again.
export ASAN_OPTIONS=malloc_context_size=0:quarantine_size_mb=8
printf '%s\n' "${targets[@]}" | xargs -P2 -I{} bash -c 'fuzz {}'
