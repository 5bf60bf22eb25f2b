# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-01 every task inside, pid 1 too, has no capability, no_new_privs and a filter
# layers: caps seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_tasks"
sandbox_ran
answers <<END
0/1/2 pid1
0/1/2 task
END

# The same, seen from outside: /proc inside could leave one out.
sandbox -- sh -c 'echo >started; until [ -e seen ]; do sleep 0.1; done' &
outer=$!
wait_for 10 test -e started || broken "the sandbox did not start"
depth=$(awk '/^NSpid:/ { print NF }' /proc/self/status)
# Of two sandboxes the inner one counts: the other lets containers run inside.
[[ -z ${BAWN_TEST_NESTED:-} ]] || depth=$((depth + 1))
seen=0
for pid in $(descendants "$outer"); do
    for status in /proc/"$pid"/task/*/status; do
        words=$(awk -v depth="$depth" '
            /^NSpid:/ { inside = NF > depth }
            /^Cap...:/ { if ($2 !~ /^0+$/) caps = $1 }
            /^(NoNewPrivs|Seccomp):/ { rest = rest "/" $2 }
            END { if (inside) print (caps ? caps : "0") rest }' "$status" 2>/dev/null)
        [[ $words ]] || continue
        seen=$((seen + 1))
        equal 0/1/2 "$words" "a task inside, seen from outside"
    done
done
echo >seen
((seen >= 2)) || escaped "only $seen tasks are in a pid namespace of their own"
wait "$outer" || true
