# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-09 a directory that holds something protected cannot be moved out of the way
# layers: notify
source "$ESCAPE/lib.bash"

git init -q "$WS"
git init -q "$WS/sub/deep/repo"
plant "$WS/x/y/keep"
mkdir -p "$WS/mine/inner"
trees=("$WS/.git/hooks" "$WS/.git/config" "$WS/sub/deep/repo/.git/hooks" "$WS/x/y/keep")
before=$(witness "${trees[@]}")
hooks=$(witness "$WS/.git/hooks")
attempts --protect "$WS/x/y/keep" < <(
    for dir in .git sub/deep/repo/.git x x/y; do
        cat <<END
EBUSY|EXDEV sys rename s:$WS/$dir s:$WS/gone
EBUSY|EXDEV sys renameat2 cwd s:$WS/$dir cwd s:$WS/mine RENAME_EXCHANGE
EBUSY|EXDEV sys renameat2 cwd s:$WS/mine cwd s:$WS/$dir RENAME_EXCHANGE
EBUSY|EXDEV sys renameat fd:$WS s:$dir fd:$WS/mine s:gone
EBUSY|EACCES|EPERM|EINVAL sys renameat2 cwd s:$WS/$dir cwd s:$WS/gone RENAME_WHITEOUT
EBUSY|EACCES|ENOTEMPTY sys rmdir s:$WS/$dir
END
    done
    echo "EBUSY|EXDEV|EROFS|EACCES sys rename s:$WS s:$T/gone"
    echo "EBUSY|EXDEV|EINVAL|EACCES sys rename s:$WS s:/tmp/gone"
    echo "ok sys rename s:$WS/mine/inner s:$WS/mine/moved"
    echo "ok sys rename s:$WS/mine s:$WS/moved"
)
unchanged "$before" "${trees[@]}"

# With a shell's words: what git would run afterwards is what it ran before.
sandbox -- /bin/bash -c 'mv .git .git2; mkdir -p .git/hooks; echo "#!/bin/sh" >.git/hooks/pre-commit; cp -r .git .git3 && rm -rf .git; mv .git3 .git' 2>/dev/null
equal "" "$(ls "$WS"/.git/hooks/pre-commit 2>/dev/null)" "hooks that were planted"
equal "$hooks" "$(witness "$WS/.git/hooks")" "the directory of hooks"

# What a pattern binds at any depth it binds in the place where an ancestor is moved to, and where it was.
sandbox -- /bin/bash -c '
    mv sub sub2; mkdir -p sub/deep/repo/.git/hooks
    for repo in sub/deep/repo sub2/deep/repo; do
        echo x >$repo/.git/hooks/pre-commit; echo x >>$repo/.git/config; mv sub2/deep/repo/.git/hooks sub2/deep/repo/.git/h2
        mv sub2/deep/repo/.git sub2/deep/repo/git; ln -s /bin/true $repo/.git/hooks/post-merge
    done' 2>/dev/null
for tree in "$WS/sub" "$WS/sub2"; do
    equal "" "$(ls "$tree"/deep/repo/.git/hooks/{pre-commit,post-merge} 2>/dev/null)" "hooks below ${tree##*/}"
    equal "" "$(grep -sx x "$tree/deep/repo/.git/config")" "the config below ${tree##*/}"
done
