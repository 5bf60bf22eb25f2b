# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-22 containers inside have control groups of their own, below the limits of the sandbox
# layers: launch
# no mutant: without limits there is no group that could be handed in
# seconds: 120
# not: nested, the outer sandbox has no ids to give to containers further in
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

groups_left() {
    find /sys/fs/cgroup -type d -name 'bawn-*' 2>/dev/null | wc -l
}
contain=(--allow-containers --set sandbox.limits.pids=60)
before=$(groups_left)

if [[ $("$BAWN" detect --json) != *'"cgroup": "v2'* ]]; then
    # Nothing is handed in, and nothing can be changed.
    sandbox "${contain[@]}" -- sh -c 'find /sys/fs/cgroup -maxdepth 1 -writable 2>/dev/null
        find /sys -name "cgroup.*" -writable 2>/dev/null; echo end'
    sandbox_ran
    equal end "$(cat "$T/stdout")" "groups that can be changed"
    exit 0
fi

# shellcheck disable=SC2016 # the words are the shell's inside
sandbox "${contain[@]}" -- sh -c '
    cd /sys/fs/cgroup && mkdir few low && echo 12 >few/pids.max && echo 16777216 >low/memory.max || exit 9
    sh -c "echo \$\$ >few/cgroup.procs && exec \"$0/r_fork\" fork 300"
    sh -c "echo \$\$ >low/cgroup.procs && head -c 100000000 /dev/zero | tail -c 100000000 | wc -c"
    echo "killed $(sed -n "s/^oom_kill //p" low/memory.events)"' "$BIN"
sandbox_ran
made=$(awk '$2 == "made" { print $1 }' "$T/stdout")
((${made:-99} <= 12)) || broken "$made processes where the inner limit is 12"
equal "killed 1" "$(grep '^killed' "$T/stdout" | sed 's/[1-9][0-9]*/1/')" "the inner memory limit"

# The limits of the sandbox are above all of it: nowhere to be seen, and in force.
# shellcheck disable=SC2016
sandbox "${contain[@]}" -- sh -c '
    find /sys/fs/cgroup -name pids.max | while read -r file; do
        echo max >"$file" || echo 100000 >"$file"
    done 2>/dev/null
    for dir in / /.. /../.. /../../..; do
        echo $$ >"/sys/fs/cgroup$dir/cgroup.procs" && echo out "$(cat /proc/self/cgroup)"
    done 2>/dev/null
    mkdir /sys/fs/cgroup/high && echo $$ >/sys/fs/cgroup/high/cgroup.procs
    grep -l . /sys/fs/cgroup/*/pids.max >/dev/null && exec "$0/r_fork" fork 300' "$BIN"
sandbox_ran
answers <<<"EAGAIN refusal"
made=$(awk '$2 == "made" { print $1 }' "$T/stdout")
((${made:-999} <= 60)) || escaped "$made made where 60 is the limit of the sandbox"
((${made:-0} >= 30)) || broken "only ${made:-0} made where 60 is the limit"
equal "" "$(grep '^out' "$T/stdout" | grep -v '^out 0::/$')" "a process outside its group"

# What was made inside goes with the sandbox; killed, too.
# shellcheck disable=SC2016
"$BAWN" run -C "$WS" "${contain[@]}" -- sh -c 'mkdir -p /sys/fs/cgroup/a/b/c && sleep 100 & echo $! >/sys/fs/cgroup/a/b/c/cgroup.procs
    echo ready; wait' >"$T/stdout" 2>"$T/stderr" &
outer=$!
for _ in {1..200}; do grep -q ready "$T/stdout" && break; sleep 0.1; done
((CHECKED++))
((before < $(groups_left))) || broken "no group was made"
kill -9 "$outer"
wait "$outer" 2>/dev/null
for _ in {1..100}; do (($(groups_left) == before)) && break; sleep 0.1; done
equal "$before" "$(groups_left)" "groups that are left"
