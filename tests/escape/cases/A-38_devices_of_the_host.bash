# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-38 what is not the null device of the host is not used as one, and nobody waits for it
# layers: launch
# no mutant: the set-up asks what a device is before it shows it; this is no layer around the command
# seconds: 90
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

SANDBOX_SECONDS=8
sandbox -- sh -c 'echo lost >/dev/null; head -c2 /dev/zero | wc -c; touch ran'
sandbox_ran
is "2 yes" "$(cat "$T/stdout") $([[ -e $WS/ran ]] && echo yes)" "with the devices as they are"
rm -f "$WS/ran"
plant "$T/file" outside
mkfifo "$T/fifo"
chmod 666 "$T/fifo"
before=$(sha256sum "$T/file")
for what in "fifo null" "file null" "file zero" "fifo urandom" "/dev/zero null" "/dev/null full"; do
    read -r from to <<<"$what"
    [[ $from == /* ]] || from=$T/$from
    "$BIN/bind" "$from" "/dev/$to" || skip "no mounts of one's own here"
    sandbox -- sh -c 'touch ran; echo kept >/dev/null'
    "$BIN/unbind" "/dev/$to"
    sandbox_refused "$to"
done
equal "$before" "$(sha256sum "$T/file")" "the file at the device's name"
sandbox -- true
sandbox_ran
