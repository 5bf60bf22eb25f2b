# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-92 of the repository around the workspace nothing is written that git obeys, or that other work trees have
# layers: mount notify
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
me=(-c user.name=a -c user.email=a@b)
git init -q "$OUT/repo"
mkdir "$OUT/repo/sub"
plant "$OUT/repo/sub/file"
plant "$OUT/repo/other"
git -C "$OUT/repo" add .
git -C "$OUT/repo" "${me[@]}" commit -q -m one
git -C "$OUT/repo" worktree add -q "$OUT/tree" 2>/dev/null
git -C "$OUT/repo" worktree add -q "$OUT/more" 2>/dev/null
git=$OUT/repo/.git
plant "$git/hooks/kept" # not executable: git passes it over
mkdir -p "$git/modules/x"
chmod -R a+rwX "$OUT"

# held PATH...: what each call gets that would change these, and what is in them.
held() {
    local path
    for path; do
        cat <<END
EROFS|EACCES append $path
EROFS|EACCES sys truncate s:$path 0
EROFS|EACCES sys chmod s:$path 0777
EBUSY|EACCES|EPERM|EROFS sys unlink s:$path
EBUSY|EXDEV|EACCES|EROFS sys rename s:$path s:$path.old
EBUSY|EXDEV|EACCES|EROFS|ENOENT sys rename s:$git/free s:$path
END
    done
}

# From a subdirectory.
before=$(witness "$git/hooks" "$git/config" "$OUT/repo/other" "$OUT/more")
for options in "" "--preset git"; do
    # shellcheck disable=SC2086 # options
    WS="$OUT/repo/sub" attempts $options < <(
        echo "ok write $git/free"
        held "$git/config" "$OUT/repo/other"
        cat <<END
EROFS|EACCES write $git/hooks/post-commit
EROFS sys chmod s:$git/hooks/kept 0777
EACCES write $git/config.worktree
EACCES write $git/commondir
EROFS|EACCES write $git/info/attributes
EACCES sys mkdir s:$git/modules/x/hooks 0755
EBUSY|EXDEV sys rename s:$git/hooks s:$git/gone
EBUSY sys rename s:$git s:$OUT/repo/gone
EROFS|EACCES write $OUT/repo/new
EROFS|EACCES write $OUT/repo/.gitmodules
EROFS|EACCES append $git/worktrees/tree/gitdir
EROFS|EACCES append $git/worktrees/tree/commondir
ENOENT read $OUT/more/other
ok     append $git/HEAD
ok     write $git/refs/heads/new
END
    )
    git -C "$OUT/repo" symbolic-ref HEAD refs/heads/master
done
rm -rf "$git/modules" "$git/free" "$git/refs/heads/new"
unchanged "$before" "$git/hooks" "$git/config" "$OUT/repo/other" "$OUT/more"

# In a linked worktree: the main one and another one are somebody else's.
before=$(witness "$git/hooks" "$git/config" "$git/HEAD" "$git/index" "$git/worktrees/more" "$OUT/more" "$OUT/repo/other")
WS="$OUT/tree" attempts < <(
    echo "ok write $git/free"
    held "$git/config" "$git/HEAD" "$git/index" "$git/worktrees/more/HEAD" "$git/worktrees/more/index" \
        "$git/worktrees/tree/gitdir" "$git/worktrees/tree/commondir"
    cat <<END
EROFS|EACCES write $git/hooks/post-commit
EACCES write $git/config.worktree
EACCES write $git/worktrees/tree/config.worktree
EROFS|EACCES append $git/worktrees/more/gitdir
EACCES sys mkdir s:$git/rebase-merge 0755
EACCES sys mkdir s:$git/worktrees/more/rebase-merge 0755
EACCES sys mkdir s:$git/worktrees/more/sequencer 0755
EACCES sys symlink s:/tmp s:$git/worktrees/more/rebase-apply
EBUSY|EXDEV sys rename s:$git/worktrees/more s:$git/worktrees/gone
EBUSY|EXDEV sys rename s:$git/worktrees s:$git/gone
EBUSY|EXDEV|EROFS|EACCES sys rename s:$git s:$OUT/repo/gone
ENOENT read $OUT/repo/other
ENOENT read $OUT/more/other
ok     write $git/worktrees/tree/ORIG_HEAD
ok     write $git/refs/heads/new
END
)
unchanged "$before" "$git/hooks" "$git/config" "$git/HEAD" "$git/index" "$git/worktrees/more" "$OUT/more" "$OUT/repo/other"
