# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-29 a forged .git file or commondir grants nothing more
# layers: mount notify
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q "$OUT/parent"
git -C "$OUT/parent" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
plant "$OUT/parent/.git/hooks/kept"
plant "$OUT/other/secret" hidden
before=$(witness "$OUT")

# A .git file in the workspace that names a repository outside: forged before the start.
printf 'gitdir: %s\n' "$OUT/parent/.git" >"$WS/.git"
attempts <<END
ENOENT read $OUT/parent/.git/config
any    write $OUT/parent/.git/hooks/pre-commit
any    append $OUT/parent/.git/config
ok     write $WS/free
END
unchanged "$before" "$OUT"
rm -f "$WS/.git"

# A real worktree whose commondir was forged.
git init -q "$WS"
git -C "$WS" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
git -C "$WS" worktree add -q "$WS/tree" 2>/dev/null
printf '%s\n' "$OUT/other" >"$WS/.git/worktrees/tree/commondir"
plant "$WS/.git/hooks/kept" # not executable: git passes it over
repository=$(witness "$WS/.git/hooks" "$WS/.git/config")
attempts <<END
ENOENT read $OUT/other/secret
any    write $OUT/other/new
EROFS|EACCES append $WS/.git/worktrees/tree/commondir
EBUSY|EACCES|EPERM sys unlink s:$WS/.git/worktrees/tree/commondir
EROFS|EACCES append $WS/.git/worktrees/tree/gitdir
EROFS|EACCES write $WS/.git/commondir
EROFS|EACCES sys mkdir s:$WS/.git/worktrees/tree/hooks 0755
EROFS sys chmod s:$WS/.git/hooks/kept 0777
EROFS|EACCES append $WS/.git/config
END
unchanged "$before" "$OUT"
unchanged "$repository" "$WS/.git/hooks" "$WS/.git/config"

# A worktree whose repository the policy grants for writing: its hooks and config stay as they are.
rm -rf "$WS/tree" "$WS/.git"
git -C "$OUT/parent" worktree add -q "$WS/linked" 2>/dev/null
chmod -R a+rwX "$OUT/parent" "$WS"
plant "$OUT/parent/.git/hooks/kept"
before=$(witness "$OUT/parent/.git/hooks" "$OUT/parent/.git/config")
attempts --rw "$OUT/parent" <<END
EROFS|EACCES write $OUT/parent/.git/hooks/pre-commit
EROFS|EACCES append $OUT/parent/.git/config
EROFS|EACCES sys chmod s:$OUT/parent/.git/hooks/kept 0777
EROFS|EACCES sys fchmod rd:$OUT/parent/.git/hooks/kept 0777
EROFS|EACCES sys setxattr s:$OUT/parent/.git/config s:user.x s:y 1 0
EBUSY|EXDEV sys rename s:$OUT/parent/.git s:$OUT/parent/moved
EROFS|EACCES write $OUT/parent/.git/info/attributes
ok    write $OUT/parent/.git/worktrees/linked/COMMIT_EDITMSG
ok    sys chmod s:$OUT/parent/.git/worktrees/linked/COMMIT_EDITMSG 0600
END
unchanged "$before" "$OUT/parent/.git/hooks" "$OUT/parent/.git/config"
