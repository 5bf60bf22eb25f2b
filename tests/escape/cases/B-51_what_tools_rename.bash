# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-51 tools rename as they do, and what cannot be renamed to a protected name is copied file by file
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q -b main "$WS"
git -C "$WS" config user.name a && git -C "$WS" config user.email a@b
mkdir -p "$WS/dir/inner" "$WS/to" "$WS/node_modules/left-pad" "$WS/target"
plant "$WS/dir/inner/file" one
plant "$WS/node_modules/left-pad/index.js"
plant "$WS/g/config" '[core]'
plant "$WS/g/hooks/post-checkout" '#!/bin/sh'
plant "$WS/g/HEAD" 'ref: refs/heads/main'
mkdir "$WS/sub"
chmod -R a+rwX "$WS"
before=$(witness "$WS/.git/config" "$WS/.git/hooks")

# run WHAT COMMAND: the other side, in the workspace.
run() {
    sandbox --deny "$WS/**/.env" -- /bin/bash -ec "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null; $2"
    is 0 "$STATUS" "$1: $(tail -n2 "$T/stderr" | tr '\n' ' ')"
}
# Renames, not copies: the inode is the same.
same() {
    local what=$1 from=$2 to=$3 inode
    inode=$(stat -c %i "$WS/$from")
    run "$what" "mv '$from' '$to'"
    is "$inode" "$(stat -c %i "$WS/$to")" "$what: the inode"
}
same "a directory" dir dir2
same "a directory into another" dir2 to/dir3
same "a directory with a repository in it" to to2
same "a package on its way out" node_modules/left-pad node_modules/.left-pad-Xyz123
same "a package on its way in" node_modules/.left-pad-Xyz123 node_modules/left-pad
plant "$WS/.main.c.swp~"
same "an editor's new version" .main.c.swp~ main.c
plant "$WS/.main.c.new" new
same "over an old one" .main.c.new main.c
mkdir "$WS/.tmpAbCdEf"
same "a build's result" .tmpAbCdEf target/debug
plant "$WS/.git/index.lock~"
same "a lock file of git" .git/index.lock~ .git/kept
rm "$WS/.git/kept"

run "git" '
    echo a >a; git add a; git commit -qm one; git checkout -qb other; echo b >b; git add b; git commit -qm two
    git checkout -q main; echo c >c; git add c; git commit -qm three; git rebase -q other
    git mv a d; git commit -qm moved; git gc -q; git repack -adq; git stash -q || true
    git pack-refs --all; git tag t; git reset -q --hard HEAD~1; git fsck'
is 3 "$(git -C "$WS" rev-list --count main)" "commits"

# To a protected name nothing is renamed; mv then copies, and what is protected is refused by itself.
sandbox -- /bin/bash -c 'mv g sub/.git'
is 1 "$STATUS" "the end of mv"
is yes "$([[ -e $WS/sub/.git/HEAD ]] && echo yes)" "what may be in a repository was copied"
equal "" "$(cd "$WS/sub/.git" && ls -d config hooks 2>/dev/null)" "what may not"
# The old name counts as much as the new one.
attempts <<END
EXDEV sys rename s:$WS/sub/.git s:$WS/sub/git
EXDEV sys renameat2 cwd s:$WS/sub/.git cwd s:$WS/target RENAME_EXCHANGE
EXDEV sys renameat2 cwd s:$WS/target cwd s:$WS/sub/.git RENAME_EXCHANGE
EXDEV sys rename s:$WS/main.c s:$WS/.cargo
EXDEV sys rename s:$WS/main.c s:$WS/target/.config
EXDEV sys rename s:$WS/target s:$WS/x.git
ok    sys rename s:$WS/sub s:$WS/target/sub
ok    sys rename s:$WS/target/sub/.git s:$WS/to2/.git
END
unchanged "$before" "$WS/.git/config" "$WS/.git/hooks"
