# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-10 nothing is moved or linked into a protected place
# layers: notify
source "$ESCAPE/lib.bash"

git init -q "$WS"
mkdir -p "$WS/.claude" "$WS/stage"
for i in {1..24}; do plant "$WS/stage/f$i"; done
mkdir "$WS/stage/dir"
plant "$WS/stage/dir/settings.json"
plant "$WS/.claude/settings.json" '{}'
before=$(witness "$WS/.git/hooks" "$WS/.claude")
attempts <<END
EXDEV|EROFS|EACCES sys rename s:$WS/stage/f1 s:$WS/.git/hooks/post-checkout
EXDEV|EROFS|EACCES sys link s:$WS/stage/f2 s:$WS/.git/hooks/post-merge
EROFS|EACCES sys symlink s:../../stage/f3 s:$WS/.git/hooks/pre-push
EXDEV|EROFS|EBUSY|EACCES sys rename s:$WS/stage/f4 s:$WS/.claude/settings.json
EBUSY|EXDEV sys rename s:$WS/stage/f5 s:$WS/.git/config
EBUSY|ENOTEMPTY|EACCES sys rename s:$WS/stage/dir s:$WS/.claude
EXDEV|EROFS|EBUSY|EACCES sys renameat2 cwd s:$WS/stage/f6 cwd s:$WS/.claude/settings.json RENAME_EXCHANGE
EROFS|EACCES sys rename s:$WS/stage/f7 s:$WS/.mcp.json
EROFS|EACCES sys link s:$WS/stage/f8 s:$WS/.bashrc
EROFS|EACCES sys symlink s:stage/f9 s:$WS/.envrc
EROFS|EACCES sys renameat2 cwd s:$WS/stage/f10 cwd s:$WS/.npmrc RENAME_NOREPLACE
EROFS|EACCES sys rename s:$WS/stage/dir s:$WS/.vscode
EROFS|EACCES sys rename s:$WS/stage/dir s:$WS/stage/.idea
EROFS|EACCES sys symlink s:stage/dir s:$WS/.cursor
EROFS|EACCES sys rename s:$WS/stage/f11 s:$WS/stage/../.zshrc
EROFS|EACCES in $WS/stage sys rename s:f11 s:../.zshrc
EROFS|EACCES sys renameat fd:$WS/stage s:f11 fd:$WS s:.zshrc
ok          sys rename s:$WS/stage/f20 s:$WS/freed
ok          sys link s:$WS/stage/f21 s:$WS/stage/linked
ok          sys symlink s:f22 s:$WS/stage/pointer
END
unchanged "$before" "$WS/.git/hooks" "$WS/.claude"
equal "" "$(cd "$WS" && ls -d .mcp.json .bashrc .envrc .npmrc .vscode .cursor .zshrc stage/.idea 2>/dev/null)" "what was planted"
