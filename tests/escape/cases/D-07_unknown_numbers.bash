# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-07 numbers that no kernel has yet are ENOSYS
# layers: launch
# no mutant: the kernel answers the same by itself for numbers that it has not: what the filter says of them is read by simulation, in tests/sim
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# The kernel says so itself: the filter's own verdict is read by simulation, in tests/sim.
[[ ${BAWN_TEST_WITHOUT:-} ]] && skip "the kernel answers ENOSYS itself"
sandbox -- "$BIN/d_abi" unknown
sandbox_ran
answers <<END
ENOSYS unknown-480-1023
ENOSYS negative-2
ENOSYS negative-101
END
