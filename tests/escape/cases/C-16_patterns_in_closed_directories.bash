# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-16 what a pattern denies is denied in directories that could not be listed at the start
# layers: mount
source "$ESCAPE/lib.bash"

lines=()
for mode in 000 111 311 300 700; do
    plant "$WS/dir-$mode/.env" secret-text
    plant "$WS/above-$mode/dir/.env" secret-text
    lines+=("EACCES read $WS/dir-$mode/.env" "EACCES read $WS/above-$mode/dir/.env"
        "any sys chmod s:$WS/dir-$mode 0777" "any sys chmod s:$WS/above-$mode 0777"
        "EACCES read $WS/dir-$mode/.env" "EACCES read $WS/above-$mode/dir/.env")
done
plant "$WS/open/file" original
# From inside, as an earlier command would.
sandbox -- /bin/sh -c 'for mode in 000 111 311 300 700; do chmod $mode dir-$mode above-$mode; done'
sandbox_ran
is 311 "$(stat -c %a "$WS/dir-311")" "modes in the workspace"
attempts --deny '**/.env' < <(
    printf '%s\n' "${lines[@]}"
    echo "ok read $WS/open/file original"
)
chmod -R u+rwX "$WS"
