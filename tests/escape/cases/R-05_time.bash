# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-05 a program that never ends is ended: SIGTERM, then SIGKILL, exit 124
# layers: launch
# no mutant: the clock is the launcher's own, no layer around the command
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox --set sandbox.limits.time=20s -- sh -c 'exit 3'
is 3 "$STATUS" "the status of a command that ends in time"

export SANDBOX_SECONDS=8
SECONDS=0
sandbox --set sandbox.limits.time=1s -- "$BIN/r_orphans" spin
equal 124 "$STATUS" "the status of a program that is deaf to SIGTERM"
((SECONDS < 7)) || escaped "it took $SECONDS s where 1 is the limit"

# With daemons beside it.
sandbox --set sandbox.limits.time=1s -- sh -c '"$0" tree beat; exec "$0" spin' "$BIN/r_orphans"
equal 124 "$STATUS" "the status with daemons beside"
silent beat "a daemon outlived its sandbox"

# One that hears SIGTERM may clean up.
sandbox --set sandbox.limits.time=1s -- sh -c 'trap "echo >cleaned; exit 0" TERM; while :; do sleep 0.1; done'
equal 124 "$STATUS" "the status of a program that ends on SIGTERM"
is yes "$(test -e cleaned && echo yes)" "a program is told before it is killed"

# And one that makes the launcher wait for the lock of a file.
export SANDBOX_SECONDS=25
SECONDS=0
sandbox --set sandbox.limits.time=1s -- "$BIN/r_queue" /tmp/file 900
equal 124 "$STATUS" "the status of a program that holds up the launcher"
((SECONDS < 8)) || escaped "it took $SECONDS s where 1 is the limit, for it held up the launcher"
