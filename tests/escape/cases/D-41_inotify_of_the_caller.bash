# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-41 a sandbox cannot use up the inotify instances of its caller
# layers: cgroup
# not: nested, the outer one has taken its half
source "$ESCAPE/lib.bash"

most=$(</proc/sys/user/max_inotify_instances)
((most <= 100000)) || skip "more than anybody takes: $most"

# Of all that it can get it keeps what it has, while the host looks what is left.
sandbox --set sandbox.limits.open_files=200000 -- "$BIN/d_inotify" go "$most" &
job=$!
wait_for 10 grep -q instances "$T/stdout" || broken "it did not start: $(head -n1 "$T/stderr")"
got=$(awk '/instances/ { print $1 }' "$T/stdout")
left=$("$BIN/d_inotify" / "$most" | awk '{ print $1 }')
touch "$WS/go"
wait "$job"
((got <= (most + 1) / 2)) || escaped "it took $got of $most"
((left > 0)) || escaped "nothing is left of $most for the host"
# The half is there, but for what the caller's other programs have by now.
free=$("$BIN/d_inotify" / "$most" | awk '{ print $1 }')
want=$(((most + 1) / 2))
((free < want)) && want=$free
is "$want" "$got" "what a sandbox may have"
