# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-60 a start with a kept plan is like the first, on whatever mount the plans lie
# layers: mount+notify
# only: root
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

mkdir -p "$T/me/.cache" "$WS/.git/hooks"
chmod 777 "$WS/.git/hooks"
own_passwd "$T/me"
for options in nosymfollow noexec,nosuid,nodev size=8k nr_inodes=4 ro; do
    mount -t tmpfs -o "$options,mode=700" plans "$T/me/.cache" || skip "no mount with $options"
    for start in first second third; do
        # shellcheck disable=SC2016
        sandbox -- sh -c 'echo escaped 2>/dev/null >.git/hooks/x; echo ran'
        sandbox_ran
        is ran "$(cat "$T/stdout")" "the $start start with $options"
        equal "" "$(ls "$WS/.git/hooks")" "hooks after the $start start with $options"
    done
    umount -l "$T/me/.cache"
done
