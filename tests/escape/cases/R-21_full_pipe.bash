# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-21 a command that fills a pipe that nobody reads does not hold up its end
# layers: launch
# no mutant: it is about what the launcher waits for, no layer around the command
# seconds: 60
source "$ESCAPE/lib.bash"

# The other side: where there is room, it is said.
sandbox --timeout 1 --stats -- sleep 10
is 124 "$STATUS" "the status with room to say why"
is 2 "$(grep -cE 'time limit|of CPU' "$T/stderr")" "lines that say why and what was used"

mkfifo "$T/full"
exec 8<>"$T/full"
SECONDS=0
timeout -k 1 20 "$BAWN" run -C "$WS" --timeout 1 --stats -- sh -c 'yes >&2' 2>&8
equal 124 $? "the status with a full pipe"
((SECONDS < 10)) || escaped "it took $SECONDS s where 1 is the limit"
