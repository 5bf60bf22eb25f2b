# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-70 further names of what is hidden or protected are held in directories that were closed before
# layers: mount
source "$ESCAPE/lib.bash"

modes="000 100 300 400 600"
plant "$WS/denied" private
plant "$WS/kept" original
lines=()
for mode in $modes; do
    mkdir -p "$WS/dir-$mode" "$WS/seal-$mode"
    # From inside, as an earlier command would.
    sandbox -- /bin/sh -c "ln denied dir-$mode/x && ln kept seal-$mode/x && chmod $mode dir-$mode seal-$mode"
    sandbox_ran
    lines+=("any sys chmod s:$WS/dir-$mode 0777" "any sys chmod s:$WS/seal-$mode 0777"
        "EACCES read $WS/dir-$mode/x" "EROFS|EACCES append $WS/seal-$mode/x"
        "EROFS|EACCES sys truncate s:$WS/seal-$mode/x 0")
done
plant "$WS/open/file" original
before=$(witness "$WS/denied" "$WS/kept")
attempts --deny "$WS/denied" --protect "$WS/kept" < <(
    printf '%s\n' "${lines[@]}"
    echo "ok append $WS/open/file"
)
unchanged "$before" "$WS/denied" "$WS/kept"
# Where nothing is hidden they stay closed, or read-only.
attempts --protect "$WS/kept" < <(
    printf '%s\n' "${lines[@]}" | grep seal
    echo "ok append $WS/open/file"
)
unchanged "$before" "$WS/denied" "$WS/kept"
chmod -R u+rwX "$WS"
