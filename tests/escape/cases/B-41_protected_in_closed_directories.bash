# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-41 what may only be read is not written, nor moved with a directory that was closed at the start
# layers: mount+notify
source "$ESCAPE/lib.bash"

plant "$WS/dir/sub/file" original
plant "$WS/.git/hooks/x" original
plant "$WS/open/file" original
before=$(cat "$WS/dir/sub/file" "$WS/.git/hooks/x")
sandbox -- /bin/sh -c 'chmod 000 dir'
chmod 000 "$WS/.git"
for _ in cold warm; do
    attempts --ro "$WS/dir/sub" <<END
any sys chmod s:$WS/dir 0777
any sys chmod s:$WS/.git 0777
EROFS|EACCES append $WS/dir/sub/file
EROFS|EACCES append $WS/.git/hooks/x
EBUSY|EXDEV|EACCES|EPERM sys rename s:$WS/dir s:$WS/moved
EBUSY|EXDEV|EACCES|EPERM sys rename s:$WS/.git s:$WS/moved-git
ENOENT append $WS/moved/sub/file
ok append $WS/open/file
END
done
chmod -R u+rwX "$WS"
equal "$before" "$(cat "$WS/dir/sub/file" "$WS/.git/hooks/x")" "what may only be read"
equal "" "$(cd "$WS" && ls -d moved moved-git 2>/dev/null)" "what was moved"
