# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-10 the directory that bawn is started from, and what PWD says, grant nothing
# layers: mount
source "$ESCAPE/lib.bash"

plant "$OUT/file"
mkdir "$T/gone"
before=$(witness "$OUT" "$HOME")
for dir in "$OUT" "$HOME" / /etc "$T/gone" "$WS"; do
    cd "$dir" || exit 1
    [[ $dir != "$T/gone" ]] || rmdir "$T/gone"
    rm -f "$WS/made"
    PWD=$OUT OLDPWD=$OUT sandbox -- /bin/sh -c 'echo x >made; cd "$OLDPWD" 2>/dev/null && echo x >made; pwd -P >/dev/null; "$1"' sh "$BIN/try" <<END
in / sys creat s:bawn-escape 0644
in /etc sys creat s:bawn-escape 0644
append $OUT/file
in $OUT read file
END
    sandbox_ran
    equal "EROFS EROFS ENOENT ENOENT" "$(cut -f1 "$T/stdout" | xargs)" "started in $dir"
    is x "$(cat "$WS/made" 2>/dev/null)" "what is made in the workspace, started in $dir"
    unchanged "$before" "$OUT" "$HOME"
done
