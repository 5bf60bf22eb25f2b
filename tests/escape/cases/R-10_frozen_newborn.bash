# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-10 who stops a command that is just being born stops neither pid 1 nor the clock
# layers: launch
# no mutant: it is about whom the launcher waits for, no layer around the command
# not: nested, where no session can be found
# seconds: 90
source "$ESCAPE/lib.bash"

[[ ${BAWN_TEST_WITHOUT:-} ]] && skip "a control: there is no session"
limit=20
SANDBOX_SECONDS=70
began=$SECONDS
(sandbox --set sandbox.limits.time=${limit}s -- "$BIN/r_freeze" caught; exit "$STATUS") &
running=$!
at_end "kill $running"
find_session() { session=$("$BAWN" ps | awk '/r_freeze caught/ { print $1 }') && [[ $session ]]; }
wait_for 10 find_session || broken "the sandbox did not start"
# Until one is met before its exec: it stays where it is, and so does who waits for it.
while [[ ! -e caught ]] && ((SECONDS - began < limit - 8)); do
    timeout -k 1 2 "$BAWN" exec "$session" -- /bin/true 2>/dev/null
done
[[ -e caught ]] || broken "nobody was met before the exec"
# The others are started as before: pid 1 does not wait.
got=$(timeout -k 1 5 "$BAWN" exec "$session" -- /bin/echo works 2>/dev/null)
equal works "$got" "a command after one that was stopped before its exec"
wait "$running"
equal 124 "$?" "the status of a run whose time is up"
((SECONDS - began < limit + 6)) || escaped "it ran $((SECONDS - began)) s where $limit is the limit"
