# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-17 what is denied stays so in directories that were closed at the start, and are opened later
# layers: mount
source "$ESCAPE/lib.bash"

options=()
lines=()
for mode in 000 200 400 600 700; do
    plant "$WS/dir-$mode/file" secret-text
    plant "$WS/above-$mode/dir/sub/file" secret-text
    options+=(--deny "$WS/dir-$mode/file" --deny "$WS/above-$mode/dir/sub"
        --deny "$WS/above-$mode/dir/not-there")
    lines+=("any sys chmod s:$WS/dir-$mode 0777" "any sys chmod s:$WS/above-$mode 0777"
        "EACCES read $WS/dir-$mode/file" "EACCES read $WS/above-$mode/dir/sub/file")
done
plant "$WS/open/file" original
# From inside, as an earlier command would; the built-in secrets too, where the home is writable.
plant "$HOME/.gnome2/keyrings/login" secret-text
sandbox --rw "$HOME" -- /bin/sh -c '
    for mode in 000 200 400 600 700; do chmod $mode dir-$mode above-$mode; done
    chmod 000 "$1/.gnome2"' sh "$HOME"
is 200 "$(stat -c %a "$WS/dir-200")" "modes in the workspace"
for _ in cold warm; do
    attempts --rw "$HOME" "${options[@]}" < <(
        printf '%s\n' "${lines[@]}"
        cat <<END
any sys chmod s:$HOME/.gnome2 0777
EACCES read $HOME/.gnome2/keyrings/login
ok read $WS/open/file original
END
    )
done
chmod -R u+rwX "$WS" "$HOME"
