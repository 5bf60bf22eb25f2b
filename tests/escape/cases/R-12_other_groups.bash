# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-12 a command that joins another process group, or whose first thread ends, is limited as before
# layers: launch
# no mutant: either of the groups and the launcher's own look at memory holds; the clock is the launcher's
# seconds: 90
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox --set sandbox.limits.time=20s -- "$BIN/r_group" leave /bin/true
is 0 "$STATUS" "the status of a command that ends in time"

export SANDBOX_SECONDS=12
SECONDS=0
sandbox --set sandbox.limits.time=1s -- "$BIN/r_group" leave "$BIN/r_orphans" spin
equal 124 "$STATUS" "the status of one that left its group"
((SECONDS < 7)) || escaped "it took $SECONDS s where 1 is the limit"

sandbox --set sandbox.limits.memory=96MiB -- "$BIN/r_group" leave "$BIN/r_memory" anon 300
equal 137 "$STATUS" "the status of one that left its group and takes 300 of 96 MiB"
taken=$(awk '/taken/ { print $3 }' "$T/stdout")
((${taken:-0} <= 96)) || escaped "$taken MiB taken where 96 is the limit"

sandbox --set sandbox.limits.memory=96MiB --set sandbox.limits.time=9s -- "$BIN/r_group" first 300 beat
equal 137 "$STATUS" "the status of one whose first thread has ended, and that takes 300 of 96 MiB"
silent beat "it outlived its sandbox"
rm -f beat
sandbox --set sandbox.limits.memory=96MiB --set sandbox.limits.time=2s -- "$BIN/r_group" first 8 beat
is 124 "$STATUS" "the status of one that takes 8 of 96 MiB until its time is up"
is yes "$(test -s beat && echo yes)" "it ran"
