#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [--quick]: format, shell scripts, layers, and unless --quick static analysis. Of the battery's
# cases --quick looks only at those that the last commit does not have as they are. Says nothing when all
# is well.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
status=0

fail() {
    echo "lint: $1"
    status=1
}

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h')
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' '.ci/run' tests/deb/{apparmor,run} debian/bawn.p{ostinst,ostrm,rerm})
mapfile -t bats < <(git ls-files -co --exclude-standard '*.bats' 'tests/cli/*.bash')
if [ "${1:-}" = --quick ]; then
    mapfile -t cases < <(
        git diff --name-only --diff-filter=d HEAD -- 'tests/escape/*.bash'
        git ls-files -o --exclude-standard 'tests/escape/*.bash'
    )
else
    mapfile -t cases < <(git ls-files -co --exclude-standard 'tests/escape/*.bash')
fi

clang-format --dry-run -Werror "${sources[@]}" || fail "clang-format"
shellcheck "${scripts[@]}" || fail "shellcheck"
shellcheck -s bats "${bats[@]}" || fail "shellcheck of the bats files"
# Each reads the library anew.
[ ${#cases[@]} -eq 0 ] || printf '%s\0' "${cases[@]}" |
    xargs -0 -P2 -n8 shellcheck -x -P tests/escape || fail "shellcheck of the battery"
python3 scripts/layers.py || fail "layers"

# A file that no list names is not built, not embedded, not installed, not run: say so.
for file in src/*/*.c include/bawn/*.h data/*.yaml data/*/*.yaml; do
    grep -qF "'$file'" meson.build || fail "$file is not in meson.build"
done
for file in tests/unit/test_*.c; do
    name=${file##*/test_}
    grep -qF "'${name%.c}'" tests/meson.build || fail "$file is not in tests/meson.build"
done
# The package has the profile that doctor tells people to write.
while IFS= read -r line; do
    grep -qF "\"${line:+    }$line\\n\"" src/plan/doctor.c || fail "doctor's AppArmor profile lacks: $line"
done < <(grep -v '^#' debian/apparmor/bawn)

[ "${1:-}" = --quick ] && exit $status

# Leaks belong to LeakSanitizer: cppcheck misreads __attribute__((cleanup)).
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=memleak --suppress=resourceLeak --suppress=missingInclude \
    --suppress=unknownMacro --suppress=nullPointerOutOfMemory \
    -D_GNU_SOURCE -D__x86_64__ -DBAWN_VERSION='""' -DBAWN_BINDIR='""' -DBAWN_LIBEXECDIR='""' -Iinclude -Isrc --error-exitcode=1 -j2 src ||
    fail "cppcheck"

# clang-tidy must read the clang build: gcc's own flags are errors to it.
[ -f build-clang/build.ninja ] || CC=clang meson setup build-clang >/dev/null || exit 1
ninja -C build-clang --quiet builtin_files.c steer_rules.h veth_rules.h || exit 1
log=$(mktemp)
git ls-files -co --exclude-standard 'src/*.c' | xargs -P2 -n4 clang-tidy --quiet -p build-clang \
    >"$log" 2>/dev/null || { grep -E 'warning:|error:' "$log" | sort -u; fail "clang-tidy"; }
rm -f "$log"
exit $status
