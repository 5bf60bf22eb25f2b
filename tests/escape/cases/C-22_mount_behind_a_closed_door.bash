# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-22 a mount in a directory of root's that may only be read stays so when root opens the directory
# layers: mount
# only: root
# not: nested, the set-up there has the ids of the case
source "$ESCAPE/lib.bash"

own_mounts "$0"
mkdir -p "$OUT/dir/below" "$OUT/open/below"
for dir in dir open; do
    mount -t tmpfs -o mode=777 below "$OUT/$dir/below"
    plant "$OUT/$dir/below/file"
done
# How it is without mount_setattr: mount by mount, by name.
for call in '' mount_setattr=ENOSYS; do
    # shellcheck disable=SC2086 # a word or none
    under $call
    forget
    # Capabilities of the set-up do not count where it has no id for the group.
    chgrp 100 "$OUT/dir"
    chmod 000 "$OUT/dir"
    rm -f "$WS"/*
    before=$(witness "$OUT/dir/below/file" "$OUT/open/below/file")
    SANDBOX_SECONDS=20 sandbox --as-root --ro "$OUT" -- /bin/sh -c '
        echo >started
        while [ ! -e go ]; do sleep 0.05; done
        for dir in dir open; do
            echo "sys utimensat cwd s:$1/$dir/below/file null 0"
        done | "$2/try"
        cat "$1/open/below/file"' sh "$OUT" "$BIN" &
    job=$!
    wait_for 10 test -e "$WS/started" || broken "it did not start: $(head -n1 "$T/stderr")"
    chmod 755 "$OUT/dir"
    touch "$WS/go"
    wait "$job"
    unchanged "$before" "$OUT/dir/below/file" "$OUT/open/below/file"
    is 1 "$(grep -c original "$T/stdout")" "what may be read"
done
under
cd / && umount "$OUT/dir/below" "$OUT/open/below"
