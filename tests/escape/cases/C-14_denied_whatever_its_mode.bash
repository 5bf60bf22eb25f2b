# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-14 a denied file of the caller's own is unreadable whatever its mode says, and stays so
# layers: mount
source "$ESCAPE/lib.bash"

options=()
lines=()
for mode in 000 200 400 600 700 644 666; do
    plant "$WS/file-$mode" secret-text
    plant "$WS/dir-$mode/file" secret-text
    chmod "$mode" "$WS/file-$mode" "$WS/dir-$mode"
    options+=(--deny "$WS/file-$mode" --deny "$WS/dir-$mode")
    lines+=("any sys chmod s:$WS/file-$mode 0666" "any sys chmod s:$WS/dir-$mode 0777"
        "EACCES read $WS/file-$mode" "EACCES list $WS/dir-$mode" "EACCES read $WS/dir-$mode/file")
done
plant "$WS/mine" original
chmod 600 "$WS/mine"
before=$(stat -c '%a %n' "$WS"/file-* "$WS"/dir-*)
attempts "${options[@]}" < <(
    printf '%s\n' "${lines[@]}"
    echo "ok read $WS/mine original"
)
equal "$before" "$(stat -c '%a %n' "$WS"/file-* "$WS"/dir-*)" "modes of what is denied"
