# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-55 a file that is hidden or protected by one name is so by its other names in what is granted
# layers: mount
source "$ESCAPE/lib.bash"

mkdir -p "$HOME/.ssh" "$WS/sub/deep" "$HOME/.cargo/bin" "$OUT/granted"
plant "$HOME/.ssh/id_rsa" private
plant "$HOME/.netrc" private
plant "$HOME/.bashrc" original
plant "$WS/denied" private
plant "$WS/kept" original
plant "$WS/free" original
ln "$HOME/.ssh/id_rsa" "$HOME/.ssh/id_copy"
ln "$HOME/.ssh/id_rsa" "$WS/notes"
ln "$HOME/.netrc" "$OUT/granted/notes"
ln "$HOME/.bashrc" "$WS/sub/deep/rc"
ln "$WS/denied" "$WS/sub/copy"
ln "$WS/kept" "$WS/sub/kept2"
ln "$WS/free" "$WS/sub/free2"
plant "$WS/sub/deep/.env" private
ln "$WS/sub/deep/.env" "$WS/a_name_before"
ln "$WS/sub/deep/.env" "$WS/sub/z_name_behind"
plant "$WS/sub/hidden/file" private
ln "$WS/sub/hidden/file" "$WS/a_name_of_hidden"
# Names that are all held are nothing to tell of.
plant "$HOME/.aws/one" private
ln "$HOME/.aws/one" "$HOME/.aws/two"
before=$(witness "$HOME" "$WS/denied" "$WS/kept")

options=(--deny "$HOME/.ssh" --deny "$HOME/.ssh/id_rsa" --deny "$WS/denied" --deny "$WS/**/.env" --deny hidden --protect "$WS/kept" --ro "$OUT/granted")
attempts "${options[@]}" <<END
EACCES read $WS/notes
EACCES read $OUT/granted/notes
EACCES read $WS/sub/copy
EACCES read $WS/denied
EACCES read $WS/sub/deep/.env
EACCES read $WS/a_name_before
EACCES read $WS/sub/z_name_behind
EACCES read $WS/a_name_of_hidden
EROFS|EACCES write $WS/notes
EROFS|EACCES append $WS/sub/deep/rc
EROFS|EACCES append $WS/sub/kept2
EROFS|EACCES sys truncate s:$WS/sub/deep/rc 0
EROFS|EACCES sys chmod s:$WS/sub/deep/rc 0777
EROFS|EACCES sys chmod s:$WS/sub/kept2 0777
EBUSY  sys rename s:$WS/sub/deep/rc s:$WS/away
EBUSY  sys rename s:$WS/notes s:$WS/away
ok     read $WS/sub/deep/rc original
ok     read $WS/sub/kept2 original
ok     append $WS/sub/free2
END
unchanged "$before" "$HOME" "$WS/denied" "$WS/kept"
is 5 "$(grep -c 'hard links' "$T/stderr")" "files that were told of"
is 0 "$(grep -c '\.aws' "$T/stderr")" "those whose names are all held"

# The same is said to who asks, and it is looked for at every start.
for path in notes sub/copy; do
    (cd "$WS" && "$BAWN" check --deny "$WS/denied" read "$path" >/dev/null 2>&1) && escaped "check lets $path be read"
done
(cd "$WS" && "$BAWN" check write sub/deep/rc >/dev/null 2>&1) && escaped "check lets sub/deep/rc be written"
ln "$HOME/.ssh/id_rsa" "$WS/later"
attempts "${options[@]}" <<END
EACCES read $WS/later
ok     read $WS/free
END
