#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh DIR: every probe/*.c becomes a static program of the same name in DIR.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
out=${1:?names the directory to build in}
cc=${CC:-gcc}
mkdir -p "$out"

# The kernel's names and numbers of this machine's system calls, for try.c.
names=$out/syscalls.h
printf '#include <sys/syscall.h>\n' | $cc -E -dM - |
    sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/{"\1", \2},/p' | sort >"$names.new"
cmp -s "$names.new" "$names" || mv "$names.new" "$names"
rm -f "$names.new"

for source in "$here"/probe/*.c; do
    program=$out/$(basename "$source" .c)
    if [[ $program -nt $source && $program -nt $here/probe/verdict.h && $program -nt $names ]]; then
        continue
    fi
    $cc -std=gnu17 -D_GNU_SOURCE -O1 -Wall -Wextra -Wshadow -Werror -static -pthread -I "$out" \
        -I "$here/probe" -o "$program.new" "$source"
    mv "$program.new" "$program"
done
