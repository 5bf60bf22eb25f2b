# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-30 git runs nothing afterwards that the command put into a configuration
# layers: mount notify
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q "$WS"
git -C "$WS" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
git -C "$WS" worktree add -q "$WS/tree" 2>/dev/null
mkdir -p "$WS/.git/modules/sub/hooks"
plant "$WS/.git/hooks/post-merge" # not executable: git passes it over
plant "$WS/.git/modules/sub/config" '[core]'
configs=("$WS/.git/config" "$WS/.git/hooks" "$WS/.git/modules/sub/config" "$WS/.git/modules/sub/hooks" "$WS/.git/worktrees/tree/commondir")
before=$(witness "${configs[@]}")
for key in core.hooksPath core.fsmonitor core.sshCommand diff.x.textconv filter.x.clean alias.st include.path credential.helper core.pager; do
    sandbox -- git config "$key" '!touch escaped'
    ((STATUS != 0)) || escaped "git config $key ended well"
    unchanged "$before" "${configs[@]}"
done
attempts <<END
EROFS|EACCES append $WS/.git/config
EBUSY|EACCES|EPERM sys rename s:$WS/.git/HEAD s:$WS/.git/config
EROFS|EACCES write $WS/.git/config.worktree
EROFS|EACCES write $WS/.git/worktrees/tree/config.worktree
EROFS|EACCES write $WS/.git/info/attributes
EROFS|EACCES write $WS/.gitmodules
EROFS|EACCES write $WS/.gitconfig
EROFS|EACCES append $WS/.git/modules/sub/config
EROFS|EACCES write $WS/.git/modules/sub/hooks/pre-commit
EROFS|EACCES write $WS/.git/modules/sub/config.worktree
EROFS|EACCES write $WS/.git/hooks/pre-commit
EROFS sys chmod s:$WS/.git/hooks/post-merge 0777
EROFS sys utimensat cwd s:$WS/.git/config null 0
ok    write $WS/.git/COMMIT_EDITMSG
END
unchanged "$before" "${configs[@]}"
equal "" "$(cd "$WS" && ls .git/config.worktree .git/worktrees/tree/config.worktree .git/info/attributes .gitmodules .gitconfig 2>/dev/null)" "what was planted"

# The other side: git's daily work goes on.
sandbox -- /bin/sh -c 'echo text >new && git add new && git -c user.name=a -c user.email=a@b commit -q -m two && git status --short'
sandbox_ran
is two "$(git -c safe.directory="$WS" -C "$WS" log -1 --format=%s)" "a commit made inside"
