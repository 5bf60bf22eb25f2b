# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-23 when one of two sandboxes on the same workspace ends, the other stays as protected as it was
# layers: mount notify
source "$ESCAPE/lib.bash"

plant "$WS/secret" hunter2
plant "$WS/.bashrc"
git init -q "$WS"
options=(--deny "$WS/secret" --protect "$WS/later")
before=$(witness "$WS/secret" "$WS/.bashrc" "$WS/.git/config")
(SANDBOX_SECONDS=20 sandbox "${options[@]}" -- /bin/sh -c '
    echo >"started"
    while [ ! -e go ]; do sleep 0.05; done
    printf "%s\n" "read secret" "append .bashrc" "append .git/config" "sys creat s:later 0644" "sys creat s:.zshrc 0644" "sys rename s:.git s:gone" "write free" | "$1"' sh "$BIN/try") &
job=$!
wait_for 10 test -e "$WS/started" || broken "the second sandbox did not start"
# Others come and go: ended well, and killed.
cp "$T/stdout" "$T/kept" 2>/dev/null
for _ in 1 2 3; do
    "$BAWN" run -C "$WS" "${options[@]}" -- /bin/true
    timeout -s KILL 0.05 "$BAWN" run -C "$WS" "${options[@]}" -- /bin/sleep 5
done 2>/dev/null
touch "$WS/go"
wait "$job"
mapfile -t got < <(cut -f1 "$T/stdout")
verdict EACCES "${got[0]:-}" "read of the denied file"
verdict EROFS "${got[1]:-}" "write to .bashrc"
verdict EROFS "${got[2]:-}" "write to .git/config"
verdict "EROFS|EACCES" "${got[3]:-}" "a protected path that is not there"
verdict "EROFS|EACCES" "${got[4]:-}" "a protected name that is not there"
verdict EBUSY "${got[5]:-}" "rename of .git"
verdict ok "${got[6]:-}" "a free name"
unchanged "$before" "$WS/secret" "$WS/.bashrc" "$WS/.git/config"
