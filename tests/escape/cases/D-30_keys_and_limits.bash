# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-30 with containers allowed the caller's keys are out of reach; pid 1 keeps its limits
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# A key in the caller's own keyring, by the numbers of both.
read -r key ring < <("$BIN/d_keys" add)
[[ $key ]] || skip "no keys: the kernel has none"
at_end "$BIN/d_keys drop $key"
is ok "$("$BIN/d_keys" read "$key" "$ring" | awk '$2 == "linked" { print $1 }')" "its owner reads it"
for options in "" --allow-containers; do
    # shellcheck disable=SC2086 # words, or none
    sandbox $options -- "$BIN/d_keys" read "$key" "$ring"
    if ((STATUS == 125)) && [[ $options ]]; then
        continue
    fi
    sandbox_ran
    answers <<END
EPERM|ENOSYS by-number
EPERM|ENOSYS linked
EPERM|ENOSYS request
EPERM|ENOSYS add
EPERM limits-of-pid1
ok limits-of-its-own
END
done
