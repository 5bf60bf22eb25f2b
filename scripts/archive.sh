#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# archive.sh CORE OUTPUT COMPILER...: all objects of an archive as one, which shows nothing but what
# is exported.
set -euo pipefail

core=$1 output=$2
shift 2
object=$output.o

"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$core"
objcopy --localize-hidden "$object"
rm -f "$output"
ar rcs "$output" "$object"
rm -f "$object"
