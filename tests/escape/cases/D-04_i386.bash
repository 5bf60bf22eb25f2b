# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-04 the 32-bit gate and 32-bit programs end by SIGSYS
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

"$BIN/d_abi" exec >"$T/host" 2>&1
sandbox -- "$BIN/d_abi" gate
sandbox_ran
# getpid open mount ptrace clone socketcall keyctl, in i386 numbers
for number in 20 5 21 26 120 102 288; do
    answers <<<"SIGSYS int80-$number"
done

if grep -q 'exit-42' "$T/host"; then
    sandbox -- "$BIN/d_abi" exec
    sandbox_ran
    answers <<END
SIGSYS exec32-file
SIGSYS exec32-memfd
END
else
    echo "# note: this kernel runs no 32-bit programs"
fi
