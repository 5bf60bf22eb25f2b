# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-20 memory is bounded when the process that has it forks and ends all the time
# layers: cgroup
# seconds: 60
source "$ESCAPE/lib.bash"

limit=(--set sandbox.limits.memory=64MiB)
sandbox "${limit[@]}" -- "$BIN/r_hop" 8 10 2
sandbox_ran
is "kept 8" "$(cat "$T/stdout")" "a little of it"
# A look that comes at the right moment sees it in any case: so more than once.
for threads in 0 900 900 900 900 900; do
    sandbox "${limit[@]}" -- "$BIN/r_hop" 300 "$threads" 4
    equal '' "$(cat "$T/stdout")" "what is left in the end with $threads threads"
done
