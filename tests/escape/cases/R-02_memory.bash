# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-02 memory is bounded, whatever it is taken as
# layers: cgroup
# seconds: 120
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# The other side: a little of each.
for way in anon shared memfd tmpfs shm pipes sockets children links; do
    sandbox --set sandbox.limits.memory=96MiB -- "$BIN/r_memory" "$way" 8
    sandbox_ran
    is 8 "$(awk '/taken/ { print $3 }' "$T/stdout")" "MiB taken as $way"
done

# What a limit may answer: killed, or refused by a smaller limit on the way.
declare -A wanted=([anon]=137 [shared]=137 [memfd]=137 [children]="137|killed"
    [tmpfs]="137|ENOSPC" [shm]="137|ENOSPC" [pipes]="137|EMFILE|ENFILE|EPERM" [sockets]="137|EMFILE|ENFILE"
    [links]="137|ENOSPC" [attributes]="137|ENOSPC|EOPNOTSUPP")
ways=(anon shared children tmpfs shm)
# Without a control group memory is measured from outside, which sees none of these: the README says so.
"$BAWN" plan | grep -q '^  memory  .*\[cgroup\]' && ways+=(memfd pipes sockets links attributes)
for way in "${ways[@]}"; do
    sandbox --set sandbox.limits.memory=96MiB -- "$BIN/r_memory" "$way" 300
    got=$STATUS
    # A limit on the way: it ended by itself, with a refusal.
    ((STATUS == 0)) && got=$(awk '{ print $1 }' "$T/stdout")
    verdict "${wanted[$way]}" "$got" "$way $(cat "$T/stdout")"
    taken=$(awk '/taken/ { print $3 }' "$T/stdout")
    ((${taken:-0} <= 96)) || escaped "$taken MiB taken as $way where 96 is the limit"
    if [[ $got == 137 ]] && ! grep -q 'limits.memory' "$T/stderr"; then
        broken "nothing says that the memory limit was reached ($way): $(head -n2 "$T/stderr")"
    fi
done
