# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-15 a denied file of another owner stays so when its mode opens it, later or while it runs
# layers: mount
# only: root
source "$ESCAPE/lib.bash"

plant "$OUT/file" secret-text
plant "$OUT/dir/file" secret-text
plant "$OUT/open" original
options=(--ro "$OUT" --deny "$OUT/file" --deny "$OUT/dir")
close() {
    chmod 600 "$OUT/file"
    chmod 700 "$OUT/dir"
}
open() {
    chmod 644 "$OUT/file"
    chmod 755 "$OUT/dir"
}
close
SANDBOX_SECONDS=20 sandbox "${options[@]}" -- /bin/sh -c '
    echo >started
    while [ ! -e go ]; do sleep 0.05; done
    cat "$1/file" "$1/dir/file"
    cat "$1/open"' sh "$OUT" &
job=$!
wait_for 10 test -e "$WS/started" || broken "the sandbox did not start"
open
touch "$WS/go"
wait "$job"
equal "" "$(grep secret "$T/stdout")" "what was opened while it ran"
is original "$(grep original "$T/stdout")" "what is granted"

# A plan that was made while it was closed.
close
attempts "${options[@]}" <<END
EACCES read $OUT/file
END
open
attempts "${options[@]}" <<END
EACCES read $OUT/file
EACCES read $OUT/dir/file
ok     read $OUT/open original
END
