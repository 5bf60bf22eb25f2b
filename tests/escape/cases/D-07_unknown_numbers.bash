# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-07 numbers that no kernel has yet are ENOSYS
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# Where a filter can be watched from inside, it is seen that the kernel is never asked: it would say the
# same by itself.
sandbox --allow-containers -- "$BIN/d_abi" watched
if ((STATUS == 125)) || grep -q watching "$T/stdout"; then
    echo "# note: not watched: $(cat "$T/stderr" "$T/stdout" | head -n1)"
    [[ ${BAWN_TEST_WITHOUT:-} ]] && skip "the kernel answers ENOSYS itself"
else
    sandbox_ran
    answers <<END
ENOSYS unknown-480-1023
ENOSYS negative-2
ENOSYS negative-101
END
fi
sandbox -- "$BIN/d_abi" unknown
sandbox_ran
answers <<END
ENOSYS unknown-480-1023
ENOSYS negative-2
ENOSYS negative-101
END
