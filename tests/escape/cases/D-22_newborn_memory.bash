# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-22 who may debug does not get pid 1's memory by way of a command that is just being started
# layers: lending
# not: nested, where no session can be found
# only: root
# seconds: 60
source "$ESCAPE/lib.bash"

# As root to the host's files the launcher could open it.
SANDBOX_SECONDS=40
(sandbox --debug --as-root -- "$BIN/d_newborn" 15 500; exit "$STATUS") &
running=$!
at_end "kill $running"
wait_for 10 test -e "$WS/ready" || broken "the sandbox did not start"
session=$("$BAWN" ps | awk '/d_newborn/ { print $1 }')
while kill -0 "$running" 2>/dev/null; do
    "$BAWN" exec "$session" -- /bin/true 2>/dev/null
done
wait "$running"
STATUS=$?
sandbox_ran
read -r born own opened <"$T/stdout"
((${born:-0} >= 100)) || broken "only ${born:-0} processes were seen"
is ok "$own" "the memory of a process of one's own"
equal 0 "$opened" "times that pid 1's memory was opened, of $born processes"
