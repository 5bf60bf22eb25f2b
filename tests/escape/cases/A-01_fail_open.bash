# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-01 where a layer that the policy needs is missing, nothing is run
# layers: launch
# no mutant: it takes each layer away itself, by calls that fail
source "$ESCAPE/lib.bash"

sandbox -- touch ran
is yes "$([[ -e $WS/ran ]] && echo yes)" "the command runs where nothing is missing"
rm -f "$WS/ran"
# Both with what was remembered of that good run and without.
for memory in kept fresh; do
    for missing in \
        "clone3=EPERM clone=EPERM unshare=EPERM" "clone3=ENOSPC unshare=ENOSPC clone=ENOSPC" \
        "landlock_create_ruleset=ENOSYS" "landlock_create_ruleset=EOPNOTSUPP" \
        "landlock_restrict_self=EPERM" "seccomp=ENOSYS" "seccomp=EINVAL" "pivot_root=EPERM" \
        "mount_setattr=EPERM" "move_mount=EPERM" "open_tree=EPERM" "capset=EPERM" \
        "mount=EPERM fsopen=EPERM fsmount=EPERM"; do
        [[ $memory == fresh ]] && forget
        read -ra calls <<<"$missing"
        under "${calls[@]}"
        sandbox -- touch ran
        # What bawn has another way to do may go on, if it holds; there is no other way to have Landlock.
        if [[ $STATUS == 0 && $missing != landlock* ]]; then
            CHECKED=$((CHECKED + 1))
            rm -f "$WS/ran"
            plant "$OUT/file"
            before=$(witness "$OUT")
            sandbox --ro "$OUT" -- "$BIN/try" <<<"append $OUT/file"
            verdict EROFS "$(cut -f1 "$T/stdout")" "a write outside, with $missing ($memory)"
            unchanged "$before" "$OUT"
            echo "# note: $missing is done another way"
        else
            sandbox_refused "$([[ $missing == landlock* ]] && echo Landlock)"
        fi
        under
    done
done
