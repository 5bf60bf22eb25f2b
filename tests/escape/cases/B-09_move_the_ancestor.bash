# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-09 a directory that holds something protected cannot be moved out of the way
# layers: mount
source "$ESCAPE/lib.bash"

git init -q "$WS"
git init -q "$WS/sub/deep/repo"
plant "$WS/pkg/a/b/.npmrc"
plant "$WS/x/y/keep"
mkdir -p "$WS/mine/inner"
trees=("$WS/.git/hooks" "$WS/.git/config" "$WS/sub/deep/repo/.git/hooks" "$WS/pkg/a/b/.npmrc" "$WS/x/y/keep")
before=$(witness "${trees[@]}")
attempts --protect "$WS/x/y/keep" < <(
    for dir in .git sub/deep/repo/.git sub/deep/repo sub/deep sub pkg pkg/a pkg/a/b x x/y; do
        cat <<END
EBUSY sys rename s:$WS/$dir s:$WS/gone
EBUSY sys renameat2 cwd s:$WS/$dir cwd s:$WS/mine RENAME_EXCHANGE
EBUSY sys renameat2 cwd s:$WS/mine cwd s:$WS/$dir RENAME_EXCHANGE
EBUSY sys renameat fd:$WS s:$dir fd:$WS/mine s:gone
EBUSY|EPERM|EINVAL sys renameat2 cwd s:$WS/$dir cwd s:$WS/gone RENAME_WHITEOUT
EBUSY|ENOTEMPTY sys rmdir s:$WS/$dir
END
    done
    echo "EBUSY|EXDEV|EROFS|EACCES sys rename s:$WS s:$T/gone"
    echo "EBUSY|EXDEV|EINVAL sys rename s:$WS s:/tmp/gone"
    echo "ok sys rename s:$WS/mine/inner s:$WS/mine/moved"
    echo "ok sys rename s:$WS/mine s:$WS/moved"
)
unchanged "$before" "${trees[@]}"

# What git would run afterwards is what it ran before.
# shellcheck disable=SC2016 # for the shell inside
sandbox -- /bin/bash -c 'mv .git .git2; mkdir -p .git/hooks; echo "#!/bin/sh" >.git/hooks/pre-commit; mv sub sub2; mkdir -p sub/deep/repo/.git/hooks && echo x >sub/deep/repo/.git/hooks/pre-commit; cp -r .git .git3 && rm -rf .git && mv .git3 .git'
unchanged "$before" "${trees[@]}"
equal "" "$(ls "$WS"/.git/hooks/pre-commit "$WS"/sub/deep/repo/.git/hooks/pre-commit 2>/dev/null)" "hooks that were planted"
