# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-22 what the host mounts later does not appear inside
# layers: mount
source "$ESCAPE/lib.bash"

own_mounts "$0"
mkdir -p "$WS/later" "$OUT/later"
mount --bind "$T" "$T" || skip "no mounts here"
mount --make-rshared "$T" || skip "no shared mounts here"
cd "$WS" || exit 1
# A tree that nobody but root changes is shown by another kind of mount.
mount --make-rshared / || skip "no shared mounts here"
for system in /usr/local/games /usr/games /usr/src /opt; do
    [[ ! -d $system ]] || break
done

SANDBOX_SECONDS=20 sandbox --ro "$OUT" -- /bin/sh -c '
    echo >started
    while [ ! -e go ]; do sleep 0.05; done
    cat later/secret "$1/later/secret" "$2/secret" /proc/self/mountinfo | grep -c -e secret-text -e hostmount
    head -c 16 /dev/full | tr "\0" 0; echo
    echo x >"$1/later/new"
    umount later; umount "$1/later"; umount -l "$1" "$2"
    true' sh "$OUT" "$system" &
job=$!
wait_for 10 test -e "$WS/started" || broken "the sandbox did not start"
for place in "$WS/later" "$OUT/later" "$system"; do
    mount -t tmpfs hostmount "$place"
    echo secret-text >"$place/secret"
done
echo secret-text >"$T/device"
mount --bind "$T/device" /dev/full
before=$(witness "$OUT/later" "$WS/later" "$system")
touch "$WS/go"
wait "$job"
equal 0 "$(head -n1 "$T/stdout")" "lines of the host's later mounts"
equal 0000000000000000 "$(sed -n 2p "$T/stdout")" "what a device is after the host mounted on it"
unchanged "$before" "$OUT/later" "$WS/later" "$system"
mounted=$(grep -c hostmount /proc/self/mountinfo)
equal 3 "$mounted" "mounts of the host that are still there"
is yes "$([[ -e $WS/started ]] && echo yes)" "the workspace is the host's"
umount "$WS/later" "$OUT/later" "$system" /dev/full
