# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-06 io_uring is absent, also for a ring that the launcher holds
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

plant "$OUT/secret"
attempts <<END
ENOSYS sys io_uring_setup 4 0
ENOSYS sys io_uring_enter 0 1 1 0 0 0
ENOSYS sys io_uring_register 0 0 0 0
END
lines=("io_uring_enter 20 1 1 0 0 0" "io_uring_enter 1041 1 1 0 0 0" "io_uring_register 20 0 0 0")
timeout 20 "$BIN/e_hold" "$OUT" "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/try" \
    < <(printf 'sys %s\n' "${lines[@]}") >"$T/stdout" 2>"$T/stderr"
STATUS=$?
if [[ ! ${BAWN_TEST_NESTED:-} || $STATUS -ne 125 ]]; then
    sandbox_ran
    for line in "${lines[@]}"; do
        answers <<<"ENOSYS sys $line"
    done
fi
