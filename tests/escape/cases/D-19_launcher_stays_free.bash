# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-19 the launcher, and who started it, are as free as before
# layers: launch
# no mutant: a control: nothing is to be contained
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

[[ ${BAWN_TEST_WITHOUT:-} ]] && skip "a control: nothing is contained"
state() { grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$1/status"; }
before=$(state $$)
sandbox -- sh -c 'echo >started; sleep 1' &
outer=$!
wait_for 10 test -e started || broken "the sandbox did not start"
if [[ ! ${BAWN_TEST_NESTED:-} ]]; then
    seen=
    for pid in $(descendants "$outer"); do
        [[ $(cat "/proc/$pid/comm" 2>/dev/null) == bawn* ]] || continue
        is "$before" "$(state "$pid")" "the state of the running launcher"
        seen=$pid
        break
    done
    [[ $seen ]] || broken "no launcher was seen"
fi
wait "$outer" || true
is "$before" "$(state $$)" "the state of who started it"
is 0 "$(touch "$OUT/free" && echo $?)" "writing outside afterwards"
is 0 "$(unshare --user true && echo $?)" "a user namespace afterwards"
