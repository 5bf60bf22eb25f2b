# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-08 a file that may be read cannot be leased to make the host wait
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# Somebody's, and one of the caller's home, which is the command's own: its owner may lease it.
plant "$OUT/shared"
plant "$HOME/own/shared"
for file in "$OUT/shared" "$HOME/own/shared"; do
    sandbox --ro "$(dirname "$file")" -- "$BIN/e_lease" "$file"
    sandbox_ran
    answers <<END
ok open
EACCES lease-read
EACCES lease-write
EBADF lock-write
EBADF lock-write-ofd
any flock-exclusive
END
done
# The witness: the host opens it for writing at once while the sandbox holds what it got.
# shellcheck disable=SC2016
sandbox --ro "$OUT" -- sh -c 'echo >started; exec 9<"$0"; sleep 2' "$OUT/shared" &
outer=$!
wait_for 10 test -e started
is 0 "$(timeout 1 sh -c ': >>"$0"' "$OUT/shared"; echo $?)" "the host writes meanwhile"
wait "$outer" || true
