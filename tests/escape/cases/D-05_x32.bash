# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-05 x32 numbers end by SIGSYS, allowed or not
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# A kernel without x32 answers ENOSYS: the filter comes first.
sandbox -- "$BIN/d_abi" x32
sandbox_ran
for number in 0 39 56 101 165 272 321 512 545; do
    answers <<<"SIGSYS x32-$number"
done
