# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-14 pid 1 cannot be looked into, stopped or ended from inside
# layers: launch pidns
# seconds: 40
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_trace" pid1
sandbox_ran
for way in seize attach readv writev kcmp getfd; do
    answers <<<"EPERM pid1-$way"
done
for name in mem environ maps fd root cwd auxv map_files ns stack exe syscall pagemap io fdinfo; do
    answers <<<"EACCES|EPERM pid1-read-$name"
done
for name in mem oom_score_adj clear_refs coredump_filter; do
    answers <<<"EACCES pid1-write-$name"
done

sandbox -- "$BIN/d_trace" signals
answers <<<"alive pid1"
equal 5 "$STATUS" "the status after every signal was sent to pid 1"

# Taking its limits away may end it: then all ends, soon, and nobody is left.
SECONDS=0
sandbox -- sh -c '"$0" tree beat; exec "$1" squeeze' "$BIN/r_orphans" "$BIN/d_trace"
[[ $STATUS == 5 || $STATUS == 137 ]] || escaped "squeezed: wanted 5 or 137, got $STATUS"
((SECONDS < 15)) || escaped "a squeezed pid 1 kept the launcher for $SECONDS s"
silent beat "a daemon outlived its sandbox"
