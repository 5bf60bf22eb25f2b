# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-21 what is denied in a directory of root's stays so when root opens it while the sandbox runs
# layers: mount
# only: root
# not: nested, the set-up there has the ids of the case
source "$ESCAPE/lib.bash"

plant "$OUT/dir/sub/file" secret-text
plant "$OUT/private/sub/p/file" secret-text
plant "$OUT/open" original
cat >"$T/policy.yaml" <<END
version: 1
sandbox:
  paths:
    tree: {root: $OUT, mode: ro}
    p: {root: $OUT/private/sub/p, mode: private}
  deny: [$OUT/dir/sub/file]
END
for _ in cold warm; do
    chmod 700 "$OUT/dir" "$OUT/private"
    rm -f "$WS"/*
    SANDBOX_SECONDS=20 sandbox --policy "$T/policy.yaml" -- /bin/sh -c '
        echo >started
        while [ ! -e go ]; do sleep 0.05; done
        cat "$1/dir/sub/file" "$1/private/sub/p/file"
        cat "$1/open"' sh "$OUT" &
    job=$!
    wait_for 10 test -e "$WS/started" || broken "the sandbox did not start: $(head -n1 "$T/stderr")"
    chmod 755 "$OUT/dir" "$OUT/private"
    touch "$WS/go"
    wait "$job"
    equal "" "$(grep secret "$T/stdout")" "what was opened while it ran"
    is original "$(grep original "$T/stdout")" "what is granted"
done
